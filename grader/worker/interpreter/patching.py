"""Replacing attributes of Triton, loudly: what is not there to be replaced is an error at installation."""

from __future__ import annotations

from typing import Any

_ABSENT = object()


def replace(owner: Any, name: str, value: Any) -> Any:
    """Set `owner.name` to `value` and return what was there. Raises RuntimeError where nothing was."""
    before = _existing(owner, name)
    setattr(owner, name, value)
    return before


def require(owner: Any, *names: str) -> None:
    """Raise RuntimeError unless `owner` has every one of `names`."""
    for name in names:
        _existing(owner, name)


def _existing(owner: Any, name: str) -> Any:
    found = getattr(owner, name, _ABSENT)
    if found is _ABSENT:
        import triton

        where = getattr(owner, "__name__", repr(owner))
        raise RuntimeError(f"triton {triton.__version__} has no {where}.{name}: the interpreter cannot be mended")
    return found
