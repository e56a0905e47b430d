"""The first column of a matrix in host memory, brought to the device: how to move few bytes that lie far apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy
import torch
from torch import Tensor

from grader.kit.author import (
    Baseline,
    Bits,
    Case,
    Distribution,
    Input,
    Inputs,
    Output,
    Renewal,
    Spread,
    Work,
    assignment,
    cases,
    mistakes,
    timed,
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
    """The bytes that must cross the bus, and are written on the device."""
    # The host's memory hands out lines of 64 bytes, 16 times as much: a host that gathers, or a device that reads
    # pinned memory, waits for 64 · rows bytes in rows places. A share of the bus's rate is therefore small at best.
    return Work(bytes=4 * sizes["rows"], host_bytes=4 * sizes["rows"])


def _read_at(place: Callable[[Tensor, int, int], Tensor]) -> Callable[[Tensor], Tensor | None]:
    """The elements in these places of memory; None where they are the right ones, or lie beyond it."""
    def answer(matrix: Tensor) -> Tensor | None:
        rows, cols = matrix.shape
        row = torch.arange(rows, device=matrix.device)
        places = place(row, rows, cols)
        none = torch.equal(places, row * cols) or int(places.max()) >= matrix.numel()
        return None if none else matrix.reshape(-1)[places].double()

    return answer


ASSIGNMENT = assignment(
    name="copy_first_column",
    title="First column to the device",
    formula="out[i] = matrix[i, 0]",
    order=4,
    parameters=(Input(name="matrix", shape=("rows", "cols"), place="host"), Output(shape=("rows",))),
    forms={"cuda": "copy_first_column(h_A=matrix, d_A=out, rows, cols)", "numba": "copy_first_column(matrix, out)"},
    oracle=lambda matrix: matrix[:, 0].double(),
    cases=cases(
        "rows cols", "1x1 1x7 7x1-bits 5x9 64x64-bits 31x1031 4099x8 1009x37-bits 200003x3",
        gpu="1000003x17-bits 8192x8192"),
    timed=timed("rows cols", "8192x8192 8192x4096 8192x2048", "8192x32768 8192x16384 8192x12288"),
    structure={"host_reads_at_most": 16, "copies_at_most": 3, "launches_at_most": 1},
    baseline=Baseline(name="out.copy_(matrix[:, 0])", compiled="out.copy_(matrix[:, 0].contiguous())"),
    distributions=distributions,
    rows="matrix",
    work=work,
    renew=renew,
    operators=COPIES,
    right_by_nature={
        **dict.fromkeys(("1x1: the input", "1x1: the mean"), "one element is its own mean and its own column"),
        "1x7: the input": "one row: the first element in memory is the whole answer",
        "7x1-bits: the input": "a matrix of one column is its first column",
    },
    mistakes=mistakes(
        ("first row", "These are the first elements in memory, the first row: row i begins at element i · cols.",
         _read_at(lambda row, rows, cols: row)),
        ("second column", "This is the column after the first: columns are counted from 0.",
         _read_at(lambda row, rows, cols: row * cols + 1)),
        ("diagonal", "These are the elements of the diagonal: row i begins at element i · cols, without + i.",
         _read_at(lambda row, rows, cols: row * cols + row % cols)),
        ("sums of rows", "These are the sums of the rows: load the first element of each row alone.",
         lambda matrix: matrix.double().sum(dim=1) if matrix.shape[1] > 1 else None),
        ("last column", "This is the last column, or the first one read one element too early.",
         _read_at(lambda row, rows, cols: row * cols + cols - 1)),
        ("step of rows", "The step from row to row was the number of rows: it is the number of columns.",
         _read_at(lambda row, rows, cols: row * rows)),
    ),
)
