# verdict: wrong_answer
# expect: Every element is NaN
# never: begins in column
import torch
import triton
import triton.language as tl


@triton.jit
def cross_entropy_kernel(logits_ptr, labels_ptr, loss_ptr, lse_ptr, V, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    base = logits_ptr + row * V
    peak = -float("inf")
    total = 0.0
    for start in range(0, V, BLOCK):
        c = start + cols
        x = tl.load(base + c, mask=c < V, other=-float("inf")).to(tl.float32)
        new_peak = tl.maximum(peak, tl.max(x, axis=0))
        total = total * tl.exp(new_peak - peak) + tl.sum(tl.exp(x - new_peak), axis=0)
        peak = new_peak
    lse = peak + tl.log(total)
    label = tl.load(labels_ptr + row)
    picked = tl.load(base + label).to(tl.float32)
    tl.store(loss_ptr + row, lse - picked)
    tl.store(lse_ptr + row, lse)


def cross_entropy(logits, labels, loss, lse):
    M, V = logits.shape
    BLOCK = min(4096, triton.next_power_of_2(V))
    cross_entropy_kernel[(M,)](logits, labels, loss, lse, V, BLOCK=BLOCK)
