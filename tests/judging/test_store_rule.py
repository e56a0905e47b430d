"""The store rule: what it takes for the way in which all programs store, from what a few of them do."""

import numpy as np

from grader.judging.evidence.store_rule import Array, StoreRule

SIDE, ROWS, COLUMNS, PROGRAMS = 8192, 32, 64, 512


def comb(program: int) -> Array:
    """The elements of the output that a program of a transpose stores that takes every 512th tile of its input."""
    tiles = np.arange(program, SIDE // ROWS * (SIDE // COLUMNS), PROGRAMS)[:, None]
    columns = tiles // (SIDE // COLUMNS) * ROWS + np.arange(ROWS)
    rows = tiles[:1] % (SIDE // COLUMNS) * COLUMNS + np.arange(COLUMNS)
    return np.sort((rows.reshape(-1, 1) * SIDE + columns.reshape(1, -1)).ravel())


def test_tiles_with_gaps_are_no_tile() -> None:
    """Two programs of the first column of tiles store alike. Taken for tiles without gaps, all programs together would
    leave out an element that program 152 stores."""
    place = 1573 * SIDE + 1581
    rule = StoreRule((PROGRAMS, 1, 1), (SIDE, SIDE), {program: comb(program) for program in (1, 4)})
    assert place in comb(152) and not rule.known, rule.writers(place)
