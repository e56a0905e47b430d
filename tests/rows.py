"""Tests of many rows in one: a row of milliseconds costs more to collect, send and report than to run."""

import functools
import inspect
import tomllib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from _pytest.mark import ParameterSet


def each_row(
    names: str | Sequence[str], rows: Iterable[Any], ids: Callable[[Any], object] | Iterable[object] | None = None,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test for each row, as `pytest.mark.parametrize` does with these arguments, and raise an ExceptionGroup of
    those that fail, each with its row's name. Fixtures are made once for all rows."""
    parameters = [name.strip() for name in (names.split(",") if isinstance(names, str) else names)]
    ids = ids if callable(ids) or ids is None else list(ids)
    table = [_named(row, number, ids, len(parameters)) for number, row in enumerate(rows)]
    assert table, f"no rows of {names}"

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            failed = []
            for name, values in table:
                try:
                    test(**fixtures, **dict(zip(parameters, values, strict=True)))
                except Exception as error:
                    error.add_note(f"in row {name}")
                    failed.append(error)
            if failed:
                raise ExceptionGroup(f"{len(failed)} of {len(table)} rows", failed)

        signature = inspect.signature(test)
        run.__signature__ = signature.replace(parameters=[  # type: ignore[attr-defined]
            parameter for name, parameter in signature.parameters.items() if name not in parameters])
        return run

    return decorate


def beside(file: str) -> dict[str, Any]:
    """Return the data of a file of tests: the TOML file of its name that stands beside it."""
    return tomllib.loads(Path(file).with_suffix(".toml").read_text(encoding="utf-8"))


def _named(
    row: Any, number: int, ids: Callable[[Any], object] | Sequence[object] | None, count: int,
) -> tuple[str, Sequence[Any]]:
    """The name of a row, and a value for each parameter."""
    name = None
    if isinstance(row, ParameterSet):
        assert not row.marks, "a row with marks is a test of its own: use pytest.mark.parametrize"
        row, name = (row.values if count > 1 else row.values[0]), row.id
    values = tuple(row) if count > 1 else (row,)
    if name is None and ids is not None:
        name = "-".join(str(ids(value)) for value in values) if callable(ids) else str(ids[number])
    return str(name or f"{number}: {values!r:.200}"), values
