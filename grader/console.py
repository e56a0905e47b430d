"""The output and exit statuses of commands."""

from __future__ import annotations

import codecs
import contextlib
import errno
import importlib.util
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import typer
from rich.console import Console

from grader import home
from grader.errors import UserError

# The groups of commands in `kernelmark --help`.
STUDENTS, TAS, AUTHORS = "For students", "For TAs", "For authors of assignments"
AGAIN = 'When to use grade --force, regrade, rescore and apply: the table in docs/grading.md, "Grading again".'
COURSE = Path(home.COURSE)
"""The default of `--course`: the name of a file that is searched in the working directory and in the folders above."""
# Exit statuses.
RIGHT, NOT_RIGHT = 0, 1
USAGE_ERROR = 2
INFRASTRUCTURE_ERROR = 3

_FULL = "free space there, or choose another disk"
_ADVICE = {
    errno.ENOSPC: _FULL, errno.EDQUOT: _FULL, errno.EFBIG: "raise the limit of a file's size (ulimit -f)",
    errno.EACCES: "check its permissions, and whose it is", errno.EPERM: "check its permissions, and whose it is",
    errno.EROFS: "choose a writable folder", errno.EMFILE: "raise the limit of open files (ulimit -n)",
    errno.EEXIST: "choose another name",
}

# The replacements for signs that a terminal's encoding lacks.
_PLAIN = {"✓": "ok", "✗": "x", "→": "->", "←": "<-", "–": "-", "—": "-", "−": "-", "…": "...", "·": ".", "•": "*",
          "×": "x", "÷": "/", "±": "+-", "≤": "<=", "≥": ">=", "≠": "!=", "²": "^2", "µ": "u", "█": "#", "■": "#"}
_ERRORS = "kernelmark.plain"


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start:error.end]
    return "".join(_PLAIN.get(sign) or sign.encode("ascii", "backslashreplace").decode() for sign in signs), error.end


def print_anywhere() -> None:
    """Make standard output and errors accept every text: replace the signs that their encoding lacks."""
    codecs.register_error(_ERRORS, _plain)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):  # closed, or replaced by a program that calls us
            stream.reconfigure(errors=_ERRORS)  # type: ignore[union-attr]


# Piped output goes to another program or a file: its lines are not wrapped, unless $COLUMNS asks for it.
PIPED = 10_000


class Printer(Console):
    """A console whose reader may leave, as `| head` does: the command runs to its end, but prints no more."""

    def print(self, *objects: Any, **options: Any) -> None:
        try:
            if self.width < PIPED:
                super().print(*objects, **options)
                return
            with self.capture() as taken:
                super().print(*objects, **options)
            # Rich pads laid-out lines with blanks up to the width.
            self.file.write(re.sub(r"[ \t]+$", "", taken.get(), flags=re.MULTILINE))
            self.file.flush()
        except BrokenPipeError:
            self.on_broken_pipe()
        except OSError as error:
            # For example, the output is redirected to a full disk.
            raise OSError(error.errno, error.strerror, f"standard {'errors' if self.stderr else 'output'}") from None

    def on_broken_pipe(self) -> None:
        self.quiet = True
        with contextlib.suppress(OSError, ValueError):
            # Python flushes its buffer when it ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.file.fileno())


def _printer(stream: Any, **options: Any) -> Printer:
    """Return a printer that redraws its output only on a terminal. FORCE_COLOR, which notebooks and CI systems set,
    asks for colours only, but rich would take it as a sign of a terminal."""
    terminal = stream.isatty()
    coloured = os.environ.get("FORCE_COLOR") and not os.environ.get("NO_COLOR") and not terminal
    # Without emoji: `:x:` in a file's name must stay text.
    return Printer(highlight=False, emoji=False, force_terminal=terminal,
                   color_system="standard" if coloured else "auto", **options)


console = _printer(sys.stdout, width=None if sys.stdout.isatty() or os.environ.get("COLUMNS") else PIPED)
errors = _printer(sys.stderr, stderr=True, soft_wrap=True)


def usage(message: str) -> NoReturn:
    """End the command with a one-line error and the status of a usage error."""
    raise UserError(message)


def course_option(about: str) -> Any:
    """Return the option `--course`. It makes the named course, or else the course of the working directory, the course
    of the process, and gives the command the course file. A command with a parameter `target` refuses a course that is
    found only around the target."""
    return typer.Option(
        "--course", callback=_entered, show_default=False,
        help=f"{about} Default: the nearest course.toml, in this folder or above.")


def _entered(context: typer.Context, given: Path) -> Path:
    # Typer's own copy of click has the class of these sources, and no name for it.
    source = context.get_parameter_source("course")
    course = home.find_here() if source is None or source.name == "DEFAULT" else home.named(given)
    if course.found_none and (target := context.params.get("target")):
        home.not_around(target)
    home.enter(course)
    return course.file


def program() -> str:
    """Return `kernelmark`; or the command as it was typed, such as `.venv/bin/kernelmark`, if `kernelmark` is not on
    the PATH."""
    typed = sys.argv[0]
    return typed if Path(typed).name == "kernelmark" and shutil.which("kernelmark") is None else "kernelmark"


def require(extra: str, *modules: str) -> None:
    """End the command with an error if a module of an extra of the package is not installed."""
    if missing := next((name for name in modules if importlib.util.find_spec(name) is None), None):
        usage(f"package {missing}: not installed; run {home.with_extra(extra)}")


def say_if_shipped() -> None:
    """Print a note if no course was found and the package's own counts: the user may be in a wrong folder."""
    if note := home.here().note:
        complain(note)


def failed(error: OSError, where: object = None) -> str:
    """Describe a failed file operation in a line: where, what is wrong, what to do. `where` replaces a file name that
    the user never gave."""
    if isinstance(error, shutil.Error):
        # Copying a folder failed: each failure has source, target and reason.
        _, target, why = error.args[0][0]
        number = re.match(r"\[Errno (\d+)\] ([^:]*)", str(why))
        return failed(OSError(int(number[1]), number[2], target) if number else OSError(errno.EROFS, str(why), target))
    name = where or error.filename
    advice = _ADVICE.get(error.errno or 0, "check that it is there, and its permissions")
    return f"{f'{name}: ' if name else ''}{error.strerror or error}; {advice}"


@contextlib.contextmanager
def reporting(unnamed: object = None) -> Iterator[None]:
    """Turn an error of the system that the block raises into a usage error; `unnamed` is where it was if it names no
    file."""
    try:
        yield
    except OSError as error:
        usage(failed(error, error.filename or unnamed))


def names_in(only: str) -> list[str]:
    """Return the names in an option such as --only silu,gemm."""
    return [name for name in only.replace(" ", "").split(",") if name]


def complain(line: str) -> None:
    """Print a line about what is wrong, or worth a look, to standard errors."""
    errors.print(f"kernelmark: {line}", markup=False)


def say(line: str) -> None:
    """Print a line unchanged: names of students' files may look like markup, and long lines are not wrapped."""
    console.print(line, markup=False, soft_wrap=True)
