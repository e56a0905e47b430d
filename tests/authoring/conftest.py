"""Courses that tests of authors' files write."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def course(tmp_path: Path) -> Iterator[Path]:
    """A folder for a course of a test's own. Modules that are loaded from it are removed again."""
    before = set(sys.modules)
    yield tmp_path
    for module in set(sys.modules) - before:
        if module.startswith(("assignments.", "reference.")):
            del sys.modules[module]
