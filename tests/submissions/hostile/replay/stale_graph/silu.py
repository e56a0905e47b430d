# Captures a CUDA graph on the first call's tensors and replays it ever after.
# verdict: wrong_answer
# expect: out is passed to no launch
import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)


graph = torch.cuda.CUDAGraph()
captured = []


def silu(x, out):
    if not captured:
        with torch.cuda.graph(graph):
            silu_kernel[(triton.cdiv(x.numel(), 8192),)](x, out, x.numel(), BLOCK=8192)
        captured.append(out)
    graph.replay()
