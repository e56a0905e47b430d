"""A class from download to gradebook, without a GPU: seconds and memory by its size, and how large its pages are.

    .venv/bin/python -m benchmarks.class [--sizes 10,30,100,300] [--jobs 2]

Prints tables in Markdown. Every ten students are alike: each hands in two files of those in `TEN`, with the student's
name in them, so that no two files are the same and every size is the same mixture of verdicts. The largest class is
written as each platform writes its download, taken in, and graded from one of them.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path

from benchmarks.grading import processor, watched
from grader.classroom.attempts.store import Store
from grader.home import ROOT
from tests.classroom.intake.made import committed, laid_out, zipped
from tests.members import Member

# The files of each of ten students: a transpose and a SiLU, as members of the corpus or folders; "" for none.
TEN = (
    ("reference", "reference"), ("reference", "reference"),
    ("reference", "accepted/silu_grid_stride_loop"),
    ("accepted/transpose_host_descriptors", "reference"),
    ("reference", "wrong_answer/silu_half_precision"),
    ("wrong_answer/transpose_mask_not_transposed",
     "wrong_answer/silu_last_element_missing"),
    ("runtime_error/transpose_tl_libdevice", "reference"),
    ("policy_violation/transpose_copy", "policy_violation/silu_torch_sigmoid"),
    ("student_template", "student_template"), ("", "reference"),
)
FILES = ("transpose.py", "silu.py")
TIME = "2026-03-01 22:10:00 +0100"
Student = tuple[str, dict[str, bytes]]


def main() -> None:
    parser = argparse.ArgumentParser(description="a class from download to gradebook")
    parser.add_argument("--sizes", default="10,30,100,300")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    sizes = sorted(int(size) for size in options.sizes.split(","))
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("torch", "triton"))
    print(f"{processor()}, {len(os.sched_getaffinity(0))} cores, Python {platform.python_version()}, {versions}\n")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        everyone = students(sizes[-1])
        print(f"| {sizes[-1]} students as | seconds to take in | submissions |\n|---|---|---|")
        for kind, write in WRITERS.items():
            source = root / kind
            write(source, everyone)
            seconds, _ = watched([*kernelmark("intake", source), "--into", root / f"class-{kind}"])
            taken_in = len(list((root / f"class-{kind}").glob("*/")))
            print(f"| {kind} | {seconds:.1f} | {taken_in} |", flush=True)
        print("\n| students | seconds | a student more | an hour | peak memory, all processes (GiB) |")
        print("|---|---|---|---|---|")
        before, earlier = 0, 0.0
        for size in sizes:
            part, out = laid_out(root / f"part-{size}", {}), root / f"out-{size}"
            write_folders(part, everyone[:size])
            seconds, peak = watched([*kernelmark("grade", part), "--out", out, "--device", "cpu", "--jobs",
                                     str(options.jobs), "--only", "transpose,silu"])
            more = (seconds - earlier) / (size - before)
            hourly = 3600 * size / seconds
            print(f"| {size} | {seconds:.1f} | {more:.3f} | {hourly:,.0f} | {peak / 2**30:.2f} |", flush=True)
            before, earlier = size, seconds
        _afterwards(root, part, out, options.jobs)


def _afterwards(root: Path, students: Path, out: Path, jobs: int) -> None:
    """Print the costs of the largest class once it is graded."""
    with Store.existing(out) as store:
        verdicts = Counter(attempt.verdict for attempt in store.attempts())
    print(f"\nVerdicts: {', '.join(f'{verdict} {count}' for verdict, count in verdicts.most_common())}.")
    print("\n| the largest class, once graded | |\n|---|---|")
    again, _ = watched([*kernelmark("grade", students), "--out", out, "--device", "cpu", "--jobs", str(jobs), "--only",
                        "transpose,silu"])
    print(f"| `grade` again, all skipped | {again:.1f} s |")
    commands: Mapping[str, list[str | Path]] = {
        "rescore": ["--out", out], "diff": ["--out", out], "explain-grade": ["--out", out],
        "export csv": [out, "--out", root / "grades.csv"]}
    for name, words in commands.items():
        seconds, _ = watched(kernelmark(*name.split(), *words))
        print(f"| `{name}` | {seconds:.1f} s |", flush=True)
    reports = [path.stat().st_size for path in out.glob("*/report.html")]
    print(f"| class page | {(out / 'index.html').stat().st_size / 1e6:.2f} MB |")
    mean, largest = sum(reports) / len(reports), max(reports)
    print(f"| a student's page, mean and largest | {mean / 1e3:.0f} and {largest / 1e3:.0f} kB |")
    kept = sum(path.stat().st_size for path in (out / ".attempts").rglob("*") if path.is_file())
    print(f"| attempts on record, for each | {kept / sum(verdicts.values()) / 1e3:.1f} kB |")


def kernelmark(*words: str | Path) -> list[str | Path]:
    return [sys.executable, "-m", "grader", *words]


def students(count: int) -> list[Student]:
    """Return the students' names, and the files of each."""
    made = []
    for number in range(count):
        name = f"student{number:03}"
        files = {file: (_folder(source) / file).read_bytes() + f"\n# {name}\n".encode()
                 for source, file in zip(TEN[number % len(TEN)], FILES, strict=True) if source}
        made.append((name, files))
    return made


def _folder(source: str) -> Path:
    return Member(source).folder() if "/" in source else ROOT / source


def write_folders(folder: Path, everyone: list[Student]) -> None:
    for name, files in everyone:
        laid_out(folder / name, files)


def _archives(folder: Path, everyone: list[Student]) -> None:
    folder.mkdir()
    for name, files in everyone:
        zipped(folder / f"{name}.zip", files)


def _canvas(folder: Path, everyone: list[Student]) -> None:
    laid_out(folder, {f"{name}_{1000 + number}_{9000 + number}_{file}": text
                      for number, (name, files) in enumerate(everyone) for file, text in files.items()})


def _moodle(folder: Path, everyone: list[Student]) -> None:
    laid_out(folder, {f"{name}_{1000 + number}_assignsubmission_file/{file}": text
                      for number, (name, files) in enumerate(everyone) for file, text in files.items()})


def _gradescope(folder: Path, everyone: list[Student]) -> None:
    said = "---\n"
    for number, (name, files) in enumerate(everyone):
        laid_out(folder / f"submission_{number}", files)
        said += (f"submission_{number}:\n  :submitters:\n  - :name: {name}\n    :sid: '{number}'\n"
                 f"    :email: {name}@x.edu\n  :created_at: {TIME}\n")
    (folder / "submission_metadata.yml").write_text(said)


def _clones(folder: Path, everyone: list[Student]) -> None:
    for name, files in everyone:
        committed(folder / name, "2026-03-01T22:10:00+01:00", files)


WRITERS: Mapping[str, Callable[[Path, list[Student]], None]] = {
    "folders": write_folders, "archives": _archives, "canvas": _canvas, "moodle": _moodle, "gradescope": _gradescope,
    "clones": _clones,
}

if __name__ == "__main__":
    main()
