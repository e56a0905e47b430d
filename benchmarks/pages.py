"""Seconds of pages: each student's written; the class page written, opened and filtered in a headless Chromium.

    .venv/bin/python -m benchmarks.pages

No GPU is needed; playwright and a Chromium are (`apt-get install chromium`, or its path in KERNELMARK_CHROMIUM).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from grader.pages.pages import write_class, write_student
from tests.pages import desk

TIMES = 7
LOADED = "performance.getEntriesByType('navigation')[0].loadEventEnd"
# Typing, and the layout that follows, which a browser would otherwise delay.
FILTERED = """(text) => {
  const input = document.getElementById("filter");
  const started = performance.now();
  input.value = text;
  input.dispatchEvent(new Event("input"));
  document.body.getBoundingClientRect();
  return performance.now() - started;
}"""
TYPED = ("runtime", "gemm wrong answer", "ada", "")


def measure(count: int, chromium: str) -> dict[str, float]:
    """Return sizes in bytes and times in seconds: medians, and the worst filter."""
    from playwright.sync_api import sync_playwright

    entries = desk.entries(count, speed=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        drawn = []
        for _ in range(3):
            started = time.perf_counter()
            write_class(entries, Path(folder))
            drawn.append(time.perf_counter() - started)
        # A folder each would measure the disk.
        write_student(entries[0].result, Path(folder))
        started = time.perf_counter()
        for entry in entries:
            write_student(entry.result, Path(folder))
        students = time.perf_counter() - started
        path = Path(folder) / "index.html"
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        loaded, filtered = [], []
        for _ in range(TIMES):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(path.as_uri(), wait_until="load")
            page.wait_for_function(f"{LOADED} > 0")
            loaded.append(page.evaluate(LOADED) / 1000)
            filtered += [page.evaluate(FILTERED, text) / 1000 for text in TYPED]
            page.close()
        browser.close()
        return {"students": count, "bytes": path.stat().st_size, "draw_s": statistics.median(drawn),
                "draw_students_s": students,
                "load_s": statistics.median(loaded), "load_worst_s": max(loaded),
                "filter_s": statistics.median(filtered), "filter_worst_s": max(filtered)}


def main() -> int:
    parser = argparse.ArgumentParser(description="Measures the class page.")
    parser.add_argument("--students", type=int, nargs="+", default=[30, 300])
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    chromium = os.environ.get("KERNELMARK_CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        print("chromium is missing: apt-get install chromium, or set KERNELMARK_CHROMIUM", file=sys.stderr)
        return 1
    machine = {"platform": platform.platform(), "cores": os.cpu_count(), "python": platform.python_version(),
             "command": " ".join(["python", "-m", "benchmarks.pages", *sys.argv[1:]]),
             "classes": [measure(count, chromium) for count in arguments.students]}
    text = json.dumps(machine, indent=1)
    print(text)
    if arguments.out:
        arguments.out.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
