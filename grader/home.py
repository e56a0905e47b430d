"""The folders of the course and of the package's own data.

A course is a folder with `course.toml` and `assignments/`. A command searches for it in its working directory and then
in the folders above, as git does for a repository; `--course` names another course. If none is found, the package's own
course counts.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from grader.errors import UserError

COURSE, ASSIGNMENTS = "course.toml", "assignments"
PACKAGE = Path(__file__).resolve().parent
ROOT = PACKAGE.parent
"""The folder that holds the package: a checkout, a students' kit, or the folder of installed packages."""
IN_WHEEL = PACKAGE / "shipped"
SHIPPED = IN_WHEEL if IN_WHEEL.is_dir() else ROOT
"""The package's own data, laid out as a course. A checkout or a kit is such a folder; a wheel holds a copy
(`setup.py`)."""
# `pip install kernelmark` uses the package that is installed. In a new environment pip would ask a public index, where
# the name may be a stranger's, so ANEW names the wheel.
PIP, INSTALL, ANEW = (
    ("pip install", "pip install kernelmark",
     "python3 -m venv new && new/bin/pip install FILE, with the wheel that this was installed from")
    if SHIPPED == IN_WHEEL else (".venv/bin/pip install", "make setup", "rm -rf .venv && make setup"))
"""Commands for a user who lacks a package, this one's packages, or any that work."""
NONE = (f"no {COURSE} in this folder or above it, so the course is the package's own; kernelmark init makes one, "
        "--course names one")
UNTRUSTED = "{file}: {why}, and its assignments would run as you; if you trust it, pass --course {file}"



@dataclass(frozen=True)
class Home:
    """The place of a course. `root` is the folder that holds `assignments/`. `file` is the course file, which may lie
    in another folder. `named`: the user named the file. `rooted`: the named file's folder has the assignments, so the
    user named these, too. `shipped`: no assignments were found, so the package's own count."""

    root: Path
    file: Path
    named: bool = False
    rooted: bool = False
    shipped: bool = False

    @property
    def found_none(self) -> bool:
        """Return whether neither assignments nor a course file were found or named."""
        return self.shipped and self.file.parent == SHIPPED

    def refuse(self, folder: Path, *, alone: bool = False) -> None:
        """Raise UserError if the file or the assignments lie in a folder of students and the user did not name them:
        students must not choose the rules. `alone`: the folder is one student's, so the folders beside it may be other
        students'."""
        for path, trusted in ((self.file, self.named), (self.root / ASSIGNMENTS, self.rooted)):
            if trusted or path.parent in (ROOT, SHIPPED):
                continue
            around = folder.resolve()
            if path.is_relative_to(around):
                where = "lies in the submission, which has no say"
            elif alone and path.parent != around.parent and path.is_relative_to(around.parent):
                where = f"lies beside {folder}, so it may be another student's"
            else:
                continue
            raise UserError(f"{path}: {where}; run this in the course's folder, or pass --course with that folder")

    @property
    def note(self) -> str:
        """Return a line for a user whose assignments are the package's own; "" if the course has assignments."""
        if not self.shipped:
            return ""
        if self.found_none:
            return NONE
        return (f"{self.file}: no {ASSIGNMENTS}/ beside it, so the assignments are the package's own; kernelmark init "
                "makes a course that has some")

    def words(self, file: Path) -> list[str]:
        """Return the words that a repeated command needs to use this course file; none if it finds the file by
        itself."""
        return ["--course", str(file.absolute())] if self.named or file != self.file else []


_entered: Home | None = None


def enter(home: Home | None) -> None:
    """Make `home` the course of this process. None stands for the course of the working directory."""
    global _entered
    _entered = home


def here() -> Home:
    """Return the course of this process. Raises UserError."""
    return _entered or find_here()


def root() -> Path:
    """Return the folder of this process's course, which holds `assignments/`. Raises UserError."""
    return here().root


def file() -> Path:
    """Return the file of this process's course. Raises UserError."""
    return here().file


