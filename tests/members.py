"""Members of the corpus as whole files. What many of them share stands once, in `tests/submissions/shared/`.

    python -m tests.members tests/submissions/hostile/forged_plans/grid_of_two      (prints a member's files whole)

`# shared: NAME` stands for the lines of `shared/NAME.py`, and `# times COUNT: TEXT` for so many lines, in which braces
hold what Python makes of `n`, from 0. A member that is nearly a right kernel, or another member, says `# base: NAME`,
and after that line what differs: lines `#-` that the base has in one place, and lines `#+` that stand there instead. A
line `#` parts two places. In a file in CUDA C++ it is `//` for each `#`.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent / "submissions"
SHARED = HERE / "shared"
_LINE = re.compile(rb"^# (?:shared: (\w+)|times (\d+): (.+))\n", re.MULTILINE)
_BASE = re.compile(rb"^(#|//) base: (\S+)\n", re.MULTILINE)
_PLACE = rb"((?:%b-.*\n)+)((?:%b\+.*\n)*)(?:%b\n)?"
_NOTES = {b"#": re.compile(rb"(?:#(?! (?:shared|times)).*\n)*"), b"//": re.compile(rb"(?://.*\n)*")}


def notes(member: str, what: str) -> list[str]:
    """What a file says of itself in lines `# what: …`, or `// what: …`."""
    return re.findall(rf"^(?:#|//) {what}: (.+)$", member, re.MULTILINE)


def text(path: Path) -> bytes:
    """A file of a member, whole. Raises ValueError where it does not fit its base."""
    found = path.read_bytes()
    if base := _BASE.search(found):
        found = found[:base.start()] + _changed(base[2].decode(), path.name, found[base.end():], base[1])
    return _LINE.sub(_lines, found)


def _changed(name: str, file: str, changes: bytes, mark: bytes) -> bytes:
    base = (HERE / name / file if "/" in name else SHARED / f"{name}.py").read_bytes()
    # Notes of a member are its own.
    base = base[_NOTES[mark].match(base).end():]  # type: ignore[union-attr]
    places = re.compile(_PLACE % (mark, mark, mark))
    if places.sub(b"", changes):
        raise ValueError(f"{name}: lines that begin with #- or #+ expected after # base, got {changes!r}")
    for place in places.finditer(changes):
        old, new = (re.sub(rb"^%b[-+]" % mark, b"", lines, flags=re.MULTILINE) for lines in place.groups())
        if (b"\n" + base).count(b"\n" + old) != 1:
            raise ValueError(f"{name}: lines that stand once in it expected, got {old.decode()}")
        base = (b"\n" + base).replace(b"\n" + old, b"\n" + new)[1:]
    return base


def _lines(found: re.Match[bytes]) -> bytes:
    if found[1]:
        return (SHARED / f"{found[1].decode()}.py").read_bytes()
    line = found[3].decode()
    return "".join(_filled(line, number) + "\n" for number in range(int(found[2]))).encode()


def _filled(line: str, number: int) -> str:
    return re.sub(r"\{(.+?)\}", lambda one: str(eval(one[1], {"n": number})), line)


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    # It goes with this process.
    return tempfile.TemporaryDirectory(prefix="kernelmark-members-")


def whole(folder: Path) -> Path:
    """A member's folder with whole files: itself where nothing is shared, else a copy of the same name."""
    return _whole(folder) if HERE in folder.parents else folder


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.*") if path.suffix in (".py", ".cu"))


@cache
def _whole(folder: Path) -> Path:
    changed = {path: new for path in _files(folder) if (new := text(path)) != path.read_bytes()}
    if not changed:
        return folder
    copy = Path(_folder().name) / folder.relative_to(HERE)
    shutil.copytree(folder, copy, symlinks=True)
    for path, new in changed.items():
        (copy / path.relative_to(folder)).write_bytes(new)
    return copy


if __name__ == "__main__":
    for named in map(Path, sys.argv[1:]):
        for file in _files(named) if named.is_dir() else [named]:
            print(f"# {file}\n{text(file).decode(errors='replace')}")
