"""Folders and archives to export: reports for Moodle, an autograder for Gradescope, a repository that GitHub Actions
checks, a layout for plagiarism tools."""

from __future__ import annotations

import io
import os
import re
import shutil
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePath

from grader import home, temporary
from grader.authoring import student_kit
from grader.classroom.exports.graded import Class, ExportError
from grader.course import catalogue
from grader.course.forms import written_files
from grader.course.submission import find_submissions, printable, read_source_file

# The earliest time that a zip can hold, for every file: the same results then give the same bytes.
LONG_AGO = (1980, 1, 1, 0, 0, 0)
SUBMITTED = re.compile(r"(?s).+?_\d+_assignsubmission_file_?")
SOURCE_BYTES = 128 << 10

# For a kit's folder that is set up already: the command that installs a language's compilers, if the course counts it.
COMPILERS = ".venv/bin/pip install --constraint .venv/constraints.txt --editable '.[cuda]'"

SETUP = """#!/usr/bin/env bash
# Installs the grader, for a CPU.
set -e
export DEBIAN_FRONTEND=noninteractive PIP_NO_CACHE_DIR=1
apt-get update
apt-get install --yes --no-install-recommends bubblewrap g++ libc6-dev make
for python in python3.12 python3.11; do
    apt-get install --yes --no-install-recommends $python-venv $python-dev && break
done
cd /autograder/source/kernelmark
make setup TORCH=cpu PYTHON=$python
"""

RUN = """#!/usr/bin/env bash
# Grades one submission without a GPU: answers, not speed. If this fails, there is no result, and no points are lost.
set -e
cd /autograder
rm -rf class taken graded
mkdir class
cp -r submission class/submission
kernelmark=/autograder/source/kernelmark/.venv/bin/kernelmark
course=/autograder/source/kernelmark/course.toml
$kernelmark intake class --into taken --course $course
$kernelmark grade taken --out graded --course $course --device cpu --jobs 1
$kernelmark export gradescope graded --intake taken --course $course --student submission --visibility VISIBILITY \\
    --force --out results/results.json
"""


WORKFLOW = """# Checks the kernels at each push, with public cases and without a GPU, and shows the report. No grade.
name: kernelmark
on: [push, workflow_dispatch]
permissions:
  contents: read
concurrency:
  group: ${{ github.workflow }}-${{ github.ref }}
  cancel-in-progress: true
defaults:
  run:
    working-directory: KIT
jobs:
  check:
    runs-on: ubuntu-24.04
    timeout-minutes: 30
    steps:
      - uses: actions/checkout@v6
      - uses: actions/setup-python@v6
        with:
          python-version: "3.12"
          cache: pip
          cache-dependency-path: CONSTRAINTS
      - name: Set up the checker
        run: make setup TORCH=cpu
      - name: Check the kernels
        run: .venv/bin/kernelmark check FILES --device cpu --github --out "$RUNNER_TEMP/report"
      - name: Keep the report
        if: ${{ !cancelled() }}
        uses: actions/upload-artifact@v6
        with:
          name: report
          path: ${{ runner.temp }}/report/report.html
          if-no-files-found: ignore
"""
WORKFLOW_PATH = Path(".github/workflows/kernelmark.yml")
# Folders of the kit that are replaced as a whole.
REPLACED = ("grader", "assignments")


def moodle_feedback(out: Path, class_: Class) -> tuple[bytes, list[str]]:
    """Return a zip with each student's report under Moodle's name for the student's folder, and a line for each report
    that is left out. Raises ExportError."""
    if class_.kind != "moodle":
        raise ExportError("--intake: not made from a download of Moodle, whose folder names the upload needs; take in "
                          "Moodle's download")
    lines = []
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for submission in class_.graded:
            origins = submission.hand_in.origin if submission.hand_in else []
            # Before Moodle 3.1 downloads had no folders: each file's name began with the folder's name and "_".
            folders = [match[0] for name in origins if (match := SUBMITTED.match(name))] or origins
            try:
                page = (out / submission.folder / "report.html").read_bytes()
            except OSError as error:
                lines.append(f"{submission.folder}: report.html: {error.strerror}")
                continue
            for folder in dict.fromkeys(folders):
                flat = folder.endswith("_") and folder not in origins
                _add(archive, f"{folder}{'' if flat else '/'}report.html", page)
            if not folders:
                lines.append(f"{submission.folder}: not in this download")
    return content.getvalue(), lines


