"""What a submission imports comes from the libraries' folders alone, however it changes `sys.path`.

A module that it wrote itself was never read by the judge.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

_GRADER = Path(__file__).resolve().parents[1]


class Libraries:
    """A finder in the place of Python's own, which looks no further than the folders of `sys.path` as it stands now."""

    def __init__(self) -> None:
        here = Path.cwd()
        entries = [Path(entry) for entry in sys.path if Path(entry).is_absolute()]
        self._folders = [_GRADER, *(entry.resolve() for entry in entries if entry != here)]

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """As PathFinder's: where the module is, None if it is in no library."""
        entries = [entry for entry in (sys.path if path is None else path) if self._within(entry)]
        return PathFinder.find_spec(name, entries, target)

    def _within(self, entry: str) -> bool:
        folder = Path(entry).resolve()
        return any(folder.is_relative_to(library) for library in self._folders)

    def install(self) -> None:
        """Takes the place of Python's finder in `sys.meta_path`."""
        sys.meta_path[:] = [self if finder is PathFinder else finder for finder in sys.meta_path]

    def remove(self) -> None:
        """Puts Python's finder back."""
        sys.meta_path[:] = [PathFinder if finder is self else finder for finder in sys.meta_path]
