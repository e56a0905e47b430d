"""Memory on the host that judge and worker share."""

from __future__ import annotations

import ctypes
import mmap
import os

import pytest
import torch

from grader.judge.buffers import BufferError, HostTensor


@pytest.mark.parametrize("shape", [(1,), (3, 5), (300, 1000)])
def test_all_of_it_is_there_before_it_is_touched(shape: tuple[int, ...]) -> None:
    # Else it would count as the worker's that touches it.
    tensor = HostTensor(shape, "float32")
    assert os.fstat(tensor._descriptor).st_blocks * 512 >= tensor.tensor.nbytes
    assert not bool(tensor.tensor.any())
    tensor.close()


@pytest.mark.parametrize("offset", [0, 4, 4096, 9000, 19_996])
def test_a_page_is_replaced_and_its_contents_stay(offset: int) -> None:
    tensor = HostTensor((5000,), "float32")
    tensor.tensor.copy_(torch.arange(5000.0))
    reader, writer = os.pipe()
    # It refers to the pages that are there now.
    assert os.splice(tensor._descriptor, writer, tensor.tensor.nbytes, offset_src=0) == tensor.tensor.nbytes
    tensor.replace_page(offset)
    assert torch.equal(tensor.tensor, torch.arange(5000.0))
    tensor.tensor.zero_()
    held = torch.frombuffer(bytearray(os.read(reader, tensor.tensor.nbytes)), dtype=torch.float32)
    os.close(reader)
    os.close(writer)
    page = mmap.PAGESIZE // 4
    first = offset // 4 // page * page
    kept = torch.zeros(5000)
    kept[first : first + page] = torch.arange(5000.0)[first : first + page]
    assert torch.equal(held, kept)
    tensor.close()


MADV_COLLAPSE = 25
HUGE = 2 << 20


def collapse(tensor: HostTensor) -> bool:
    """As somebody might who maps it: all of it becomes huge pages. Whether the kernel has done so."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype, libc.mmap.argtypes = ctypes.c_void_p, (
        ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
    libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    size = tensor.tensor.nbytes
    shared, fixed = mmap.MAP_SHARED, mmap.MAP_SHARED | 0x10
    room = libc.mmap(None, size + HUGE, 3, shared, tensor._descriptor, 0)
    place = libc.mmap(-(-room // HUGE) * HUGE, size, 3, fixed, tensor._descriptor, 0)
    done: bool = libc.madvise(place, size, MADV_COLLAPSE) == 0
    libc.munmap(room, size + HUGE)
    return done


@pytest.mark.parametrize("size", [2 * HUGE, 2 * HUGE + 8192])
def test_a_part_of_a_huge_page_that_somebody_holds_is_replaced_with_all_of_it(size: int) -> None:
    tensor = HostTensor((size // 4,), "float32")
    numbers = torch.arange(size // 4, dtype=torch.float32)
    tensor.tensor.copy_(numbers)
    if not collapse(tensor):
        pytest.skip("this kernel makes no huge pages on demand")
    for offset in (0, HUGE - 4, HUGE + 12_288):
        reader, writer = os.pipe()
        start = offset - offset % mmap.PAGESIZE
        assert os.splice(tensor._descriptor, writer, mmap.PAGESIZE, offset_src=start) == mmap.PAGESIZE
        tensor.replace_page(offset)
        assert torch.equal(tensor.tensor, numbers)
        tensor.tensor[offset // 4] = -1.0
        held = torch.frombuffer(bytearray(os.read(reader, mmap.PAGESIZE)), dtype=torch.float32)
        assert float(held[(offset - start) // 4]) != -1.0
        tensor.tensor.copy_(numbers)
        os.close(reader)
        os.close(writer)
    tensor.close()


def test_a_page_that_cannot_be_replaced_is_our_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    tensor = HostTensor((5000,), "float32")
    tensor.tensor.copy_(torch.arange(5000.0))
    monkeypatch.setattr(HostTensor, "_replace", lambda self, offset, size: False)
    with pytest.raises(BufferError, match="stays where it is"):
        tensor.replace_page(0)
    tensor.close()
