"""A kernel that searches many tensors at once on a GPU for a pattern of bits, and reads each byte once."""

# Kernels have no strict types.
# mypy: disable-error-code="untyped-decorator,no-untyped-def"

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import torch
import triton
import triton.language as tl
from torch import Tensor

BLOCK = 8192
_TYPES = {torch.uint8: tl.uint8, torch.int16: tl.int16, torch.int32: tl.int32, torch.int64: tl.int64}


@triton.jit
def holds_kernel(pointers_ptr, found_ptr, elements, bits, TYPE: tl.constexpr, BLOCK: tl.constexpr):
    """Set `found` of tensor `program_id(1)` if one of its BLOCK elements here has these bits."""
    tensor = tl.program_id(1)
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    first = tl.multiple_of(tl.load(pointers_ptr + tensor).to(tl.pointer_type(TYPE)), 16)
    mask = at < elements
    same = (tl.load(first + at, mask=mask, other=0) == bits) & mask
    if tl.max(same.to(tl.int32)) > 0:
        tl.store(found_ptr + tensor, 1)


def holds(tensors: Sequence[Tensor], bits: int) -> Tensor:
    """Return which of these tensors hold an element with these bits: bool, of shape (len(tensors),). The tensors are
    contiguous, start at multiples of 16 bytes, and share device, number of elements, and dtype, one of whole
    numbers."""
    first = tensors[0]
    pointers = _pointers(tuple(tensor.data_ptr() for tensor in tensors), first.device)
    held = torch.zeros(len(tensors), dtype=torch.int8, device=first.device)
    holds_kernel[triton.cdiv(first.numel(), BLOCK), len(tensors)](
        pointers, held, first.numel(), bits, TYPE=_TYPES[first.dtype], BLOCK=BLOCK)
    return held != 0


@lru_cache(maxsize=16)
def _pointers(addresses: tuple[int, ...], device: torch.device) -> Tensor:
    # Cached: a copy to the device waits for the device's work.
    return torch.tensor(addresses, device=device)
