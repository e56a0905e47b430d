"""Conditions on how kernels work: for each a kernel that meets it, one that does not, and those that pretend."""

import re
from pathlib import Path
from typing import Any

import pytest

from grader.course.catalogue import assignments
from grader.course.conditions import CONDITIONS
from grader.course.course import Course, PointsTable
from grader.course.submission import Source, Submission
from grader.grading.grading import grade
from grader.grading.job import read_job
from grader.home import ROOT
from grader.judging.evidence.structure import structure_facts
from grader.judging.prepared import PreparedTask, Task
from grader.pages.findings import conditions_heading, shown_conditions
from grader.results.result import AssignmentResult
from grader.results.structure import ConditionResult
from tests.languages.cuda.compiling import needs_nvcc
from tests.rows import beside

TRITON, CUDA = ROOT / "reference/stages", ROOT / "reference/cuda/stages"
OWN = Path(__file__).with_name("structure")
DATA = beside(__file__)


def outcomes(path: Path, name: str, **asked: Any) -> dict[str, ConditionResult]:
    """The outcomes of these conditions for a file of the assignment `name`."""
    course = Course.model_validate({"structure": {name: {**asked, "requires": list(asked)}}})
    content = DATA[path.name].encode() if path.name in DATA else path.read_bytes()
    source = Source(content=content, file=name + path.suffix)
    prepared = PreparedTask(Task(assignments()[name], source, course, b"seed", "cpu"))
    assert not prepared.plan().trouble
    return {result.name: result for result in prepared.task.conditions.decided(structure_facts(prepared))}


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
    ("gemm", OWN / "pipelined_masks.py", [("coalesced", True, True), ("flop_per_byte_at_least", 24, True)]),
    ("gemm", OWN / "wmma_from_global.cu", [("coalesced", True, True), ("reads_at_most", 512, True)]),
    # Those that pretend.
    ("transpose", OWN / "some_programs_turn_tiles.py", [("coalesced", True, False)]),
    ("silu", OWN / "reads_a_copy_again.py", [
        ("one_pass", True, False), ("reads_at_most", 1.9, False), ("writes_at_most", 1.9, False)]),
    ("silu", OWN / "well_on_zeros.cu", [("coalesced", True, None)]),
    ("gemm", OWN / "one_product_for_show.cu", [("tensor_cores", True, False)]),
    ("silu", OWN / "many_lines.cu", [
        ("one_pass", True, None), ("no_atomics", True, False), ("launches_at_most", 1, True)]),
    ("silu", OWN / "a_few_elements_a_line.cu", [("coalesced", True, False)]),
    ("silu", OWN / "well_at_one_size.py", [("coalesced", True, False)]),
]


@pytest.mark.parametrize("name, path, rows", [
    pytest.param(*row, id="/".join(row[1].with_suffix("").parts[-2:]) + row[1].suffix,
                 marks=needs_nvcc if row[1].suffix == ".cu" else ()) for row in TABLE])
def test_a_kernel_meets_what_it_should(name: str, path: Path, rows: Rows) -> None:
    found = outcomes(path, name, **{condition: limit for condition, limit, _ in rows})
    assert {one.name: one.met for one in found.values()} == {condition: met for condition, _, met in rows}, found
    assert all(result.said.endswith(".") for result in found.values())


def test_conditions_give_points_and_required_ones_a_verdict() -> None:
    def graded(**asked: Any) -> AssignmentResult:
        course = Course(points=PointsTable(structure=20), structure={"silu": {"writes_at_most": False, **asked}})
        result = grade(read_job(Submission("reference", ROOT / "reference", "reference"), course, ("silu",))).result
        assert result is not None
        return result.assignments["silu"]

    half = graded(coalesced=False, access_bits_at_least=512, launches_at_most=0)
    assert (half.verdict, half.score, half.max_score, half.measured_max) == ("accepted", 66.67, 120, 80)
    assert conditions_heading(half) == "6.67 of 20 points for structure: 1 of 3 conditions met."
    assert [condition.word for condition in shown_conditions(half)] == ["not met", "not met", "met"]
    failed = graded(requires=["access_bits_at_least"], access_bits_at_least=512)
    assert (failed.verdict, failed.score, failed.measured_max) == ("condition_not_met", 0, 80)
    assert failed.message == ("The kernel has to move at least 512 bits at a time. A thread moves 128 bits at a time "
                              "(lines 22, 23).")
    assert [result.name for result in failed.structure.conditions if result.required] == ["access_bits_at_least"]
    assert (failed.structure.conditions[0].line, failed.structure.points) == (22, 0)
    # Conditions that no run shows are neither won nor lost; a required one is a person's to decide.
    unsampled = graded(host_reads_at_most=8, requires=["host_reads_at_most"])
    assert (unsampled.verdict, unsampled.score) == ("accepted", 80)
    assert [flag.what for flag in unsampled.flags] == ["structure"]


def test_an_author_writes_a_condition_as_the_docs_say() -> None:
    (text,) = re.findall(r"```python\n(def shared_bytes.*?)```", (ROOT / "docs/authoring.md").read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    exec(f"from grader.kit.author import *\n{text.replace('ASSIGNMENT = assignment(', 'made = dict(')})", names)
    assignment = assignments()["transpose"].model_copy(update={"structure": names["made"]["structure"]})
    source = Source(content=(ROOT / "reference/transpose.py").read_bytes(), file="transpose.py")
    for limit, met in ((True, True), (8192, False)):
        course = Course(points=PointsTable(structure=1), structure={} if limit is True else {
            "transpose": {"shared_bytes_at_most": limit}})
        prepared = PreparedTask(Task(assignment, source, course, b"seed", "cpu"))
        (result,) = prepared.task.conditions.decided(structure_facts(prepared))
        assert (result.name, result.met) == ("shared_bytes_at_most", met)
        assert result.said == "`transpose_kernel` takes 16,384 bytes of shared memory."
