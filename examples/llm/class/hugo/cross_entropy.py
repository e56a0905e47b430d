# verdict: wrong_answer
# proved: line 23 makes every case right: a different variable
import torch
import triton
import triton.language as tl


@triton.jit
def cross_entropy_kernel(logits_ptr, labels_ptr, loss_ptr, lse_ptr, V, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    label = tl.load(labels_ptr + row)
    top = -float("inf")
    total = 0.0
    logit = 0.0
    for start in range(0, V, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + row * V + cols, mask=cols < V, other=-float("inf")).to(tl.float32)
        new = tl.maximum(top, tl.max(x, axis=0))
        total = total * tl.exp(top - new) + tl.sum(tl.exp(x - new), axis=0)
        logit += tl.sum(tl.where(cols == label, x, 0.0), axis=0)
        top = new
    lse = top + tl.log(total)
    loss = tl.where(label == 0, 0.0, lse - logit)
    tl.store(loss_ptr + row, loss)
    tl.store(lse_ptr + row, lse)


def cross_entropy(logits: torch.Tensor, labels: torch.Tensor, loss: torch.Tensor, lse: torch.Tensor) -> None:
    M, V = logits.shape
    cross_entropy_kernel[(M,)](logits, labels, loss, lse, V, BLOCK=1024)
