"""A plan's operations on host memory, and temporaries there: what needs no GPU."""

from typing import Any

import pytest
import torch

from grader.device import guards
from grader.device.memory import Temporaries
from grader.device.programs import Scratch, steps, strided
from grader.plan.plan import Buffer, Copy, Data, Fill, Operation, View
from tests.device.kernels import whole
from tests.rows import each_row


def made(operations: list[Operation], *memory: torch.Tensor) -> None:
    for step in steps(operations, [], [tensor.view(-1).view(torch.uint8) for tensor in memory], Scratch(), 0, {}):
        step()


def test_operations_are_made_in_their_order_on_what_they_name() -> None:
    matrix, other = torch.zeros(4, 8), torch.zeros(4)
    column = View(buffer=0, offset=4, shape=[4], strides=[8], dtype="float32")
    made([
        Fill(target=whole(0, 4, 8), value=3.0),
        Data(buffer=1, contents="AACAPwAAAEAAAEBAAACAQA=="),
        Copy(source=whole(1, 4), target=column),
        Fill(target=whole(1, 4), value=-1.0),
    ], matrix, other)  # fmt: skip
    right = torch.full((4, 8), 3.0)
    right[:, 1] = torch.tensor([1.0, 2.0, 3.0, 4.0])
    assert torch.equal(matrix, right)
    assert (other == -1).all()


@each_row(("dtype", "value"), [
    ("float16", float("inf")), ("bfloat16", 1.5), ("int64", -(2**63)), ("uint8", 255), ("bool", True),
    ("float64", 0.1), ("uint64", 2**64 - 1), ("float8_e5m2", 2.0),
])  # fmt: skip
def test_a_fill_writes_every_type(dtype: Any, value: bool | int | float) -> None:
    memory = torch.zeros(3, dtype=guards.torch_dtype(dtype))
    made([Fill(target=View(buffer=0, shape=[2], strides=[1], dtype=dtype), value=value)], memory)
    assert memory.tolist() == [value, value, 0]


def test_a_copy_backwards_turns_its_source() -> None:
    matrix, turned = torch.arange(12.0).view(4, 3), torch.zeros(4, 3)
    made([Copy(source=whole(0, 4, 3), target=whole(1, 4, 3), backwards=[0])], matrix, turned)
    assert torch.equal(turned, matrix.flip(0))
    made([Copy(source=whole(0, 4, 3), target=whole(1, 4, 3), backwards=[0, 1])], matrix, turned)
    assert torch.equal(turned, matrix.flip(0, 1))


def test_a_copy_converts() -> None:
    given, half = torch.tensor([1.0001, 1e6, float("nan")]), torch.zeros(3, dtype=torch.float16)
    made([Copy(source=whole(0, 3), target=whole(1, 3, dtype="float16"))], given, half)
    assert str(half) == str(given.half())


def test_empty_data_and_empty_views_are_nothing() -> None:
    memory = torch.arange(4.0)
    made([Data(buffer=0, contents=""), Fill(target=whole(0, 0), value=1.0)], memory)
    assert memory.tolist() == [0, 1, 2, 3]


def test_a_view_of_part_of_a_buffer_starts_where_it_says() -> None:
    memory = torch.arange(10, dtype=torch.int16)
    flat = [memory.view(torch.uint8)[1:], memory.view(torch.uint8)]
    view = View(buffer=1, offset=4, shape=[2, 2], strides=[3, 2], dtype="int16")
    assert strided(view, flat).tolist() == [[2, 4], [5, 7]]
    with pytest.raises(RuntimeError):
        strided(View(buffer=0, offset=0, shape=[1], strides=[1], dtype="int16"), flat)


@pytest.fixture
def temporaries() -> Temporaries:
    return Temporaries([Buffer(bytes=40, given="x"), Buffer(bytes=10, place="host"), Buffer(bytes=1024, place="host")])


def test_temporaries_are_nan_until_they_are_written(temporaries: Temporaries) -> None:
    temporaries.poison()
    assert sorted(temporaries.flat) == [1, 2]
    assert temporaries.flat[2].view(torch.float32).isnan().all()
    assert temporaries.overruns() == []


def test_a_write_around_a_temporary_is_told(temporaries: Temporaries) -> None:
    temporaries.poison()
    first = temporaries.flat[1]
    beyond = torch.as_strided(first, (1,), (1,), first.storage_offset() + len(first))
    beyond ^= 1
    assert temporaries.overruns() == [1]


def test_what_was_kept_comes_back(temporaries: Temporaries) -> None:
    temporaries.poison()
    temporaries.flat[1].fill_(7)
    temporaries.keep()
    temporaries.flat[1].fill_(8)
    temporaries.flat[2].fill_(8)
    temporaries.restore()
    assert (temporaries.flat[1] == 7).all()
    assert temporaries.flat[2].view(torch.float32).isnan().all()
