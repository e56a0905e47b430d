"""Kernels as they are compiled: what their language leaves open shows, and what is right stays right.

The first simulator finds most of these by reasoning about the language. Here it is not asked.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.course.catalogue import assignments
from grader.course.course import Course
from grader.course.submission import Source
from grader.home import ROOT
from grader.judging.prepared import PreparedTask, Task
from grader.judging.running.lane import LANE
from grader.languages import cuda
from grader.plan.plan import Plan
from tests.graded import FILES
from tests.members import Member


@pytest.fixture(scope="module", autouse=True)
def _lane() -> Iterator[None]:
    yield
    LANE.close()


def looked(path: Path) -> tuple[str, str] | None:
    """The first case that goes wrong, and what is said of it."""
    assignment = assignments()[FILES[path.name]]
    source = Source(content=path.read_bytes())
    prepared = PreparedTask(Task(assignment, source, Course(), b"one", "cpu"))
    assert any(isinstance(plan, Plan) for plan in prepared.plan().plans.values())
    found = prepared.compiled()
    return None if found is None else (found[0], found[1].message)


@pytest.mark.parametrize(("member", "case", "said"), [
    ("silu_cat_of_halves", "5x9", "44 of 45 elements are wrong"),
    ("silu_false_multiple_of", "5x9", "The load in line 13 reaches outside of x (`x_ptr` in the kernel)"),
    ("silu_pipelined_scratch", "1031x1-extreme", "elements are wrong, all of them NaN or infinite"),
    ("silu_reshape_can_reorder", "5x9", "of 45 elements are wrong"),
    ("rmsnorm_matrix_gather_one_too_far", "5x9", "All 45 elements are wrong"),
    ("rmsnorm_vector_plain_store_race", "4099", "All 4,099 elements are wrong"),
])
def test_what_a_compiler_decides_shows(member: str, case: str, said: str) -> None:
    (path,) = Member(f"wrong_answer/{member}").folder().iterdir()
    found = looked(path)
    assert found is not None and found[0] == case and said in found[1], found


@pytest.mark.parametrize("path", [
    ROOT / "reference/gemm.py", ROOT / "reference/rmsnorm_vector.py", ROOT / "reference/transpose.py",
    # Its two launches overlap where they may: what has no counterpart here is passed over.
    Member("accepted/rmsnorm_vector_dependent_launch").folder() / "rmsnorm_vector.py",
    Member("accepted/transpose_clusters").folder() / "transpose.py",
    # Copies in the background, and programs that wait for each other.
    Member("accepted/silu_grid_stride_loop").folder() / "silu.py",
    Member("accepted/rmsnorm_vector_total_under_a_lock").folder() / "rmsnorm_vector.py",
], ids=lambda path: path.parent.name if path.parent.name != "reference" else path.name)
def test_what_is_right_stays_right(path: Path) -> None:
    assert looked(path) is None


def test_a_language_that_is_looked_at_as_it_is_compiled_needs_no_second_look() -> None:
    assert cuda.FRONT_END.lowers_to == ""
