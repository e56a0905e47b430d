"""The input pool on the host: fresh contents, poisoned outputs, and what a check makes of what calls have left."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor

from grader.engine.forkserver.handle import InfrastructureError
from grader.judge.compare import poison_, poisoned
from grader.judge.device import FreeMemory
from grader.judge.timing import measure
from grader.judge.timing.baselines import scalars
from grader.judge.timing.checks import Checks, Laid
from grader.judge.timing.measure import largest_fitting
from grader.judge.timing.pool import Pool, Wrong, slot_bytes
from grader.kit.author import rows_of
from grader.model.cases import Case, TimedCase
from grader.model.catalogue import assignments, right_answer
from tests.assignments.tiny import tiny
from tests.judge.toys import BLEND

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
    look(pool)
    return outputs


def look(pool: Pool) -> None:
    one = pool.look
    target = one.target.tensor
    whole = one.source.memory[: len(one.source.memory) // target.itemsize * target.itemsize].view(target.dtype)
    torch.index_select(whole, 0, one.positions.tensor, out=target)


@each
def test_right_answers_pass_and_contents_are_never_the_same(name: str, pool: Pool) -> None:
    seen = []
    for _ in range(2):
        draw(name, pool)
        slots = pool.slots()
        assert all(bool(poisoned(slot["out"].tensor).all()) for slot in slots)
        assert pool.check(COUNT, looked=False) is not None
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
    look(pool)
    wrong = pool.check(COUNT)
    assert isinstance(wrong, Wrong) and (wrong.what, wrong.count) == ("values", 1)
    assert wrong.total == outputs[1].numel() and wrong.worst is not None
    columns = outputs[1].shape[-1]
    assert wrong.worst.index == ([17] if outputs[1].dim() == 1 else list(divmod(17, columns)))


@pytest.mark.parametrize("name", ["silu"])
def test_what_is_written_after_the_end_or_beside_a_tensor_is_told(name: str, pool: Pool) -> None:
    draw(name, pool)
    outputs = answer(name, pool)
    outputs[2].add_(1)
    assert pool.check(COUNT) == Wrong("late")
    draw(name, pool)
    outputs = answer(name, pool)
    # A kernel can write where the places are kept, and what was found there.
    pool.look.positions.tensor.fill_(pool.look.positions.tensor[0].item())
    look(pool)
    outputs[2].add_(1)
    assert pool.check(COUNT) == Wrong("late")
    draw(name, pool)
    answer(name, pool)
    piece = pool.slots()[0]["out"]
    piece.arena.memory[piece.offset - 8] ^= 1
    assert pool.check(COUNT) == Wrong("outside")


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
    checks = Checks(silu, inputs, [Laid(memory, torch.arange(COUNT) * 2000 * 64, 2000 * 64)], 2000, generator)
    outputs = [right_answer(silu, one).float() for one in inputs]
    CHANGES[change](inputs[1]["x"], outputs[1])
    assert checks.doubtful(outputs) == ([] if change == "nothing" else [1])


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
    laid = [Laid(memory, (2 * torch.arange(COUNT) + one) * 200 * 64, 200 * 64) for one in range(2)]
    checks = Checks(blend, inputs, laid, 200, generator)
    outputs = [right_answer(blend, one).to(torch.uint8) for one in inputs]
    assert all(bool(poisoned(output).any()) for output in outputs)
    BYTE_CHANGES[change](inputs[1]["x"], outputs[1])
    assert checks.doubtful(outputs) == ([] if change == "nothing" else [1])



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
