"""Memory on the host that judge and worker share."""

from __future__ import annotations

import mmap
import os

import pytest
import torch

from grader.judge.buffers import HostTensor


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
