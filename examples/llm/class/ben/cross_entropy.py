# verdict: accepted
import triton
import triton.language as tl


@triton.jit
def cross_entropy_kernel(logits_ptr, labels_ptr, loss_ptr, lse_ptr, V, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    logits_ptr += row * V
    label = tl.load(labels_ptr + row)
    lanes = tl.arange(0, BLOCK)
    top = tl.full((BLOCK,), -float("inf"), dtype=tl.float32)
    for first in range(0, V, BLOCK):
        x = tl.load(logits_ptr + first + lanes, mask=first + lanes < V, other=-float("inf"))
        top = tl.maximum(top, x.to(tl.float32))
    largest = tl.max(top, axis=0)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    picked = tl.zeros((BLOCK,), dtype=tl.float32)
    for first in range(0, V, BLOCK):
        x = tl.load(logits_ptr + first + lanes, mask=first + lanes < V, other=-float("inf")).to(tl.float32)
        total += tl.exp2((x - largest) * 1.4426950408889634)
        picked += tl.where(first + lanes == label, x, 0.0)
    lse = largest + tl.log2(tl.sum(total, axis=0)) * 0.6931471805599453
    tl.store(loss_ptr + row, lse - tl.sum(picked, axis=0))
    tl.store(lse_ptr + row, lse)


def cross_entropy(logits, labels, loss, lse):
    cross_entropy_kernel[(logits.shape[0],)](logits, labels, loss, lse, logits.shape[1], BLOCK=1024)
