"""A line says what Numba lacks, and what to do, before anybody's points depend on it."""

import re
from importlib.metadata import PackageNotFoundError

import pytest

from grader.languages.numba import packages


@pytest.mark.parametrize(("found", "said"), [
    ({}, r"^no numba; .*pip install -e '\.\[numba\]'$"),
    ({"numba": "0.68.1"}, r"^no numba-cuda; .*pip install"),
    ({"numba": "0.68.1", "numba-cuda": "0.31.0"}, r"^numba-cuda 0\.31\.0, where 0\.30 is expected; .*pip install"),
    ({"numba": "0.6.8", "numba-cuda": "0.30.4"}, r"^numba 0\.6\.8, where 0\.68 is expected; "),
])
def test_what_is_missing_is_told_in_a_line(
    found: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch,
) -> None:
    def version(name: str) -> str:
        if name not in found:
            raise PackageNotFoundError(name)
        return found[name]

    monkeypatch.setattr(packages, "version", version)
    packages.problem.cache_clear()
    try:
        assert re.search(said, packages.problem()) and "\n" not in packages.problem()
        assert packages.installed() == ""
    finally:
        packages.problem.cache_clear()
