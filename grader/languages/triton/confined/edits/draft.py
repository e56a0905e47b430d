"""Drafts and changes that the themes of the error model are made of."""

from __future__ import annotations

import ast

from grader.languages.drafts import Change, Draft
from grader.languages.triton.confined.edits.source import SourceTree
from grader.plan.edits import EditKind


def instead(source: SourceTree, kind: EditKind, weight: float, node: ast.expr, text: str) -> Draft:
    """Return an edit that puts another expression in a node's place."""
    return Draft(kind, weight, (source.put(node, text),))


def exchanged(source: SourceTree, kind: EditKind, weight: float, one: ast.expr, other: ast.expr) -> Draft:
    """Return an edit that puts two expressions in each other's place."""
    return Draft(kind, weight, (source.put(one, source.of(other)), source.put(other, source.of(one))))


def keyword(source: SourceTree, call: ast.Call, text: str) -> Change:
    """Return a change that adds a keyword argument to a call."""
    places = source.commas(call)
    arguments = source.arguments(call)
    count = len(arguments)
    if len(places) == count + 2:
        # There is a comma after the last argument.
        return Change(start=places[-2] + 1, end=places[-2] + 1, text=f" {text}" if count else text)
    at = source.outer_end(arguments[-1], places[-1]) if count else places[-1]
    return Change(start=at, end=at, text=f", {text}" if count else text)


def dropped(source: SourceTree, call: ast.Call, argument: ast.expr | ast.keyword) -> Change:
    """Return a change that takes an argument and its comma out of a call."""
    places = source.commas(call)
    number = source.arguments(call).index(argument)
    if number:
        return Change(start=places[number], end=places[number + 1], text="")
    return Change(start=places[0] + 1, end=places[1] + (len(places) > 2), text="")
