"""Drafts that the finders of the error model are made of."""

from __future__ import annotations

import ast

from grader.languages.drafts import Draft
from grader.languages.triton.confined.edits.source import SourceTree
from grader.plan.edits import EditKind


def instead(source: SourceTree, kind: EditKind, weight: float, node: ast.expr, new: ast.expr | str) -> Draft:
    """Return an edit that puts another expression in a node's place."""
    return Draft(kind, weight, (source.put(node, new),))


def exchanged(source: SourceTree, kind: EditKind, weight: float, one: ast.expr, other: ast.expr) -> Draft:
    """Return an edit that puts two expressions in each other's place."""
    return Draft(kind, weight, (source.put(one, other), source.put(other, one)))
