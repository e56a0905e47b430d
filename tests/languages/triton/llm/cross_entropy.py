# mypy: disable-error-code="untyped-decorator, no-untyped-def, no-untyped-call"
"""Cross entropy of rows of logits and int64 labels: the loss and the logarithm of the sum of exponentials."""

import torch
import triton
import triton.language as tl


@triton.jit
def online_kernel(logits_ptr, labels_ptr, loss_ptr, lse_ptr, V, stride, ignore_index, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    label = tl.load(labels_ptr + row)
    logits_ptr += row * stride
    m = float("-inf")
    d = 0.0
    for i in range(0, V, BLOCK):
        cols = i + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + cols, mask=cols < V, other=float("-inf")).cast(tl.float32)
        top = tl.max(x)
        m_new = tl.maximum(m, top)
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new))
        m = m_new
    lse = m + tl.log(d)
    tl.store(lse_ptr + row, lse)
    if label == ignore_index:
        tl.store(loss_ptr + row, 0.0)
    else:
        tl.store(loss_ptr + row, lse - tl.load(logits_ptr + label).to(tl.float32))


def online(logits, labels, ignore_index, loss, lse):
    assert labels.dtype == torch.int64 and labels.dtype.itemsize == 8
    BT, V = logits.shape
    online_kernel[(BT,)](logits, labels, loss, lse, V, logits.stride(-2), ignore_index,
                         BLOCK=min(64, triton.next_power_of_2(V)), num_warps=4)


@triton.jit
def whole_kernel(logits_ptr, labels_ptr, loss_ptr, lse_ptr, M, V, ignored: tl.constexpr, ROWS: tl.constexpr,
                 COLS: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.arange(0, COLS)
    inside = rows < M
    x = tl.load(logits_ptr + rows[:, None] * V + cols[None, :], mask=inside[:, None] & (cols[None, :] < V),
                other=-float("inf")).to(tl.float32)
    labels = tl.load(labels_ptr + rows, mask=inside, other=ignored)
    top = tl.max(x, 1)
    lse = tl.log2(tl.sum(tl.exp2((x - top[:, None]) * 1.4426950408889634), 1)) * 0.6931471805599453 + top
    picked = tl.sum(tl.where(cols[None, :] == labels[:, None], x, 0.0), 1)
    tl.store(loss_ptr + rows, tl.where(labels == ignored, 0.0, lse - picked), mask=inside)
    tl.store(lse_ptr + rows, lse, mask=inside)


def whole(logits, labels, ignore_index, loss, lse):
    M, V = logits.shape
    whole_kernel[triton.cdiv(M, 2), 1, 1](logits, labels, loss, lse, M, V, int(ignore_index), 2,
                                          triton.next_power_of_2(V))


@triton.jit
def part_kernel(logits_ptr, parts_ptr, V, CHUNKS, BLOCK: tl.constexpr):
    row, chunk = tl.program_id(1), tl.program_id(0)
    cols = chunk * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(logits_ptr + row * V + cols, mask=cols < V, other=float("-inf")).to(tl.float32)
    top = tl.max(x, axis=0)
    tl.store(parts_ptr + (row * CHUNKS + chunk) * 2, top)
    tl.store(parts_ptr + (row * CHUNKS + chunk) * 2 + 1, tl.sum(tl.exp(x - top), axis=0))


@triton.jit
def joined(top_a, sum_a, top_b, sum_b):
    top = tl.maximum(top_a, top_b)
    # A side without any element has no maximum.
    a = tl.where(top_a == float("-inf"), 0.0, sum_a * tl.exp(top_a - top))
    b = tl.where(top_b == float("-inf"), 0.0, sum_b * tl.exp(top_b - top))
    return top, a + b


@triton.jit
def join_kernel(logits_ptr, labels_ptr, parts_ptr, loss_ptr, lse_ptr, V, CHUNKS, ignore_index, WIDTH: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, WIDTH)
    at = parts_ptr + row * CHUNKS * 2 + i * 2
    top = tl.load(at, mask=i < CHUNKS, other=float("-inf"))
    total = tl.load(at + 1, mask=i < CHUNKS, other=0.0)
    top, total = tl.reduce((top, total), 0, joined)
    lse = tl.log(total) + top
    label = tl.load(labels_ptr + row)
    kept = label != ignore_index
    logit = tl.load(logits_ptr + row * V + label, mask=kept, other=0.0).to(tl.float32)
    tl.store(loss_ptr + row, lse - logit if kept else 0.0)
    tl.store(lse_ptr + row, lse)


def split(logits, labels, ignore_index, loss, lse):
    M, V = logits.size()
    chunks = triton.cdiv(V, 32)
    parts = logits.new_empty((M, chunks, 2), dtype=torch.float32)
    part_kernel[(chunks, M)](logits, parts, V, chunks, BLOCK=32)
    join_kernel[(M,)](logits, labels, parts, loss, lse, V, chunks, ignore_index,
                      WIDTH=triton.next_power_of_2(chunks))
