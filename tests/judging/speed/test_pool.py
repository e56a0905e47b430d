"""The input pool on the host: fresh contents, poisoned outputs, and what a check makes of what calls have left."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from grader.course.cases import Case, TimedCase
from grader.course.catalogue import assignments, right_answer
from grader.errors import InfrastructureError
from grader.judging.answers.compare import poison_, poison_mask
from grader.judging.running.buffers import DTYPES
from grader.judging.running.device import FreeMemory
from grader.judging.speed import measure
from grader.judging.speed.baselines import scalars
from grader.judging.speed.checks import FlatInput, SlotChecks
from grader.judging.speed.measure import largest_fitting
from grader.judging.speed.pool import Pool, ReplayFault, slot_bytes
from grader.kit.author import rows_of
from tests.assignments.tiny import tiny
from tests.judging.speed.several import SEVERAL, SMALL
from tests.judging.toys import BLEND
from tests.rows import each_row

COUNT = 3
GIB = 1 << 30
ASSIGNMENTS = assignments()
each = pytest.mark.parametrize("name", ASSIGNMENTS)


@pytest.fixture
def pool(name: str) -> Iterator[Pool]:
    found = made(name)
    yield found
    found.close()


def case_of(name: str) -> Case:
    return tiny(ASSIGNMENTS[name])


def made(name: str) -> Pool:
    return Pool(ASSIGNMENTS[name], case_of(name), COUNT, cuda=False)


def draw(name: str, pool: Pool) -> None:
    pool.draw(COUNT, scalars(ASSIGNMENTS[name], case_of(name)))


def answer(name: str, pool: Pool) -> list[Tensor]:
    """Right answers in all slots, and the look after them. Returns the outputs."""
    outputs = []
    for slot in pool.slots():
        inputs = {key: piece.tensor for key, piece in slot.items() if key != "out"}
        slot["out"].tensor.copy_(right_answer(
            ASSIGNMENTS[name], {**inputs, **scalars(ASSIGNMENTS[name], case_of(name))}))
        outputs.append(slot["out"].tensor)
    sample(pool)
    return outputs


def sample(pool: Pool) -> None:
    one = pool.sample
    target = one.target.tensor
    whole = one.source.memory[: len(one.source.memory) // target.itemsize * target.itemsize].view(target.dtype)
    torch.index_select(whole, 0, one.positions.tensor, out=target)


@each
def test_right_answers_pass_and_contents_are_never_the_same(name: str, pool: Pool) -> None:
    seen = []
    for _ in range(2):
        draw(name, pool)
        slots = pool.slots()
        assert all(bool(poison_mask(slot["out"].tensor).all()) for slot in slots)
        assert pool.check(COUNT, sampled=False) is not None
        seen.append([slot[key].tensor.clone() for slot in slots for key in slot if key != "out"])
        answer(name, pool)
        assert pool.check(COUNT) is None
    step = len(seen[0]) // COUNT
    for one, other in (*zip(*seen, strict=True), (seen[0][0], seen[0][step])):
        # Of the first column's matrix only that is drawn.
        assert not torch.equal(one, other)


@each
def test_a_wrong_element_is_told_with_its_place(name: str, pool: Pool) -> None:
    draw(name, pool)
    outputs = answer(name, pool)
    outputs[1].view(-1)[17] = outputs[1].view(-1)[17] * 2 + 1
    sample(pool)
    wrong = pool.check(COUNT)
    assert isinstance(wrong, ReplayFault) and (wrong.what, wrong.count) == ("values", 1)
    assert wrong.total == outputs[1].numel() and wrong.worst is not None
    columns = outputs[1].shape[-1]
    assert wrong.worst.index == ([17] if outputs[1].dim() == 1 else list(divmod(17, columns)))


@pytest.mark.parametrize("name", ["silu"])
def test_what_is_written_after_the_end_or_beside_a_tensor_is_told(name: str, pool: Pool) -> None:
    draw(name, pool)
    outputs = answer(name, pool)
    outputs[2].add_(1)
    assert pool.check(COUNT) == ReplayFault("late")
    draw(name, pool)
    outputs = answer(name, pool)
    # A kernel can write where the places are kept, and what was found there.
    pool.sample.positions.tensor.fill_(pool.sample.positions.tensor[0].item())
    sample(pool)
    outputs[2].add_(1)
    assert pool.check(COUNT) == ReplayFault("late")
    draw(name, pool)
    answer(name, pool)
    piece = pool.slots()[0]["out"]
    piece.arena.memory[piece.offset - 8] ^= 1
    assert pool.check(COUNT) == ReplayFault("outside")


CHANGES: dict[str, Callable[[Tensor, Tensor], object]] = {
    "nothing": lambda x, out: None,
    "an input": lambda x, out: x.fill_(0),
    "a tenth of the rows": lambda x, out: out[: len(out) // 10].zero_(),
    "an element not written": lambda x, out: out.view(torch.int32).view(-1).__setitem__(5, 0x7FC05EED),
}


@pytest.mark.parametrize("change", CHANGES)
def test_checks_find_the_slot(change: str) -> None:
    silu, case = ASSIGNMENTS["silu"], Case(name="large", sizes={"M": 2000, "N": 64})
    generator = torch.Generator().manual_seed(1)
    memory = torch.empty(COUNT * 2000 * 64)
    inputs = []
    for part in memory.view(COUNT, 2000, 64):
        part.copy_(silu.make_inputs(case, generator)["x"])
        inputs.append({"x": part})
    flat_inputs = [FlatInput(memory.view(torch.int32), torch.arange(COUNT) * 2000 * 64, 2000 * 64)]
    checks = SlotChecks(silu, case, inputs, flat_inputs, generator)
    outputs = [right_answer(silu, one).float() for one in inputs]
    CHANGES[change](inputs[1]["x"], outputs[1])
    assert checks.doubtful([{"out": output} for output in outputs]) == ([] if change == "nothing" else [1])


BYTE_CHANGES: dict[str, Callable[[Tensor, Tensor], object]] = {
    "nothing": lambda x, out: None,
    "an input": lambda x, out: x.fill_(0),
    "a row never written": lambda x, out: poison_(out[5]),
    "one element": lambda x, out: out.view(-1).__setitem__(77, (int(out.view(-1)[77]) + 128) % 256),
}


@pytest.mark.parametrize("change", BYTE_CHANGES)
def test_checks_of_bytes_find_the_slot_and_doubt_no_answer_for_holding_the_poison(change: str) -> None:
    blend = BLEND.model_copy(update={"rows": rows_of("x", "y")})
    generator = torch.Generator().manual_seed(1)
    memory = torch.randint(256, (COUNT * 2 * 200 * 64,), generator=generator, dtype=torch.uint8)
    inputs = [{"x": x, "y": y} for x, y in memory.view(COUNT, 2, 200, 64)]
    flat_inputs = [FlatInput(memory, (2 * torch.arange(COUNT) + number) * 200 * 64, 200 * 64) for number in range(2)]
    checks = SlotChecks(blend, Case(name="large", sizes={"M": 200, "N": 64}), inputs, flat_inputs, generator)
    outputs = [right_answer(blend, one).to(torch.uint8) for one in inputs]
    assert all(bool(poison_mask(output).any()) for output in outputs)
    BYTE_CHANGES[change](inputs[1]["x"], outputs[1])
    assert checks.doubtful([{"out": output} for output in outputs]) == ([] if change == "nothing" else [1])


Changed = Callable[[dict[str, Tensor]], object]
BY_OUTPUT: dict[str, tuple[Changed, ReplayFault]] = {
    "an update": (lambda slot: slot["state"][3, 1].zero_(), ReplayFault("values", "state", 1, 21)),
    "whole numbers": (lambda slot: slot["picked"][5].add_(1 << 60), ReplayFault("values", "picked", 1, 7)),
    "what is compared whole": (lambda slot: slot["total"][4].add_(1e-6), ReplayFault("values", "total", 1, 5)),
    "never written": (lambda slot: poison_(slot["out"]), ReplayFault("values", "out", 35, 35, 35)),
    "a bool": (lambda slot: slot["kept"][6, 4].logical_not_(), ReplayFault("values", "kept", 1, 35)),
    "one that is no bool": (
        lambda slot: slot["kept"].view(torch.uint8)[6].fill_(7), ReplayFault("values", "kept", 5, 35)),
}


@each_row("change", ["nothing", *BY_OUTPUT])
def test_of_several_outputs_the_wrong_one_is_told(change: str) -> None:
    pool = Pool(SEVERAL, SMALL, COUNT, cuda=False)
    try:
        for _ in range(2):
            pool.draw(COUNT, scalars(SEVERAL, SMALL))
            slots = [{name: piece.tensor for name, piece in slot.items()} for slot in pool.slots()]
            assert list(slots[0]) == ["x", "labels", "order", "keep", "state", "out", "picked", "total", "kept"]
            for slot in slots:
                given = {name: slot[name] for name in ("x", "labels", "order", "keep", "state")}
                answers = SEVERAL.oracle(**given, **scalars(SEVERAL, SMALL))
                for output, answer in zip(SEVERAL.outputs, answers, strict=True):
                    slot[output.name].copy_(answer)
            found, wrong = BY_OUTPUT.get(change, (lambda slot: None, None))
            found(slots[1])
            sample(pool)
            fault = pool.check(COUNT)
            assert fault == wrong if fault is None else replace(fault, worst=None) == wrong
            slots[2]["picked"][-1] += 1
            assert pool.check(COUNT) == ReplayFault("late")
    finally:
        pool.close()


@pytest.mark.parametrize("change", ["nothing", *list(BY_OUTPUT)[:3]])
def test_checks_look_at_every_output(change: str) -> None:
    generator = torch.Generator().manual_seed(1)
    inputs = [{**SEVERAL.make_inputs(SMALL, generator), "factor": 3, "negative": True} for _ in range(COUNT)]
    checks = SlotChecks(SEVERAL, SMALL, inputs, [], generator)
    answered = [{output.name: answer.to(DTYPES[output.dtype]) for output, answer in zip(
        SEVERAL.outputs, SEVERAL.oracle(**one), strict=True)} for one in inputs]
    if change in BY_OUTPUT:
        BY_OUTPUT[change][0](answered[1])
    # Updates hold the answer in the place of what was given.
    for one, slot in zip(inputs, answered, strict=True):
        one["state"].copy_(slot["state"])
    assert checks.doubtful(answered) == ([] if change == "nothing" else [1])


@pytest.mark.parametrize("change", ["nothing", "an element", "between elements of x", "between elements of out"])
def test_tensors_may_have_gaps(change: str) -> None:
    case = Case(name="7x5", sizes={"M": 7, "N": 5}, strides={"x": ("N + 3", 1), "out": (1, "M + 1")})
    pool = Pool(ASSIGNMENTS["silu"], case, COUNT, cuda=False)
    try:
        for _ in range(2):
            pool.draw(COUNT, {})
            slots = [{name: piece.tensor for name, piece in slot.items()} for slot in pool.slots()]
            assert slots[0]["x"].stride() == (8, 1) and slots[0]["out"].stride() == (1, 8)
            for slot in slots:
                assert bool(poison_mask(slot["out"]).all())
                slot["out"].copy_(right_answer(ASSIGNMENTS["silu"], {"x": slot["x"]}))
            if change != "nothing":
                tensor = slots[1]["x" if change.endswith("x") else "out"]
                tensor.as_strided((1,), (1,), tensor.storage_offset() + (0 if change == "an element" else 7)).fill_(77)
            sample(pool)
            fault = pool.check(COUNT)
            assert (fault.what if fault else "nothing") == {"nothing": "nothing", "an element": "values"}.get(
                change, "outside")
    finally:
        pool.close()
    assert slot_bytes(ASSIGNMENTS["silu"], case) == 4 * (6 * 8 + 5 + 4 * 8 + 7)


def _dropped(x: Tensor, out: Tensor) -> Tensor:
    """Twice x, or zero where the answer is."""
    return torch.where(out == 0, 0.0, 2 * x.double())


DROPOUT = ASSIGNMENTS["silu"].model_copy(update={
    "oracle": _dropped, "statistic": lambda inputs, out: "" if 0.3 < float((out == 0).double().mean()) < 0.7 else
    f"{float((out == 0).double().mean()):.0%} of the elements were dropped"})
DROPPED: dict[str, tuple[Callable[[Tensor], object], str]] = {
    "half": (lambda out: out[::2].zero_(), ""), "all": (lambda out: out.zero_(), "statistic"),
    "none": (lambda out: None, "statistic"), "half, and another is wrong": (
        lambda out: (out[::2].zero_(), out[1].add_(7)), "values")}


@pytest.mark.parametrize("change", DROPPED)
def test_an_oracle_may_be_given_the_answer(change: str) -> None:
    case, (changed, what) = Case(name="large", sizes={"M": 20, "N": 64}), DROPPED[change]
    pool, generator = Pool(DROPOUT, case, COUNT, cuda=False), torch.Generator().manual_seed(1)
    try:
        pool.draw(COUNT, {})
        slots = [{name: piece.tensor for name, piece in slot.items()} for slot in pool.slots()]
        checks = SlotChecks(DROPOUT, case, [{"x": slot["x"]} for slot in slots], [], generator)
        for slot in slots:
            slot["out"].copy_(2 * slot["x"])
            (changed if slot is slots[1] else DROPPED["half"][0])(slot["out"])
        sample(pool)
        fault = pool.check(COUNT)
        assert (fault.what if fault else "") == what
        assert checks.doubtful([{"out": slot["out"]} for slot in slots]) == ([1] if what else [])
    finally:
        pool.close()


SMALLER = TimedCase(name="8192x8192", sizes={"M": 8192, "N": 8192}, smaller=({"M": 2048, "N": 2048},))
MEMORY = FreeMemory(host=64 * GIB, device=128 * GIB, cache=50 << 20)


def test_a_pool_is_as_large_as_it_may_be_and_passes_through_the_cache() -> None:
    silu, vector = ASSIGNMENTS["silu"], ASSIGNMENTS["rmsnorm_vector"]
    case, slots = largest_fitting(silu, SMALLER, MEMORY)
    assert case.name == "8192x8192" and slots == measure.POOL_BYTES // slot_bytes(silu, case)
    case, slots = largest_fitting(vector, TimedCase(name="1048576", sizes={"N": 1 << 20}), MEMORY)
    assert slots == measure.MOST_SLOTS and slots * slot_bytes(vector, case) >= measure.CACHES * MEMORY.cache


def test_a_small_card_gets_a_smaller_case_and_a_smaller_one_none() -> None:
    silu = ASSIGNMENTS["silu"]
    case, slots = largest_fitting(silu, SMALLER, FreeMemory(host=64 * GIB, device=6 * GIB, cache=50 << 20))
    assert (case.name, slots) == ("8192x8192", measure.FEWEST_SLOTS)
    case, slots = largest_fitting(silu, SMALLER, FreeMemory(host=64 * GIB, device=4 * GIB, cache=50 << 20))
    assert case.name == "2048x2048" and slots > measure.FEWEST_SLOTS
    with pytest.raises(InfrastructureError, match="no size of it fits"):
        largest_fitting(silu, SMALLER, FreeMemory(host=64 * GIB, device=1 << 20, cache=50 << 20))


def test_a_matrix_on_the_host_takes_host_memory() -> None:
    column, case = ASSIGNMENTS["copy_first_column"], TimedCase(name="wide", sizes={"rows": 8192, "cols": 32768})
    assert largest_fitting(column, case, MEMORY)[1] == measure.MOST_HOST_SLOTS
    with pytest.raises(InfrastructureError):
        largest_fitting(column, case, FreeMemory(host=8 * GIB, device=128 * GIB, cache=50 << 20))