def find(start: Path) -> Home:
    """Return the course of a folder: the nearest `course.toml` there or above. Its assignments are those of the nearest
    folder that has both, so a `course.toml` alone sets other rules for them. If no folder has both, the assignments are
    the package's own.

    Raises UserError, also for a course that another user owns: assignments are programs that would run.
    """
    above = [start.resolve(), *start.resolve().parents]
    ruling = next((folder for folder in above if _has(folder, COURSE)), None)
    holding = next((folder for folder in above if _has(folder, COURSE) and _has(folder, ASSIGNMENTS)), None)
    for folder in filter(None, (ruling, holding)):
        if folder not in (ROOT, SHIPPED) and (strange := _strange(folder)):
            why, open_ = strange
            close = f", or first close it: chmod go-w {open_}" if open_ else ""
            raise UserError(UNTRUSTED.format(file=folder / COURSE, why=why) + close)
    if holding is None and not _has(SHIPPED, ASSIGNMENTS):
        raise UserError(f"{SHIPPED / ASSIGNMENTS}: No such file or directory, and no course here or above; run this in "
                        "a course or a kit, or name one with --course")
    return Home(holding or SHIPPED, (ruling or SHIPPED) / COURSE, shipped=holding is None)


def find_here() -> Home:
    """Return the course of the working directory. Raises UserError."""
    try:
        return find(Path.cwd())
    except FileNotFoundError:
        raise UserError("the folder that this runs in was removed; change to another") from None


def not_around(target: Path) -> None:
    """Raise UserError if a file or folder lies in a course that nobody named. The assignments of that course, which may
    be a student's, would run although the user only asks about one file."""
    course = find(target)
    if course.file.parent not in (ROOT, SHIPPED):
        raise UserError(UNTRUSTED.format(file=course.file, why=f"lies around {target} and not around this folder"))


def named(path: Path) -> Home:
    """Return the course of a file or folder that the user names. The assignments are those of the file's folder, if it
    has any, or else those of the working directory's course. Raises UserError."""
    path = path / COURSE if path.is_dir() else path
    folder = path.absolute().parent
    if _has(folder, ASSIGNMENTS):
        return Home(folder.resolve(), path, named=True, rooted=True)
    around = find_here()
    return Home(around.root, path, named=True, shipped=around.shipped)


def course_path(name: str) -> Path:
    """Return a file or folder of the course, or the package's own if the course lacks it."""
    return root() / name if _has(root(), name) else SHIPPED / name


def with_extra(name: str) -> str:
    """Return the command that installs an extra of the package into this process's environment."""
    return f"{PIP} 'kernelmark[{name}]'" if SHIPPED == IN_WHEEL else f"{PIP} -e '.[{name}]'"


def with_gpu(torch: str) -> str:
    """Return the command that replaces this version of torch by PyPI's build, which uses a GPU."""
    return f"{PIP} --force-reinstall torch=={torch}" if SHIPPED == IN_WHEEL else "make setup TORCH=gpu"


def _has(folder: Path, name: str) -> bool:
    try:
        return (folder / name).is_dir() if name == ASSIGNMENTS else (folder / name).exists()
    except OSError:
        # A folder above may be closed to this user.
        return False


def _strange(folder: Path) -> tuple[str, Path | None] | None:
    """Return the reason why a course that nobody named cannot be trusted, and the path in it that others may write,
    where they could put programs, if any; None if the course can be trusted."""
    if os.name != "posix":
        return None
    known = {0, os.geteuid(), int(os.environ.get("SUDO_UID", 0))}
    for path in (folder, folder / COURSE, folder / ASSIGNMENTS):
        if path != folder and not _has(folder, path.name):
            continue
        info = path.stat()
        what = "its folder" if path == folder else path.name if path.name == COURSE else f"{path.name}/"
        if info.st_mode & stat.S_IWOTH:
            return f"everybody may write into {what}", path
        if info.st_mode & stat.S_IWGRP and not _own_group(info.st_gid):
            return f"a group may write into {what}", path
        if info.st_uid not in known:
            return "it belongs to another user", None
    return None


def _own_group(group: int) -> bool:
    """Return whether a group has the user as its only member. Many systems make such a group for each user, of the same
    name."""
    # Late: only POSIX systems have it.
    import grp
    import pwd

    try:
        name, members = grp.getgrgid(group)[0], grp.getgrgid(group)[3]
        user = pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return False
    return group == 0 or (name == user and not set(members) - {user})
