"""Secret rows of all slots are compared at once, as each by itself would be."""

import math

import pytest
import torch

from grader.course.cases import Case
from grader.course.catalogue import answer_and_tolerance, assignments
from grader.course.parameters import Inputs
from grader.judging.answers.compare import poison_
from grader.judging.answers.rows import SlotCheck, answers_and_tolerances, row_check, whole_check
from grader.judging.running.buffers import DTYPES
from grader.judging.speed.checks import SlotChecks
from grader.kit.author import rows_of
from tests.judging.contract import APPEND, ROWS
from tests.rows import each_row

CHECKED = [one for one in assignments().values() if one.rows is not None and one.timed and one.spot_check is None]
SLOTS = 3


def _slots(name: str) -> list[Inputs]:
    """Inputs of a case of some rows for so many calls, whose numbers are the same."""
    assignment = assignments()[name]
    case = next(case for case in assignment.cases_for("cpu") if min(case.sizes.values()) > 1)
    drawn = [assignment.make_inputs(case, torch.Generator().manual_seed(seed)) for seed in range(SLOTS)]
    numbers = {key: value for key, value in drawn[0].items() if not isinstance(value, torch.Tensor)}
    return [{**one, **numbers} for one in drawn]


@pytest.mark.parametrize("name", [assignment.name for assignment in CHECKED])
def test_oracles_of_ours_answer_for_all_slots_at_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assignment, slots = assignments()[name], _slots(name)
    stacked = {key: torch.stack([slot[key] for slot in slots]) if isinstance(value, torch.Tensor) else value
               for key, value in slots[0].items()}
    expected = [answer_and_tolerance(assignment, slot) for slot in slots]
    # What is left where vmap cannot: it must not be needed.
    monkeypatch.setattr(torch, "stack", None)
    answers, allowed = answers_and_tolerances(assignment, [assignment.output.name], stacked, {})[assignment.output.name]
    for number, (answer, tolerance) in enumerate(expected):
        torch.testing.assert_close(answers[number], answer, rtol=1e-12, atol=0, equal_nan=True)
        assert (allowed is None) == (tolerance is None)
        if allowed is not None:
            torch.testing.assert_close(allowed[number], tolerance.expand(answer.shape), rtol=1e-12, atol=0)


def test_an_oracle_that_decides_by_values_answers_for_each_slot() -> None:
    silu = assignments()["silu"].model_copy(update={
        "oracle": lambda x: x.double() if bool(x.sum() > 0) else -x.double(), "tolerance": None})
    x = torch.tensor([[[1.0, 2.0]], [[-1.0, -2.0]]])
    answers, allowed = answers_and_tolerances(silu, ["out"], {"x": x}, {})["out"]
    assert allowed is None and answers.tolist() == [[[1.0, 2.0]], [[1.0, 2.0]]]


@each_row("name", [assignment.name for assignment in CHECKED])
def test_the_slot_with_a_wrong_row_is_found(name: str) -> None:
    assignment, slots = assignments()[name], _slots(name)
    outputs = [answer_and_tolerance(assignment, slot)[0].to(DTYPES[assignment.output.dtype]) for slot in slots]
    whole = assignment.model_copy(update={"rows": None})
    generator = torch.Generator().manual_seed(1)
    for check in (row_check(assignment, [assignment.output.name], slots, len(outputs[0]), generator),
                  whole_check(whole, slots, generator)):
        assert check is not None

        def checked(*answers: torch.Tensor, _check: SlotCheck = check) -> list[float]:
            found: list[float] = _check(slots, [{assignment.output.name: answer} for answer in answers]).tolist()
            return found

        assert checked(*outputs) == [0] * SLOTS
        wrong = outputs[1].clone()
        wrong[-1] = 77
        assert checked(outputs[0], wrong, outputs[2]) == [0, math.inf, 0]
        unwritten = torch.empty_like(outputs[2])
        poison_(unwritten)
        assert checked(*outputs[:2], unwritten) == [0, 0, math.inf]


def test_outputs_that_take_the_same_rows_share_an_oracle_run() -> None:
    ran: list[int] = []

    def oracle(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        ran.append(1)
        return x.double().sum(1), x.double().amax(1), x.argmax(1)

    by_row = {name: answer.model_copy(update={"rows": rows_of("x")}) for name, answer in ROWS.answers.items()}
    assignment = ROWS.model_copy(update={"answers": by_row, "oracle": oracle})
    case = Case(name="3x5", sizes={"M": 3, "N": 5})
    slots = [assignment.make_inputs(case, torch.Generator().manual_seed(seed)) for seed in range(SLOTS)]
    checks = SlotChecks(assignment, case, slots, [], torch.Generator().manual_seed(1))
    for wrong in ("", "total", "largest", "place"):
        outputs = [dict(zip(("total", "largest", "place"), oracle(**slot), strict=True)) for slot in slots]
        stored = [{name: value if value.dtype == torch.int64 else value.float() for name, value in output.items()}
                  for output in outputs]
        if wrong:
            stored[2][wrong] = stored[2][wrong] + 3
        ran.clear()
        assert checks.doubtful(stored) == ([2] if wrong else []) and len(ran) == 1


def test_a_cache_of_which_one_row_is_not_replaced_is_found_each_time() -> None:
    def rows(inputs: Inputs, index: slice | torch.Tensor) -> Inputs:
        (own,) = torch.arange(len(inputs["cache"]))[index].eq(inputs["at"]).nonzero(as_tuple=True)
        return {**inputs, "cache": inputs["cache"][index], "at": own}

    assignment, case = APPEND.model_copy(update={"rows": rows}), Case(name="large", sizes={"M": 4096, "N": 2})
    slots = [assignment.make_inputs(case, torch.Generator().manual_seed(seed)) for seed in range(SLOTS)]
    right = [{"cache": answer_and_tolerance(assignment, slot)[0].float()} for slot in slots]
    for seed in range(8):
        checks = SlotChecks(assignment, case, slots, [], torch.Generator().manual_seed(seed))
        assert checks.doubtful(right) == []
        assert checks.doubtful([right[0], {"cache": slots[1]["cache"]}, right[2]]) == [1]
