# mypy: disable-error-code="untyped-decorator, no-untyped-def, no-untyped-call"
"""Rows of a table by int64 indices."""

import torch
import triton
import triton.language as tl


@triton.jit
def row_kernel(weight_ptr, index_ptr, out_ptr, D, BLOCK: tl.constexpr):
    token = tl.program_id(0)
    index = tl.load(index_ptr + token)
    for start in range(0, D, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        tl.store(out_ptr + token * D + cols, tl.load(weight_ptr + index * D + cols, mask=cols < D), mask=cols < D)


def row(weight, indices, padding_idx, out):
    row_kernel[(indices.numel(),)](weight, indices, out, weight.shape[1], BLOCK=16)
    if padding_idx >= 0:
        padded_kernel[(indices.numel(),)](indices, out, padding_idx, weight.shape[1],
                                          BLOCK=triton.next_power_of_2(weight.shape[1]))


@triton.jit
def padded_kernel(index_ptr, out_ptr, padding_idx, D, BLOCK: tl.constexpr):
    token, cols = tl.program_id(0), tl.arange(0, BLOCK)
    padded = tl.load(index_ptr + token) == padding_idx
    tl.store(out_ptr + token * D + cols, tl.zeros((BLOCK,), out_ptr.dtype.element_ty), mask=padded & (cols < D))


@triton.jit
def tile_kernel(weight_ptr, index_ptr, out_ptr, T, D, padding_idx, BT: tl.constexpr, BD: tl.constexpr):
    tokens = tl.program_id(0) * BT + tl.arange(0, BT)
    cols = tl.program_id(1) * BD + tl.arange(0, BD)
    index = tl.load(index_ptr + tokens, mask=tokens < T, other=0)
    mask = (tokens < T)[:, None] & (cols < D)[None, :]
    read = mask & (index != padding_idx)[:, None]
    rows = tl.load(weight_ptr + index[:, None] * D + cols[None, :], mask=read, other=0)
    tl.store(out_ptr + tokens[:, None] * D + cols[None, :], rows, mask=mask)


def tile(weight, indices, padding_idx, out):
    T, D = indices.shape[0], weight.size(1)
    # Only bits move, whatever they mean.
    same = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[weight.element_size()]
    weight, out = weight.view(same), out.view(same)
    tile_kernel[(triton.cdiv(T, 8), triton.cdiv(D, 16))](weight, indices, out, T, D, padding_idx, BT=8, BD=16)


@triton.jit
def flat_kernel(weight_ptr, index_ptr, out_ptr, n, D, padding_idx, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    index = tl.load(index_ptr + i // D, mask=mask, other=0)
    value = tl.load(weight_ptr + index * D + i % D, mask=mask)
    tl.store(out_ptr + i, tl.where(index == padding_idx, 0.0, value.to(tl.float32)), mask=mask)


def flat(weight, indices, padding_idx, out):
    n = out.numel()
    flat_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](weight, indices, out, n, out.stride(0), padding_idx,
                                                               BLOCK=128)
