"""Memory for calls, on the host: tensors apart from each other, guarded, and seen by whoever maps them."""

import mmap

import torch

from grader.device import guards
from grader.device.messages import HostBlock
from grader.judging.running.arena import Allocation, Arena, guard_of
from grader.plan.messages import GivenTensor

WANTED = [
    GivenTensor(name="x", shape=[30, 70], dtype="float32", place="host"),
    GivenTensor(name="y", shape=[333], dtype="float16", place="host"),
]


def test_pieces_have_the_shapes_asked_for_and_zones_between_them() -> None:
    arena = Arena(WANTED, place="host")
    first, second = arena.pieces
    assert (first.tensor.shape, first.tensor.dtype) == ((30, 70), torch.float32)
    assert (second.tensor.shape, second.tensor.dtype) == ((333,), torch.float16)
    assert first.offset >= guards.zone([30, 70], "float32")
    assert second.offset - first.offset - 30 * 70 * 4 >= guards.zone([30, 70], "float32")
    assert arena.allocation.bytes - second.offset - 666 >= guards.ZONE_BYTES
    arena.close()


def test_what_lies_between_is_nan_for_readers_and_watched_for_writers() -> None:
    arena = Arena(WANTED, place="host")
    arena.guard()
    around = arena.memory[arena.pieces[0].offset - 1024 : arena.pieces[0].offset]
    assert around.view(torch.float32).isnan().all()
    for piece in arena.pieces:
        piece.tensor.fill_(1)
    assert arena.overruns() == []
    arena.memory[arena.pieces[1].offset + 666] ^= 1
    assert arena.overruns() == [1]
    arena.close()


def test_what_is_read_and_written_lies_between_nan() -> None:
    update, output = (GivenTensor(name="y", shape=[4], dtype="float32", output=True, filled=f) for f in (True, False))
    assert (guard_of([output]), guard_of([output, update])) == ("secret", "nan")


def test_two_arenas_lie_and_look_different() -> None:
    arenas = [Arena(WANTED, place="host", guard="secret") for _ in range(8)]
    for arena in arenas:
        arena.guard()
    assert len({arena.pieces[0].offset for arena in arenas}) > 1
    assert len({bytes(arena.memory[:4].tolist()) for arena in arenas}) == 8
    for arena in arenas:
        arena.close()


def test_who_maps_a_block_sees_its_tensors() -> None:
    arena = Arena(WANTED, place="pinned")
    descriptors: list[int] = []
    block = arena.allocation.block(descriptors)
    assert block == HostBlock(descriptor=0, bytes=arena.allocation.bytes, pinned=True)
    arena.pieces[1].tensor.copy_(torch.arange(333))
    mapped = torch.frombuffer(mmap.mmap(descriptors[0], block.bytes), dtype=torch.uint8)
    tensor = guards.view(mapped, arena.pieces[1].offset, [333], "float16")
    assert torch.equal(tensor, torch.arange(333, dtype=torch.float16))
    arena.close()


def test_an_arena_may_be_empty() -> None:
    arena = Arena([], place="host")
    arena.guard()
    assert arena.overruns() == []
    arena.close()


def test_arenas_lie_one_after_another_at_the_end_of_one_allocation() -> None:
    allocation = Allocation(Arena.most_bytes(WANTED * 2), place="host")
    for wanted in (WANTED * 2, WANTED):
        arena = Arena(wanted, place="host", allocation=allocation)
        arena.guard()
        last = arena.pieces[-1]
        for piece in arena.pieces:
            piece.tensor.fill_(1)
        tensor = guards.view(allocation.memory, last.offset, [333], "float16")
        assert (tensor == 1).all() and arena.overruns() == []
        assert allocation.bytes - last.offset - last.tensor.nbytes < guards.zone([30, 70], "float32") + 2 * guards.LINE
        allocation.memory[-1] ^= 1
        assert arena.overruns() == [len(wanted) - 1]
        arena.close()
    allocation.close()
