"""Cross entropy of each row of logits: lse = log Σ exp(logits), loss = lse − the label's logit.

Bytes that must move: 2·M·V of logits, 8·M of labels, 8·M of loss and lse. FLOP: about 5 an element.
"""

import torch
import triton
import triton.language as tl

LANES, EACH = 256, 8
SMALL = 2048


@triton.jit
def short_rows_kernel(logits_ptr, labels_ptr, loss_ptr, lse_ptr, M, V, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """ROWS whole rows a program, in registers."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    lanes = tl.arange(0, BLOCK)[None, :]
    start = row.to(tl.int64) * V
    mask = (row < M)[:, None] & (lanes < V)
    x = tl.load(logits_ptr + start[:, None] + lanes, mask=mask, other=-float("inf")).to(tl.float32)
    # Rows beyond the end would be −∞ − (−∞), and are not stored.
    top = tl.max(x, axis=1)
    lse = top + tl.log(tl.sum(tl.exp(x - top[:, None]), axis=1))
    label = tl.load(labels_ptr + row, mask=row < M, other=0)
    logit = tl.load(logits_ptr + start + label, mask=row < M).to(tl.float32)
    tl.store(loss_ptr + row, lse - logit, mask=row < M)
    tl.store(lse_ptr + row, lse, mask=row < M)


@triton.jit
def long_row_kernel(logits_ptr, labels_ptr, loss_ptr, lse_ptr, V, LANES: tl.constexpr, EACH: tl.constexpr):
    """One program a row, in one pass over it: each lane takes EACH neighbours, of one load, at a time."""
    row = tl.program_id(0)
    start = row.to(tl.int64) * V
    places = tl.arange(0, LANES)[:, None] * EACH + tl.arange(0, EACH)[None, :]
    logit = tl.load(logits_ptr + start + tl.load(labels_ptr + row)).to(tl.float32)
    # Each lane has a maximum of its own, to which its sum belongs. The first block is full: no lane stays at −∞.
    x = tl.load(logits_ptr + start + places).to(tl.float32)
    top = tl.max(x, axis=1)
    total = tl.sum(tl.exp(x - top[:, None]), axis=1)
    for first in range(LANES * EACH, V, LANES * EACH):
        x = tl.load(logits_ptr + start + first + places, mask=first + places < V, other=-float("inf")).to(tl.float32)
        larger = tl.maximum(top, tl.max(x, axis=1))
        total = total * tl.exp(top - larger) + tl.sum(tl.exp(x - larger[:, None]), axis=1)
        top = larger
    largest = tl.max(top, axis=0)
    lse = largest + tl.log(tl.sum(total * tl.exp(top - largest), axis=0))
    tl.store(loss_ptr + row, lse - logit)
    tl.store(lse_ptr + row, lse)


def cross_entropy(logits: torch.Tensor, labels: torch.Tensor, loss: torch.Tensor, lse: torch.Tensor) -> None:
    """logits: (M, V), bfloat16, labels: (M,), int64, loss, lse: (M,), float32, all contiguous."""
    M, V = logits.shape
    if V >= LANES * EACH:
        long_row_kernel[(M,)](logits, labels, loss, lse, V, LANES=LANES, EACH=EACH, num_warps=4)
        return
    block = triton.next_power_of_2(V)
    together = max(SMALL // block, 1)
    num_warps = max(together * block // 1024, 1)
    short_rows_kernel[(triton.cdiv(M, together),)](
        logits, labels, loss, lse, M, V, ROWS=together, BLOCK=block, num_warps=num_warps)
