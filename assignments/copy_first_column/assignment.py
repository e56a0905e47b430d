"""The first column of a matrix in host memory, brought to the device: how to move few bytes that lie far apart."""

from __future__ import annotations

from collections.abc import Mapping

import numpy
import torch
from torch import Tensor

from grader.assignment import Assignment, Baseline, Case, Input, Inputs, Mistake, Output, Renewal, TimedCase, Work
from grader.kit.inputs import Bits, Distribution, Spread, maker

CASES = (
    Case(name="1x1", sizes={"rows": 1, "cols": 1}),
    Case(name="1x7", sizes={"rows": 1, "cols": 7}),
    Case(name="7x1-bits", sizes={"rows": 7, "cols": 1}, values="bits"),
    Case(name="5x9", sizes={"rows": 5, "cols": 9}),
    Case(name="64x64-bits", sizes={"rows": 64, "cols": 64}, values="bits"),
    Case(name="31x1031", sizes={"rows": 31, "cols": 1031}),
    Case(name="4099x8", sizes={"rows": 4099, "cols": 8}),
    Case(name="1009x37-bits", sizes={"rows": 1009, "cols": 37}, values="bits"),
    Case(name="200003x3", sizes={"rows": 200003, "cols": 3}),
    Case(name="1000003x17-bits", sizes={"rows": 1000003, "cols": 17}, values="bits", needs="gpu"),
    Case(name="8192x8192", sizes={"rows": 8192, "cols": 8192}, needs="gpu"),
)
TIMED = (
    TimedCase(
        name="8192x8192", sizes={"rows": 8192, "cols": 8192},
        smaller=({"rows": 8192, "cols": 4096}, {"rows": 8192, "cols": 2048})),
    TimedCase(
        name="8192x32768", sizes={"rows": 8192, "cols": 32768},
        smaller=({"rows": 8192, "cols": 16384}, {"rows": 8192, "cols": 12288})),
)

# What PyTorch dispatches for out.copy_(matrix[:, 0]), .contiguous() and .clone(), .to(device), and .pin_memory(), which
# asks is_pinned first. Gathering (index_select, take, stack) computes with indices, and is not among them.
COPIES = frozenset({"aten::copy_", "aten::clone", "aten::_to_copy", "aten::_pin_memory", "aten::is_pinned"})


def distributions(case: Case) -> Mapping[str, Distribution]:
    """matrix (rows, cols) of a random scale and offset, or for "bits" every pattern that is a finite number."""
    return {"matrix": Bits() if case.values == "bits" else
            Spread(scale=(0.5, 10.5), offset=2.0, axis=None, even=True, absolute=True)}


def renew(inputs: Inputs, generator: numpy.random.Generator) -> Renewal:
    """New numbers for the first column; the rest of the matrix decides nothing."""
    column = inputs["matrix"][:, 0]
    scale, offset = generator.random(2)
    numbers = torch.from_numpy(generator.standard_normal(column.shape[0], numpy.float32))
    values = numbers.mul_(0.5 + 10 * scale).add_(4 * offset - 2)
    return Renewal("matrix", column, values, {"matrix": values[:, None]})


def work(sizes: Mapping[str, int]) -> Work:
    """What must cross the bus, and is written on the device."""
    # The host's memory hands out lines of 64 bytes, 16 times as much: who gathers on the host, or has the device read
    # pinned memory, waits for 64 · rows bytes in rows places. A share of the bus's rate is therefore small at best.
    return Work(bytes=4 * sizes["rows"], host_bytes=4 * sizes["rows"])


def rows(inputs: Inputs, index: slice | Tensor) -> Inputs:
    return {"matrix": inputs["matrix"][index]}


def _first_row(matrix: Tensor) -> Tensor | None:
    """What a kernel gets that forgets to step by the row's length: neighbours of the first element."""
    rows, cols = matrix.shape
    return None if rows == 1 or cols == 1 else matrix.reshape(-1)[:rows].double()


def _column(matrix: Tensor, index: int) -> Tensor | None:
    return None if matrix.shape[1] == 1 else matrix[:, index].double()


def _step_by_rows(matrix: Tensor) -> Tensor | None:
    rows, cols = matrix.shape
    places = torch.arange(rows, device=matrix.device) * rows
    return None if rows in (1, cols) or int(places[-1]) >= rows * cols else matrix.reshape(-1)[places].double()


MISTAKES = (
    Mistake(
        name="first row",
        hint="These are the first elements in memory, the first row: row i begins at element i · cols.",
        answer=_first_row,
    ),
    Mistake(
        name="second column",
        hint="This is the column after the first: columns are counted from 0.",
        answer=lambda matrix: _column(matrix, 1 % matrix.shape[1]),
    ),
    Mistake(
        name="last column",
        hint="This is the last column, or the first one read one element too early.",
        answer=lambda matrix: _column(matrix, -1),
    ),
    Mistake(
        name="step of rows",
        hint="The step from row to row was the number of rows: it is the number of columns.",
        answer=_step_by_rows,
    ),
)

PARAMETERS = (Input(name="matrix", shape=("rows", "cols"), place="host"), Output(name="out", shape=("rows",)))
ASSIGNMENT = Assignment(
    name="copy_first_column",
    title="First column to the device",
    formula="out[i] = matrix[i, 0]",
    order=4,
    parameters=PARAMETERS,
    cases=CASES,
    baseline=Baseline(name="out.copy_(matrix[:, 0])", compiled="out.copy_(matrix[:, 0].contiguous())"),
    distributions=distributions,
    make_inputs=maker(PARAMETERS, distributions),
    mistakes=MISTAKES,
    operators=COPIES,
    rows=rows,
    renew=renew,
    timed=TIMED,
    work=work,
)
