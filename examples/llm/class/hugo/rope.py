# verdict: wrong_answer
# expect: where H and G differ
# never: a block, a loop
import torch
import triton
import triton.language as tl


@triton.jit
def rope_kernel(x_ptr, positions_ptr, cos_ptr, sin_ptr, heads, D: tl.constexpr, LANES: tl.constexpr):
    pid = tl.program_id(0)
    token = pid // heads
    base = pid.to(tl.int64) * D
    j = tl.arange(0, LANES)
    mask = j < D // 2
    position = tl.load(positions_ptr + token)
    c = tl.load(cos_ptr + position * (D // 2) + j, mask=mask, other=0.0)
    s = tl.load(sin_ptr + position * (D // 2) + j, mask=mask, other=0.0)
    a = tl.load(x_ptr + base + j, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(x_ptr + base + D // 2 + j, mask=mask, other=0.0).to(tl.float32)
    tl.store(x_ptr + base + j, (a * c - b * s).to(tl.bfloat16), mask=mask)
    tl.store(x_ptr + base + D // 2 + j, (b * c + a * s).to(tl.bfloat16), mask=mask)


def rope(q: torch.Tensor, k: torch.Tensor, positions: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> None:
    T, H, D = q.shape
    G = k.shape[1]
    lanes = triton.next_power_of_2(D // 2)
    rope_kernel[(T * H,)](q, positions, cos, sin, H, D=D, LANES=lanes)
    rope_kernel[(T * G,)](k, positions, cos, sin, H, D=D, LANES=lanes)