def autograder(course: Path, visibility: str) -> bytes:
    """Return the zip of an autograder for Gradescope: the students' kit, hidden cases, and the two scripts that
    Gradescope runs.

    Raises UserError, OSError.
    """
    content = io.BytesIO()
    with temporary.folder("autograder") as work, \
            zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        kit = work / "kernelmark"
        student_kit.write(kit, course)
        for folder in (kit / "assignments").iterdir():
            hidden = home.root() / "assignments" / folder.name / catalogue.HIDDEN
            if hidden.is_file():
                shutil.copy(hidden, folder / catalogue.HIDDEN)
        _add(archive, "setup.sh", f"{SETUP}{COMPILERS if _counts_cuda(kit) else ''}\n".encode(), mode=0o755)
        _add(archive, "run_autograder", RUN.replace("VISIBILITY", visibility).encode(), mode=0o755)
        for path in sorted(path for path in kit.rglob("*") if path.is_file()):
            _add(archive, str(path.relative_to(work)), path.read_bytes())
    return content.getvalue()


def action(repository: Path, course: Path, kit: PurePath, files: PurePath, *, force: bool = False) -> None:
    """Write the students' kit into a repository, as its folder `kit`, and the workflow of GitHub Actions that checks
    its folder `files`. Both are paths from the repository's root, and need no quotes in a shell.

    Raises ExportError if a file exists already, unless `force` replaces it; UserError,
    OSError.
    """
    with temporary.folder("action") as work:
        made = work / "kernelmark"
        student_kit.write(made, course)
        text = WORKFLOW
        if _counts_cuda(made):
            check = "      - name: Check"
            text = text.replace(check, f"      - name: Install CUDA's compilers\n        run: {COMPILERS}\n{check}")
        words = {"KIT": kit, "CONSTRAINTS": kit / "constraints.txt", "FILES": os.path.relpath(files, kit)}
        # All words in one pass, since a folder may have one of them as its name.
        text = re.sub(rf"\b({'|'.join(words)})\b", lambda match: str(words[match[0]]), text)
        workflow = work / WORKFLOW_PATH
        workflow.parent.mkdir(parents=True)
        workflow.write_text(text, encoding="utf-8")
        new = {path: repository / kit / path.relative_to(made) for path in sorted(made.rglob("*")) if path.is_file()}
        new[workflow] = repository / WORKFLOW_PATH
        there = next((path for path in new.values() if path.exists() or path.is_symlink()), None)
        if there and not force:
            raise ExportError(f"{there}: already exists; choose another folder, --kit NAME for a folder of the kit's "
                              "own, or --force to replace what is there")
        _through_no_links(repository, new.values())
        for name in REPLACED:
            if (repository / kit / name).is_dir():
                shutil.rmtree(repository / kit / name)
        for source, target in new.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            # A student's repository may hold a link to any file of the user, so remove it first.
            target.unlink(missing_ok=True)
            shutil.copy(source, target)


def _through_no_links(repository: Path, targets: Iterable[Path]) -> None:
    """Raise ExportError if the folder of a target leads out of the repository."""
    folders = {folder for target in targets for folder in target.parents if folder.is_relative_to(repository)}
    if link := next((folder for folder in sorted(folders - {repository}) if folder.is_symlink()), None):
        raise ExportError(f"{link}: is a symbolic link, and files would be written to where it leads; remove it")


def _counts_cuda(kit: Path) -> bool:
    return (kit / "student_template" / "cuda").is_dir()


def jplag(submissions: Path, known: Mapping[str, str], into: Path) -> tuple[int, list[str]]:
    """Make `into` with `submissions/<student>/`, and with the stubs as `base/`. Returns the number of submissions that
    have a file, and a line for each that has none. Raises UserError, OSError."""
    lines = []
    count = 0
    # Read before `into` is made: if reading fails, the corrected command can still make it.
    submitted = find_submissions(submissions, known.values())
    (into / "base").mkdir(parents=True)
    for name in known:
        for language in catalogue.assignments()[name].in_languages():
            file = f"{language.language}_{language.file}" if language.language else language.file
            shutil.copyfile(catalogue.stub(language), into / "base" / file)
    for submission in submitted:
        contents = {name: content for name in written_files(known.values())
                    if (content := read_source_file(submission.folder, name, SOURCE_BYTES).content) is not None}
        if not contents:
            lines.append(printable(f"{submission.student}: no readable file of an assignment"))
            continue
        count += 1
        folder = into / "submissions" / submission.slug
        folder.mkdir(parents=True)
        for file, content in contents.items():
            (folder / file).write_bytes(content)
    return count, lines


def _add(archive: zipfile.ZipFile, name: str, content: bytes, mode: int = 0o644) -> None:
    info = zipfile.ZipInfo(name, LONG_AGO)
    info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, mode << 16
    archive.writestr(info, content)
