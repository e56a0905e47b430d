"""Embedding: rows of a table by number, the first kernel whose reads follow from contents."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from grader.kit.author import (
    Baseline,
    Bits,
    Case,
    Distribution,
    Indices,
    Input,
    Output,
    Spread,
    Work,
    assignment,
    cases,
    mistakes,
    timed,
)

BLOCKS = (2, 4, 8, 16, 32, 64, 128)
"""Rows of out that a mistaken program copies from one row of the table."""
REPEATS = {"mixed": 0.25, "repeated": 0.95, "bits": 0.25}
"""Share of the indices that are one of three numbers."""


def oracle(indices: Tensor, table: Tensor) -> Tensor:
    """The right answer in float64, of shape (N, D)."""
    return table[indices].double()


def distributions(case: Case) -> Mapping[str, Distribution]:
    """Both the first row and the last are asked for, and some rows are asked for often. Bits are what does not survive
    another type on its way: numbers beyond float16, and tiny ones."""
    table = Bits() if case.values == "bits" else Spread(scale=(0.3, 3.0))
    return {"indices": Indices("V", repeats=REPEATS[case.values]), "table": table}


def work(sizes: Mapping[str, int]) -> Work:
    """Each row that is asked for is read once, however often it is asked for."""
    n, v, d = (sizes[name] for name in "NVD")
    rows = -v * math.expm1((1 - REPEATS["mixed"]) * n * math.log1p(-1 / v)) if v > 1 else 1
    return Work(bytes=8 * n + 2 * d * (n + rows))


def _in_blocks(block: int) -> Callable[[Tensor, Tensor], Tensor | None]:
    def answer(indices: Tensor, table: Tensor) -> Tensor | None:
        first = torch.arange(len(indices), device=indices.device) // block * block
        return table[indices[first]].double() if len(indices) > block else None

    return answer


def _shifted(by: int) -> Callable[[Tensor, Tensor], Tensor | None]:
    """Rows with numbers that are larger by so much, within the table."""
    def answer(indices: Tensor, table: Tensor) -> Tensor | None:
        return table[(indices + by).clamp(0, len(table) - 1)].double() if len(table) > 2 else None

    return answer


def _in_order(indices: Tensor, table: Tensor) -> Tensor | None:
    return table[: len(indices)].double() if len(indices) <= len(table) else None


def _halves(indices: Tensor, table: Tensor) -> Tensor | None:
    return table[indices.view(torch.int32)[: len(indices)]].double() if len(indices) > 2 else None


def _apart(indices: Tensor, table: Tensor) -> Tensor | None:
    """Rows of the table that are looked for N elements apart: no further than the table's end if N is at most D."""
    n, columns = len(indices), torch.arange(table.shape[1], device=table.device)
    return table.reshape(-1)[indices[:, None] * n + columns].double() if n < len(columns) else None


def _by_column(indices: Tensor, table: Tensor) -> Tensor | None:
    columns = torch.arange(table.shape[1], device=table.device)
    if len(indices) < len(columns):
        return None
    return table[indices[: len(columns)], columns].expand(len(indices), -1).double()


ASSIGNMENT = assignment(
    name="embedding",
    title="Embedding",
    formula="out[i, j] = table[indices[i], j]",
    order=1,
    parameters=(Input(name="indices", shape=("N",), dtype="int64"),
                Input(name="table", shape=("V", "D"), dtype="bfloat16"),
                Output(shape=("N", "D"), dtype="bfloat16")),
    oracle=oracle,
    cases=cases(
        "N V D", "1x1x1 5x9x7 37x1009x64 3x17x4099 1031x5x33-repeated 257x100x128 64x5003x48-bits",
        gpu="70001x33x31 4099x8000x1031 1031x16001x1024-repeated"),
    timed=timed("N V D", "16384x32000x2048 8192x32000x1024 4096x32000x512",
                "262144x50257x128 131072x50257x128 65536x50257x128"),
    baseline=Baseline(name="torch.index_select", compiled="torch.compile of table[indices]"),
    distributions=distributions,
    rows="indices",
    work=work,
    mistakes=mistakes(
        ("rows in order", "This is the beginning of the table: row i of out is the row with the number indices[i].",
         _in_order),
        ("row 0 for all", "Every row is row 0 of the table: were the indices loaded, and by lanes of rows?",
         lambda indices, table: table[:1].expand(len(indices), -1).double() if len(table) > 1 else None),
        ("counted from 1", "Each row is the one before that which was asked for: indices count from 0.", _shifted(-1)),
        ("next row", "Each row is the one after that which was asked for: indices count from 0.", _shifted(1)),
        ("halves of numbers", "The indices were read as int32, so every other one was 0: they have 64 bits.", _halves),
        ("rows N apart", "The rows of the table were looked for N elements apart: a row has D elements.", _apart),
        ("index by column", "The indices were loaded by column: all elements of a row of out share the index of that "
         "row, indices[i] with shape (ROWS, 1).", _by_column),
        ("times √D", "These are the rows times √D, as some models use them: here they are copied.",
         lambda indices, table: table[indices].double() * math.sqrt(table.shape[1]) if table.shape[1] > 1 else None),
        ("padding", "Rows with the number 0 are zeros, as with padding_idx=0: row 0 is a row like all others.",
         lambda indices, table: torch.where(indices[:, None] == 0, 0.0, table[indices].double())),
        ("rows of out in columns", "out is written column by column: element j of row i stands at i · D + j.",
         lambda indices, table: table[indices].double().t().reshape(len(indices), -1)
         if min(len(indices), table.shape[1]) > 1 else None),
        *(("one index for a block", "Several rows of out are the same row of the table, that of the first: load an "
           "index for each row.", _in_blocks(block)) for block in BLOCKS),
    ),
)
