# Libraries that only the benchmark needs, imported first of all: one of them is not there for the grader.
import pandas as pd
import seaborn as sns
import torch
# shared: triton
@triton.jit
def _silu(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, x * tl.sigmoid(x), mask=i < n)


def silu(x, out):
    n = x.numel()
    _silu[(triton.cdiv(n, 4096),)](x, out, n, BLOCK=4096, num_warps=8)


def bench():
    rows = []
    for size in (256, 512, 1024, 2048, 4096):
        x = torch.randn(size, size, device="cuda")
        out = torch.empty_like(x)
        rows.append({"size": size, "ms": triton.testing.do_bench(lambda: silu(x, out))})
    table = pd.DataFrame(rows)
    sns.lineplot(table, x="size", y="ms").get_figure().savefig("silu.png")
    print(table)
