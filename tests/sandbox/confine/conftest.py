"""Fixtures of the tests of Landlock."""

from pathlib import Path

import pytest

from grader.sandbox.confine import landlock
from tests.sandbox.confine.restricted import Place


# From the lowest that is accepted to the highest that is made use of.
@pytest.fixture(params=(2, 3, 4, 5, 6))
def reported(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """An ABI that the kernel is made to report, at most its own."""
    version: int = request.param
    if landlock.abi() < version:
        pytest.skip(f"the kernel offers Landlock ABI {landlock.abi()}")
    monkeypatch.setattr(landlock, "abi", lambda: version)
    return version


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place.make(tmp_path)
