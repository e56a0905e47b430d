# A program of its own: arguments, logging, a plot and a table, all below the function that counts.
import argparse
import logging
import sys
import time

import torch
import triton
import triton.language as tl

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
log = logging.getLogger(__name__)


def parse(argv=None):
    parser = argparse.ArgumentParser(description="SiLU in Triton")
    parser.add_argument("--rows", type=int, default=4096)
    parser.add_argument("--cols", type=int, default=4096)
    parser.add_argument("--block", type=int, default=1024)
    parser.add_argument("--plot", action="store_true")
    return parser.parse_args(argv if argv is not None else [])


args = parse()


@triton.jit
def kernel(x_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    tl.store(out_ptr + offsets, x * tl.sigmoid(x), mask=mask)


def silu(x, out):
    n = x.numel()
    log.debug("%s elements on %s", n, x.device)
    started = time.perf_counter()
    kernel[(triton.cdiv(n, args.block),)](x, out, n, BLOCK=args.block)
    log.info("launched in %.1f us", (time.perf_counter() - started) * 1e6)


def measure(rows, cols):
    x = torch.randn(rows, cols, device="cuda")
    out = torch.empty_like(x)
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    silu(x, out)
    torch.cuda.synchronize()
    start.record()
    for _ in range(100):
        silu(x, out)
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / 100


def main():
    args = parse(sys.argv[1:])
    rows = []
    for size in (1024, 2048, 4096, 8192):
        ms = measure(size, size)
        rows.append((size, ms, 8 * size * size / ms * 1e-6))
        log.info("%d: %.3f ms, %.0f GB/s", *rows[-1])
    if args.plot:
        import matplotlib.pyplot as plt
        import pandas as pd

        pd.DataFrame(rows, columns=["size", "ms", "GB/s"]).plot(x="size", y="GB/s")
        plt.savefig("silu.png")


if __name__ == "__main__":
    main()
