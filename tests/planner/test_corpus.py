"""Every file that we ship or have written as a submission, planned for the cases of its assignment."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.plan.check import check
from grader.plan.device import TARGETS
from grader.plan.messages import Failed, Refused
from grader.plan.plan import Launch, Plan
from tests.planner.harness import assignment_of, given_of, plan_cases

ROOT = Path(__file__).parents[2]
SUBMISSIONS = ROOT / "tests/submissions"
DEVICE = TARGETS["sm_90"]


def files(folder: Path, pattern: str) -> list[Path]:
    found = sorted(folder.glob(pattern))
    assert found
    return found


HONEST = [
    *files(SUBMISSIONS / "accepted", "*/*.py"), *files(ROOT / "reference", "*.py"),
    # Stage 0 is PyTorch's own way, for comparison.
    *(file for file in files(ROOT / "reference/stages", "*/*/*.py") if "v0_torch" not in file.parts),
    # Alice's six are all right.
    *files(ROOT / "examples/class/alice", "*.py"),
]  # fmt: skip
COMPUTING = files(SUBMISSIONS / "policy_violation", "*/*.py")
# Their refusal is for sizes that no case has.
NEVER_REACHED = {"silu_large_shapes_only"}


def name_of(file: Path) -> str:
    return "/".join(file.relative_to(ROOT).parts[-2:])


@pytest.mark.parametrize("file", HONEST, ids=name_of)
def test_an_honest_file_plans_for_every_case(file: Path) -> None:
    assignment = assignment_of(file.stem)
    for debug, cases in ((True, assignment.cases), (False, assignment.cases[-2:])):
        for case, plan in zip(cases, plan_cases(file, assignment, cases, debug=debug), strict=True):
            assert isinstance(plan, Plan), (case.name, debug, plan)
            copies = bool(assignment.operators)
            assert check(plan, given_of(assignment, case), device=DEVICE, copies=copies) == []
            assert copies or any(isinstance(operation, Launch) for operation in plan.first)


@pytest.mark.parametrize(
    "file", [file for file in COMPUTING if file.parent.name not in NEVER_REACHED], ids=name_of)
def test_a_file_that_computes_outside_of_kernels_is_refused(file: Path) -> None:
    assignment = assignment_of(file.stem)
    outcomes = plan_cases(file, assignment, assignment.cases[:2] + assignment.cases[-1:])
    refused = [outcome for outcome in outcomes if isinstance(outcome, Refused)]
    assert refused, outcomes
    text = file.read_text().splitlines()
    for outcome in refused:
        assert outcome.line
        # A line of code, in a function.
        assert text[outcome.line - 1].startswith("    ")


@pytest.mark.parametrize("file", files(SUBMISSIONS / "missing", "*/*.py"), ids=name_of)
def test_a_file_without_its_function_is_told_as_missing(file: Path) -> None:
    assignment = assignment_of(file.stem)
    (outcome,) = plan_cases(file, assignment, assignment.cases[:1])
    assert isinstance(outcome, Failed)
    assert outcome.failure in ("missing_function", "not_attempted")
