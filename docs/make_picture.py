"""Takes the README's pictures: the top of a report and of the class page, as Chromium shows them.

    python docs/make_picture.py docs/sample/alice/report.html
    python docs/make_picture.py docs/sample/index.html --out docs/class.png --width 1280

Each has at most 300 KB. Needs playwright and a Chromium (`apt-get install chromium`, or its path in
KERNELMARK_CHROMIUM).
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

WIDTH, HEIGHT = 1160, 1240
MOST_BYTES = 300_000
# Sharp on a dense screen if the picture stays small enough.
SCALES = (2.0, 1.5, 1.0)
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
             "--disable-sync"]


def take(report: Path, picture: Path, chromium: str, width: int = WIDTH, height: int = HEIGHT) -> int:
    """Writes `picture` and returns its size in bytes."""
    from playwright.sync_api import sync_playwright

    data = b""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        for scale in SCALES:
            context = browser.new_context(viewport={"width": width, "height": height}, device_scale_factor=scale,
                                          color_scheme="light", accept_downloads=False)
            page = context.new_page()
            page.goto(report.resolve().as_uri())
            data = page.screenshot()
            context.close()
            if len(data) <= MOST_BYTES:
                break
        browser.close()
    if len(data) > MOST_BYTES:
        raise ValueError(f"the picture has {len(data)} bytes, more than {MOST_BYTES}: choose a smaller --height")
    picture.write_bytes(data)
    return len(data)


def main() -> int:
    parser = argparse.ArgumentParser(description="Takes the README's picture from a report.")
    parser.add_argument("report", type=Path)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "report.png")
    parser.add_argument("--width", type=int, default=WIDTH, help="CSS pixels")
    parser.add_argument("--height", type=int, default=HEIGHT, help="CSS pixels of the page to show")
    arguments = parser.parse_args()
    chromium = os.environ.get("KERNELMARK_CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        print("chromium is missing: apt-get install chromium, or set KERNELMARK_CHROMIUM", file=sys.stderr)
        return 1
    if not arguments.report.is_file():
        print(f"{arguments.report}: no such file", file=sys.stderr)
        return 1
    size = take(arguments.report, arguments.out, chromium, arguments.width, arguments.height)
    print(f"{arguments.out}: {size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
