"""A new course: a folder with assignments of the package or of another course, which works and is the author's."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Collection, Iterable, Sequence
from importlib import metadata
from pathlib import Path

from grader import home, temporary
from grader.authoring import handout
from grader.authoring.student_kit import RULES
from grader.course import catalogue
from grader.course.course import read_course
from grader.course.forms import in_any_language
from grader.errors import UserError

# The parts of a course that are copied. The rest of its folder may be a class, with names and marks.
COURSE = (home.COURSE, home.ASSIGNMENTS, "reference", "student_template", "calibration")
WRITTEN = ("__pycache__", ".git", ".attempts", "results", "build")
MADE = {
    "Makefile": """.PHONY: verify grade kit
verify: ; kernelmark verify
grade: ; kernelmark grade submissions --out results
kit: ; kernelmark kit build/kit
""",
    ".gitignore": "__pycache__/\n/.venv/\n/build/\n/results/\n/submissions/\n",
    ".github/workflows/verify.yml": """# Says what an assignment lacks before students get it. No GPU is needed.
name: verify
on: [push, pull_request]
permissions:
  contents: read
env:
  # Where kernelmark comes from: git+https://HOST/OWNER/NAME@COMMIT, or a wheel that is committed in this folder, which
  # "pip wheel --no-deps --wheel-dir . CHECKOUT" makes. Not its name alone: on a public index that may be a stranger's.
  KERNELMARK: "SOURCE"
jobs:
  verify:
    runs-on: ubuntu-24.04
    steps:
      - uses: actions/checkout@v6
      - uses: actions/setup-python@v6
        with: {python-version: "3.12"}
      # torch without a GPU's libraries is a tenth as large.
      - run: pip install $KERNELMARK --extra-index-url https://download.pytorch.org/whl/cpu
      - run: kernelmark verify
""",
}
# Files that the author may have there already; they are not replaced.
KEPT = (".gitignore", "README.md")
WHEEL = "./kernelmark-*.whl"
_LISTED = re.compile(r"^assignments\s*=\s*\[[^\]]*\][^\n]*", re.MULTILINE)


def source_of(example: str) -> Path:
    """Return the course to copy: the package's own for "", else an example of the package, or a course's folder. Raises
    UserError."""
    examples = {path.parent.name: path.parent for path in sorted(home.SHIPPED.glob(f"examples/*/{home.COURSE}"))}
    source = examples.get(example, Path(example).absolute()) if example else home.SHIPPED
    for name in COURSE[:4]:
        if not (source / name).exists():
            known = f"; the examples are {', '.join(examples)}" if examples else ""
            raise UserError(f"{source / name}: not there, so this is no course to copy{known}" if example else
                             f"{source / name}: not there, as in a students' kit; a course is made outside of it")
    return source


def write(folder: Path, source: Path, chosen: Collection[str]) -> list[str]:
    """Make a course in `folder` from the course in `source`: its taught assignments, or the `chosen` ones.
    Returns their names. Replaces nothing.

    Raises UserError, and OSError for files that cannot be read or written.
    """
    known = catalogue.files(source)
    names = read_course(source / home.COURSE, frozenset(known)).select(known, chosen)
    parts = COURSE if source == home.SHIPPED else (*COURSE, *MADE, "README.md")
    parts = tuple(name for name in parts if (source / name).exists())
    made = [name for name in (*parts, *MADE) if name not in KEPT]
    if there := next((name for name in made if (folder / name).exists()), None):
        raise UserError(f"{folder / there}: already exists; choose a new folder")
    new = {Path(name).parts[0] for name in (*parts, *MADE, RULES) if not (folder / name).exists()}
    rules = _rules((source / home.COURSE).read_text(encoding="utf-8"), known.keys() - names)
    with temporary.folder("course") as work:
        (work / home.COURSE).write_text(rules, encoding="utf-8")
        course = read_course(work / home.COURSE, frozenset(names))
    with temporary.all_or_nothing(folder):
        _fill(folder, source, parts, rules, _ignore_others(known, known.keys() - names))
        assignments = catalogue.assignments(folder.resolve())
        for path, text in handout.texts(assignments, course, folder).items():
            if path.is_file():
                handout.draw(path, text)
        (folder / handout.NOTEBOOK).write_text(handout.notebook(assignments, course, folder), encoding="utf-8")
        _withdraw_rights(folder, new)
    return list(assignments)


def _fill(folder: Path, source: Path, parts: Sequence[str], rules: str, left_out: Callable[[str, list[str]], list[str]]
          ) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in parts:
        if (source / name).is_dir():
            shutil.copytree(source / name, folder / name, ignore=left_out)
        elif not (folder / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / name, folder / name)
    (folder / home.COURSE).write_text(rules, encoding="utf-8")
    for name, text in MADE.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.write_text(text.replace("SOURCE", came_from()), encoding="utf-8")
    if not (folder / RULES).exists():
        shutil.copyfile(home.SHIPPED / RULES, folder / RULES)


def _withdraw_rights(folder: Path, names: Iterable[str]) -> None:
    """Withdraw the right of others to write into a course, which a umask or the copied folder may give. The assignments
    are programs that run as the author, so a course with that right would be refused."""
    for path in (folder, *(path for name in names for path in (folder / name, *(folder / name).rglob("*")))):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode & ~0o022)


def came_from() -> str:
    """Return the source from which pip installed this package, so that another machine can install the same: a commit,
    a file on the web, or else a wheel that the author puts into the course's folder."""
    origin = json.loads(metadata.distribution("kernelmark").read_text("direct_url.json") or "{}")
    url = origin.get("url", "")
    if not url.startswith("https://"):
        return WHEEL
    return f"{vcs['vcs']}+{url}@{vcs['commit_id']}" if (vcs := origin.get("vcs_info")) else url


def _ignore_others(known: dict[str, str], left: Collection[str]) -> Callable[[str, list[str]], list[str]]:
    """Return a function that names for `shutil.copytree` the files and folders of the assignments `left`, which are not
    copied."""
    files = {file for name in left for file in in_any_language(known[name])}

    def ignored(folder: str, names: Sequence[str]) -> list[str]:
        return [name for name in names
                if name in WRITTEN or name in files or (name in left and Path(folder, name).is_dir())]

    return ignored


def _rules(text: str, left: Collection[str]) -> str:
    """Return the text of a course file for every assignment in its folder, without the tables of the assignments
    `left`."""
    for name in left:
        text = re.sub(rf"(?ms)^\[(?:points|thresholds)\.assignments\.{name}\].*?(?=^\[|\Z)", "", text)
    return _LISTED.sub(lambda listed: re.sub("^", "# ", listed[0], flags=re.MULTILINE), text)
