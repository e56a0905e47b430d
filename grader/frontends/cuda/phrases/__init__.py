"""CUDA C++'s words: what students are told in them, in one place."""

from __future__ import annotations

from typing import Any, get_args, get_origin, get_type_hints

from grader.frontends.phrases import Phrases


def _phrases(kind: Any) -> Any:
    """One sentence, wherever the judge wants one."""
    if isinstance(kind, type) and kind is not str and (hints := get_type_hints(kind)):
        return kind(**{name: _phrases(of) for name, of in hints.items()})
    if get_origin(kind) is tuple:
        return () if get_args(kind)[-1] is ... else tuple(map(_phrases, get_args(kind)))
    return "Compare it with the handout's." if kind is str else None if type(None) in get_args(kind) else str.strip


PHRASES: Phrases = _phrases(Phrases)
