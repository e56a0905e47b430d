"""Sizes of a timed case that a processor has time for."""

import math

from grader.course.assignment import Assignment
from grader.course.cases import Case, shape_of
from grader.course.parameters import Scalar

MOST_ELEMENTS = 50_000
LEAST = 64
"""What a size is not halved below."""


def tiny(assignment: Assignment) -> Case:
    """The first timed case, with its distribution, on odd sizes that are small enough."""
    timed = assignment.timed[0]
    sizes = dict(timed.sizes)
    while True:
        case = Case(name="tiny", sizes={name: size + 1 for name, size in sizes.items()}, values=timed.values)
        elements = sum(math.prod(shape_of(p, case)) for p in assignment.parameters if not isinstance(p, Scalar))
        if elements <= MOST_ELEMENTS or max(sizes.values()) <= LEAST:
            return case
        sizes = {name: size // 2 if size > LEAST else size for name, size in sizes.items()}
