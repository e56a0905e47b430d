"""The memory of timed calls, with the calls made by the test itself: what is found in which slot, and at what cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
import torch
from torch import Tensor

from grader.assignment import Assignment, Case, Inputs
from grader.catalogue import assignments, right_answer
from grader.judge.compare import poison_, unwritten
from grader.judge.ring import Ring
from grader.judge.rows import row_check
from grader.judge.veil import Veil

ASSIGNMENTS = assignments()
SIZES = {
    "gemm": {"M": 96, "N": 80, "K": 192}, "rmsnorm_vector": {"N": 40_000}, "silu": {"M": 48, "N": 64},
    "rmsnorm_matrix": {"rows": 48, "cols": 64},
    # Few rows, each of which is certain to be looked at.
    "silu by rows": {"M": 8, "N": 384}, "rmsnorm_matrix by rows": {"rows": 8, "cols": 384},
    "transpose by rows": {"M": 384, "N": 8},
}
SPOT_CHECKED = ("gemm", "rmsnorm_vector")
BY_ROWS = tuple(name for name in SIZES if name.endswith(" by rows"))
FIRST_INPUT = {"gemm": "a", "rmsnorm_vector": "x", "silu": "x", "rmsnorm_matrix": "x", "transpose": "x"}
SLOTS = 4
LAST = SLOTS - 1
SIDE = "student"

every = pytest.mark.parametrize("batch", SIZES, indirect=True)
spot_checked = pytest.mark.parametrize("batch", [*SPOT_CHECKED, *BY_ROWS], indirect=True)
by_rows = pytest.mark.parametrize("batch", BY_ROWS, indirect=True)


@dataclass
class Batch:
    """A ring, and the calls of a batch by whoever may change what it likes."""

    assignment: Assignment
    ring: Ring
    slots: list[tuple[Inputs, Tensor]]

    def fill(self) -> None:
        self.ring.fill()
        self.ring.turn(SIDE)

    def answer(self, change: Callable[[Inputs], object] | None = None, only: int | None = None) -> None:
        """Right answers for the inputs, of slot `only` for what `change` has made of them."""
        for number, (inputs, output) in enumerate(self.slots):
            if change is not None and only in (None, number):
                change(inputs)
            output.copy_(right_answer(self.assignment, inputs))
        self.ring.sample(SIDE)

    def found(self) -> tuple[str, int] | None:
        wrong = self.ring.check(SIDE)
        return None if wrong is None else (wrong.what, wrong.slot)


def made(assignment: Assignment, sizes: str = "") -> Batch:
    case = Case(name="tiny", sizes=SIZES[sizes or assignment.name], values=assignment.timed[0].values)
    ring = Ring(assignment, case, SLOTS, (SIDE,), cuda=False)
    ring.fill()
    ring.turn(SIDE)
    # A worker's view: the descriptors are the ring's own.
    slots = [(ring._given(slot), ring._outputs[SIDE][slot].tensor) for slot in range(SLOTS)]
    return Batch(assignment, ring, slots)


@pytest.fixture
def batch(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Batch]:
    name, _, by_rows = request.param.partition(" ")
    if by_rows:
        monkeypatch.setattr("grader.judge.ring.LARGE", 0)
    one = made(ASSIGNMENTS[name], request.param)
    yield one
    one.ring.close()


def first_input(batch: Batch, slot: int) -> tuple[str, Tensor]:
    name = FIRST_INPUT[batch.assignment.name]
    return name, batch.slots[slot][0][name]


@every
def test_right_answers_pass_in_every_batch(batch: Batch) -> None:
    for _ in range(3):
        batch.answer()
        assert batch.found() is None
        batch.fill()
        # The poison of the next batch.
        batch.ring.sample(SIDE)
        assert batch.found() == ("values", 0)
        # Scalars are drawn anew as well.
        batch.slots = [(batch.ring._given(slot), output) for slot, (_, output) in enumerate(batch.slots)]


@spot_checked
def test_inputs_are_not_drawn_again_for_right_answers(batch: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    draw = batch.ring._draw

    def counted(slot: int) -> Inputs:
        drawn.append(slot)
        return draw(slot)

    monkeypatch.setattr(batch.ring, "_draw", counted)
    batch.answer()
    assert batch.found() is None and not drawn
    batch.slots[LAST][1].zero_()
    batch.ring.sample(SIDE)
    assert batch.found() == ("values", LAST) and drawn == [LAST]


@every
@pytest.mark.parametrize("slot", range(SLOTS))
def test_a_wrong_element_is_found_in_whichever_slot(batch: Batch, slot: int) -> None:
    batch.answer()
    batch.slots[slot][1].view(-1)[-1] = float("nan")
    batch.ring.sample(SIDE)
    assert batch.found() == ("values", slot)


@pytest.mark.parametrize("batch", ["silu", "gemm"], indirect=True)
def test_what_is_told_of_a_wrong_answer_looks_into_no_memory_of_the_slots(
    batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = batch.slots[LAST][1]
    rows, columns = output.shape
    # So many rows are compared at a time.
    monkeypatch.setattr("grader.judge.ring.CHUNK", 5 * columns)
    batch.answer()
    output[-2, 3], output[-2, 4] = 1e4, float("nan")
    batch.ring.sample(SIDE)
    wrong = batch.ring.check(SIDE)
    # On a GPU that memory is gone when a student is told.
    output.zero_()
    assert wrong is not None and (wrong.what, wrong.count, wrong.unwritten) == ("values", 2, 0)
    assert 2 * columns <= wrong.total <= 5 * columns
    assert wrong.worst is not None and wrong.worst.index == [rows - 2, 4] and wrong.worst.got == "nan"
    assert not any(isinstance(value, Tensor) for value in vars(wrong).values())


@every
@pytest.mark.parametrize("slot", [0, LAST])
def test_a_changed_input_is_found_in_whichever_slot(batch: Batch, slot: int) -> None:
    batch.answer()
    name, changed = first_input(batch, slot)
    # A bit of each hundredth element, after the answer was given.
    changed.view(-1)[::100] *= 1 + 2.0**-10
    assert batch.found() == (f"input {name}", slot)


@by_rows
def test_rows_of_large_answers_are_looked_at_and_the_rest_is_to_be_written(batch: Batch) -> None:
    output = batch.slots[LAST][1]
    width = output.shape[1]
    seen = []
    for column in range(0, width, max(1, width // 8)):
        batch.answer()
        output[3, column] += 1
        batch.ring.sample(SIDE)
        seen.append(batch.found())
    assert set(seen) == {("values", LAST)}
    # Rows that nobody looks at.
    batch.ring._checks = {slot: row_check(
        batch.assignment, 2, batch.ring._draw(slot), batch.ring._generator) for slot in range(SLOTS)}
    batch.answer()
    output[-1] += 1
    batch.ring.sample(SIDE)
    assert batch.found() is None
    poison_(output[-1:, -1:])
    batch.ring.sample(SIDE)
    wrong = batch.ring.check(SIDE)
    assert wrong is not None and (wrong.what, wrong.slot, wrong.unwritten) == ("values", LAST, 1)


@pytest.mark.parametrize("batch", SPOT_CHECKED, indirect=True)
def test_a_changed_input_is_found_whatever_the_answer_check_says(batch: Batch) -> None:
    assert batch.assignment.spot_check is not None
    blind = made(batch.assignment.model_copy(update={
        "spot_check": lambda inputs, generator: lambda now, output: torch.zeros((), dtype=torch.float64)}))
    blind.answer()
    assert blind.found() is None
    name, changed = first_input(blind, LAST)
    changed.view(-1)[::100] *= 1 + 2.0**-10
    assert blind.found() == (f"input {name}", LAST)
    blind.ring.close()


def one_column(inputs: Inputs) -> None:
    inputs["a"][:, 7] = 1000.0


def one_element(inputs: Inputs) -> None:
    inputs["x"][0] = 1e12


@pytest.mark.parametrize(("batch", "change"), [("gemm", one_column), ("rmsnorm_vector", one_element)],
                         indirect=["batch"], ids=SPOT_CHECKED)
@pytest.mark.parametrize("slot", [0, LAST])
def test_few_changed_elements_that_spare_the_work_are_found(
    batch: Batch, change: Callable[[Inputs], object], slot: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With no help from the places that are compared: the real inputs have a thousand times as many elements.
    for samples in batch.ring._input_samples.values():
        monkeypatch.setattr(samples, "changed", lambda count: torch.zeros(count, dtype=torch.bool))
    batch.answer(change, slot)
    name, _ = first_input(batch, slot)
    assert batch.found() == (f"input {name}", slot)


@every
@pytest.mark.parametrize("slot", [0, LAST])
def test_what_is_written_after_done_is_late(batch: Batch, slot: int) -> None:
    batch.answer()
    output = batch.slots[slot][1]
    right = output.clone()
    output.zero_()
    batch.ring.sample(SIDE)
    output.copy_(right)
    assert batch.found() == ("late", slot)


@every
def test_what_comes_first_is_told(batch: Batch) -> None:
    batch.answer()
    batch.slots[1][1].zero_()
    batch.ring.sample(SIDE)
    batch.slots[2][1].zero_()
    assert batch.found() == ("values", 1)
    batch.slots[1][1].fill_(1.0)
    assert batch.found() == ("late", 1)


@pytest.mark.parametrize("name", SPOT_CHECKED)
@pytest.mark.parametrize("what", ["output", "input"])
def test_what_is_written_while_answers_are_checked_is_seen(name: str, what: str) -> None:
    def spot_check(inputs: Inputs, generator: torch.Generator) -> Callable[[Inputs, Tensor], Tensor]:
        def check(now: Inputs, output: Tensor) -> Tensor:
            (output if what == "output" else now[FIRST_INPUT[name]]).mul_(0.5)
            return torch.zeros((), dtype=torch.float64)

        return check

    batch = made(ASSIGNMENTS[name].model_copy(update={"spot_check": spot_check}))
    batch.answer()
    assert batch.found() == (("late", 0) if what == "output" else (f"input {FIRST_INPUT[name]}", 0))
    batch.ring.close()


@pytest.mark.parametrize("name", SPOT_CHECKED)
def test_a_false_alarm_is_settled_by_comparing_in_full(name: str) -> None:
    batch = made(ASSIGNMENTS[name].model_copy(update={
        "spot_check": lambda inputs, generator: lambda now, output: torch.full((), torch.inf, dtype=torch.float64)}))
    batch.answer()
    assert batch.found() is None
    batch.ring.close()


@pytest.mark.parametrize("name", SPOT_CHECKED)
def test_a_spot_check_that_comes_to_nothing_is_no_proof(name: str) -> None:
    batch = made(ASSIGNMENTS[name].model_copy(update={
        "spot_check": lambda inputs, generator: lambda now, output: torch.full((), torch.nan, dtype=torch.float64)}))
    batch.answer()
    batch.slots[LAST][1].zero_()
    batch.ring.sample(SIDE)
    assert batch.found() == ("values", LAST)
    batch.ring.close()


@spot_checked
def test_only_the_slots_in_use_are_looked_at(batch: Batch) -> None:
    batch.ring.use(2)
    batch.answer()
    batch.slots[2][1].zero_()
    first_input(batch, LAST)[1].zero_()
    assert batch.found() is None
    batch.slots[1][1].zero_()
    assert batch.found() == ("late", 1)


def test_places_are_secret_and_other_ones_each_time() -> None:
    batch = made(ASSIGNMENTS["rmsnorm_vector"])
    samples = [batch.ring._samples[SIDE], *batch.ring._input_samples.values()]
    assert len(samples) == 3
    before = [one._places.clone() for one in samples]
    batch.fill()
    for places, one in zip(before, samples, strict=True):
        assert one._places.shape[0] == SLOTS
        assert float((places == one._places).double().mean()) < 0.01
        assert not torch.equal(one._places[0], one._places[1])
    batch.ring.close()


def plain(batch: Batch) -> list[dict[str, Tensor]]:
    """The tensors of each slot's inputs, drawn as they should stand there."""
    return [{name: value for name, value in batch.ring._draw(slot).items() if isinstance(value, Tensor)}
            for slot in range(batch.ring.count)]


