"""Conditions on how kernels work: for each a kernel that meets it, one that does not, and those that pretend."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader.home import ROOT
from grader.judge.prepared import Prepared, Task
from grader.judge.structure import look_at_structure
from grader.model.catalogue import assignments
from grader.model.conditions import CONDITIONS
from grader.model.course import Course
from grader.model.structure import ConditionResult
from grader.model.submission import Source
from tests.frontends.cuda.compiling import needs_nvcc

TRITON, CUDA = ROOT / "reference/stages", ROOT / "reference/cuda/stages"
OWN = Path(__file__).with_name("structure")


def outcomes(path: Path, name: str, **asked: Any) -> dict[str, ConditionResult]:
    """The outcomes of these conditions for a file of the assignment `name`."""
    course = Course.model_validate({"structure": {name: {**asked, "requires": list(asked)}}})
    source = Source(content=path.read_bytes(), file=name + path.suffix)
    prepared = Prepared(Task(assignments()[name], source, course, b"seed", "cpu"))
    assert not prepared.plan().trouble
    return {one.name: one for one in look_at_structure(prepared, prepared.task.conditions)}


def test_every_condition_has_a_kernel_that_meets_it_and_one_that_does_not() -> None:
    met: dict[str, set[bool | None]] = {}
    for _, _, rows in TABLE:
        for name, _, holds in rows:
            met.setdefault(name, set()).add(holds)
    assert {name: found - {None} for name, found in met.items()} == {name: {True, False} for name in CONDITIONS}


# Name, limit, and whether the kernel meets it; None where its run shows nothing.
Rows = list[tuple[str, bool | float, bool | None]]
TABLE: list[tuple[str, Path, Rows]] = [
    ("silu", ROOT / "reference/silu.py", [
        ("one_pass", True, True), ("coalesced", True, True), ("access_bits_at_least", 128, True),
        ("writes_at_most", 1.1, True), ("no_atomics", True, True), ("no_spills", True, True),
        ("launches_at_most", 1, True), ("divergence_at_most", 0, True), ("barriers_at_most", 0, True),
        ("occupancy_at_least", 1, True), ("bank_conflicts_at_most", 0, True), ("copies_at_most", 0, True)]),
    ("transpose", TRITON / "transpose/v1_rowwise/transpose.py", [
        ("reads_at_most", 1.1, True), ("writes_at_most", 1.1, True), ("coalesced", True, False)]),
    ("transpose", TRITON / "transpose/v2_writes/transpose.py", [("one_pass", True, True), ("coalesced", True, False)]),
    ("rmsnorm_vector", ROOT / "reference/rmsnorm_vector.py", [
        ("no_atomics", True, False), ("launches_at_most", 1, False), ("barriers_at_most", 1, False)]),
    ("copy_first_column", ROOT / "reference/copy_first_column.py", [
        ("host_reads_at_most", 16, True), ("copies_at_most", 2, False)]),
    ("gemm", TRITON / "gemm/v1_simple/gemm.py", [("tensor_cores", True, False)]),
    ("gemm", ROOT / "reference/gemm.py", [
        ("tensor_cores", True, True), ("flop_per_byte_at_least", 40, True), ("coalesced", True, True),
        ("occupancy_at_least", 0.5, False)]),
    ("copy_first_column", OWN / "whole_matrix.py", [("host_reads_at_most", 100, False)]),
    ("silu", OWN / "array_by_index.cu", [("no_spills", True, False)]),
    ("silu", OWN / "odd_lanes.cu", [("divergence_at_most", 0.5, False), ("coalesced", True, True)]),
    ("transpose", CUDA / "transpose/v3_tiled/transpose.cu", [
        ("bank_conflicts_at_most", 30, False), ("access_bits_at_least", 64, False), ("coalesced", True, True)]),
    ("transpose", CUDA / "transpose/v4_tuned/transpose.cu", [("bank_conflicts_at_most", 0, True)]),
    ("gemm", CUDA / "gemm/v1_coalesced/gemm.cu", [("flop_per_byte_at_least", 20, False), ("coalesced", True, True)]),
    ("gemm", CUDA / "gemm/v3_registers/gemm.cu", [("tensor_cores", True, False), ("flop_per_byte_at_least", 20, True)]),
    ("gemm", CUDA / "gemm/v4_tensor_cores/gemm.cu", [("tensor_cores", True, True)]),
    # Those that pretend.
    ("transpose", OWN / "some_programs_turn_tiles.py", [("coalesced", True, False)]),
    ("silu", OWN / "reads_a_copy_again.py", [
        ("one_pass", True, False), ("reads_at_most", 1.9, False), ("writes_at_most", 1.9, False)]),
    ("silu", OWN / "well_on_zeros.cu", [("coalesced", True, None)]),
    ("gemm", OWN / "one_product_for_show.cu", [("tensor_cores", True, False)]),
    ("silu", OWN / "well_at_one_size.py", [("coalesced", True, False)]),
]


@pytest.mark.parametrize("name, path, rows", [
    pytest.param(*row, id="/".join(row[1].with_suffix("").parts[-2:]) + row[1].suffix,
                 marks=needs_nvcc if row[1].suffix == ".cu" else ()) for row in TABLE])
def test_a_kernel_meets_what_it_should(name: str, path: Path, rows: Rows) -> None:
    found = outcomes(path, name, **{condition: limit for condition, limit, _ in rows})
    assert {one.name: one.met for one in found.values()} == {condition: met for condition, _, met in rows}, found
    assert all(one.said.endswith(".") for one in found.values())
