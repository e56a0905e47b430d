# Captures a CUDA graph on the first call's tensors and replays it ever after.
# verdict: wrong_answer
# expect: out is passed to no launch
import torch
# shared: triton
# shared: silu_kernel
graph = torch.cuda.CUDAGraph()
captured = []


def silu(x, out):
    if not captured:
        with torch.cuda.graph(graph):
            silu_kernel[(triton.cdiv(x.numel(), 8192),)](x, out, x.numel(), BLOCK=8192)
        captured.append(out)
    graph.replay()
