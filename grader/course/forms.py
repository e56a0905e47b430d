"""The form of an assignment's function in a language that gives it another name or passes it sizes.

An example is `rms_norm_matrix(input=x, weight, output=out, rows=M, cols=N, epsilon=eps)`. It has the function's name,
which is also the file's, and its parameters. Each parameter stands for an assignment's parameter, for a size, or for a
product of sizes (`n=M*N`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from math import prod
from pathlib import Path, PurePath
from typing import Literal, NamedTuple

from grader import home, languages
from grader.plan.plan import DType

SUFFIX = ".py"
"""The suffix of an assignment's file, if the assignment names no other."""
_FORM = re.compile(r"([A-Za-z_]\w*)\(([\w\s=*,]*)\)")
_PARAMETER = re.compile(r"([A-Za-z_]\w*)(?:=(\w+(?:\*\w+)*))?")


@dataclass(frozen=True)
class WrittenParameter:
    """A parameter as a language's function takes it. `of` names the assignment's parameter; or, for a size, the sizes
    whose product it is."""

    name: str
    kind: Literal["input", "scalar", "output", "update", "size"]
    of: tuple[str, ...]
    dtype: DType = "float32"

    def size(self, sizes: Mapping[str, int]) -> int:
        return prod(sizes[name] for name in self.of)


@dataclass(frozen=True)
class Form:
    """The form of a function. `parameters` are pairs: the name in the language, and the names that it stands for."""

    function: str
    parameters: tuple[tuple[str, tuple[str, ...]], ...]


@cache
def read_form(text: str) -> Form:
    """Read a form. Raises ValueError."""
    match = _FORM.fullmatch(text.strip())
    parts = [_PARAMETER.fullmatch(part.strip()) for part in match[2].split(",")] if match is not None else []
    named = [part for part in parts if part is not None]
    if match is None or len(named) < len(parts):
        raise ValueError(f"forms: got {text!r}; write function(name=parameter, rows=M, n=M*N)")
    return Form(match[1], tuple((part[1], tuple((part[2] or part[1]).split("*"))) for part in named))


def file_of(name: str, suffix: str = SUFFIX, root: Path | None = None) -> str:
    """Return the file that a student fills in for the assignment of this name, in the language of the suffix."""
    return _named(root or home.root()).get(name, _Names()).functions.get(suffix, name) + suffix


def function_of(name: str, suffix: str, root: Path | None = None) -> str:
    """Return the function, or the autograd Function, that a file in the language of the suffix defines."""
    names = _named(root or home.root()).get(name, _Names())
    return names.autograd or names.functions.get(suffix, name)


def in_any_language(file: str, root: Path | None = None) -> list[str]:
    """Return an assignment's file under its names in all languages, its own first."""
    root = root or home.root()
    path, suffixes, of = PurePath(file), languages.suffixes(), _named(root)
    name = next((name for name, given in of.items() if given.functions.get(path.suffix) == path.stem), path.stem)
    return list(dict.fromkeys((file, *(file_of(name, suffix, root) for suffix in suffixes))))


def written_files(files: Iterable[str]) -> list[str]:
    """Return the names of several assignments' files in every language."""
    root = home.root()
    return [name for file in files for name in in_any_language(file, root)]


class _Names(NamedTuple):
    """The names that an assignment gives in its file: of its functions in other languages, by suffix, and of its
    autograd Function."""

    functions: Mapping[str, str] = {}
    autograd: str = ""


@cache
def _named(root: Path) -> dict[str, _Names]:
    """Return the names of each assignment. The files are read and not run, so that a command which only needs names
    starts at once."""
    suffixes = {language: front_end.suffix for language, front_end in languages.front_ends().items()}
    names: dict[str, _Names] = {}
    for path in sorted((root / "assignments").glob("*/assignment.py")):
        try:
            tree = ast.parse(path.read_bytes())
            given = {node.arg: ast.literal_eval(node.value) for node in ast.walk(tree)
                     if isinstance(node, ast.keyword) and node.arg in ("forms", "autograd")}
            names[path.parent.name] = _Names({
                suffixes[language]: read_form(form).function for language, form in given.get("forms", {}).items()
                if language in suffixes}, given.get("autograd", ""))
        except (OSError, SyntaxError, ValueError, AttributeError, TypeError):
            # Importing the file reports the error.
            continue
    return names