@every
def test_before_the_veil_is_off_inputs_have_no_bits_of_what_they_will_be(batch: Batch) -> None:
    batch.ring.fill()
    for (inputs, _), drawn in zip(batch.slots, plain(batch), strict=True):
        for name, value in drawn.items():
            integer = torch.int16 if value.dtype == torch.float16 else torch.int32
            there, to_come = (tensor.view(integer) for tensor in (inputs[name], value))
            # By chance each bit of the veil is set in half of the columns: seven standard deviations.
            room = 3.5 / value.shape[-1] ** 0.5
            for bit in range(8 * value.element_size()):
                share = float(((there ^ to_come) >> bit & 1).double().mean())
                assert abs(share - 0.5) < room, (name, bit, share)
    batch.ring.turn(SIDE)
    for (inputs, output), drawn in zip(batch.slots, plain(batch), strict=True):
        assert all(torch.equal(inputs[name], value) for name, value in drawn.items())
        assert bool(unwritten(output).all())


@every
def test_the_veil_is_another_one_each_time_and_for_each_column(batch: Batch) -> None:
    veils = []
    for _ in range(2):
        batch.ring.fill()
        name, there = first_input(batch, 0)
        drawn = batch.ring._draw(0)[name]
        assert isinstance(drawn, Tensor)
        integer = torch.int16 if there.dtype == torch.float16 else torch.int32
        veils.append((there.view(integer) ^ drawn.view(integer)).reshape(-1)[: there.shape[-1]])
    assert float((veils[0] == veils[1]).double().mean()) < 0.01
    assert len(set(veils[0].tolist())) > 0.9 * len(veils[0])


@every
def test_an_output_that_is_written_too_early_is_seen(batch: Batch) -> None:
    batch.fill()
    assert batch.ring.still_poisoned(SIDE)
    batch.slots[LAST][1].zero_()
    assert not batch.ring.still_poisoned(SIDE)
    batch.ring.use(LAST)
    assert batch.ring.still_poisoned(SIDE)


@pytest.mark.parametrize("shape", [(3, 8), (3, 6), (5, 7), (9,), (1,), (4, 2, 5)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_a_veil_fits_every_shape(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(3)
    tensors = [torch.zeros(shape, dtype=dtype) for _ in range(2)]
    contents = torch.randn(shape, generator=generator).to(dtype)
    veil = Veil(generator)
    veil.cover(tensors)
    veil.renew()
    # A view that begins within another tensor's memory.
    veil.write(1, torch.cat([torch.zeros(1, dtype=dtype), contents.view(-1)])[1:].view(shape))
    assert torch.equal(tensors[0], torch.zeros(shape, dtype=dtype)) and not torch.equal(tensors[1], contents)
    veil.turn(1)
    assert torch.equal(tensors[1], contents)
