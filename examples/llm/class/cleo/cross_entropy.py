# verdict: wrong_answer
# expect: infinite
import triton
import triton.language as tl


@triton.jit
def cross_entropy_kernel(logits_ptr, labels_ptr, loss_ptr, lse_ptr, V, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    start = row.to(tl.int64) * V
    total = 0.0
    for first in range(0, V, BLOCK):
        cols = first + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + start + cols, mask=cols < V, other=-float("inf")).to(tl.float32)
        total += tl.sum(tl.exp(x), axis=0)
    lse = tl.log(total)
    label = tl.load(labels_ptr + row)
    logit = tl.load(logits_ptr + start + label).to(tl.float32)
    tl.store(loss_ptr + row, lse - logit)
    tl.store(lse_ptr + row, lse)


def cross_entropy(logits, labels, loss, lse):
    M, V = logits.shape
    cross_entropy_kernel[(M,)](logits, labels, loss, lse, V, BLOCK=min(triton.next_power_of_2(V), 2048))
