"""The reference kernels against PyTorch on the GPU of this machine, and against what the machine can do.

    PYTHONPATH=. python benchmarks/kernels.py [--quick] [--only silu,gemm]

Prints Markdown. Needs PyTorch and Triton alone. Exit status 1 if a kernel gives a wrong answer.
"""

from __future__ import annotations

import argparse
import importlib.util
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch
import triton
from torch import Tensor
from torch.nn import functional

from grader.course.catalogue import assignments
from grader.home import ROOT

DEVICE = "cuda"
EPS = 1e-5
# Working sets of a row together, so that the caches hold nothing of the call before.
SET_BYTES = 512 * 2**20
WASH_BYTES = 256 * 2**20
BATCH_US = 4000.0
ROUNDS, QUICK_ROUNDS = 60, 10
HOST_ROUNDS, QUICK_HOST_ROUNDS = 16, 6  # with the host's caches emptied before every batch
EVICT_BYTES, MATRIX_BYTES = 2**30, 2**32
SHOWN = ("ours", "eager", "compiled")

Call = Callable[[int], object]


@dataclass(frozen=True)
class Contest:
    """Candidates of a row by name: ours, eager, compiled, roof. Each is called with the number of the call."""

    candidates: dict[str, Call]
    timer: str = "events"
    calls: int = 0
    prepare: Callable[[], None] = lambda: None
    verify: Callable[[], None] = lambda: None


@dataclass(frozen=True)
class Row:
    """A line of the table. `goals`: ratio to the better of eager and compiled, and share of the roof."""

    kernel: str
    shape: str
    make: Callable[[], Contest]
    goals: tuple[float | None, float | None] = (None, None)
    flop: float = 0.0


@dataclass
class TimedRow:
    row: Row
    us: dict[str, float]
    ratio: float
    spread: float
    better: str
    roof: float


def reference(name: str, folder: Path = ROOT / "reference") -> Any:
    """Return the module `<name>.py` of the folder, loaded by its path."""
    spec = importlib.util.spec_from_file_location(f"reference.{name}", folder / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def compiled(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return torch.compile(function, dynamic=False)


def random(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(*shape, device=DEVICE, dtype=dtype)


def silu(M: int, N: int) -> Contest:
    ours, x, out = reference("silu").silu, random(M, N), torch.empty(M, N, device=DEVICE)
    fused = compiled(functional.silu)
    return Contest({
        "ours": lambda i: ours(x, out),
        "eager": lambda i: torch.ops.aten.silu.out(x, out=out),
        "compiled": lambda i: fused(x),
        "roof": lambda i: out.copy_(x),
    })


def rmsnorm_matrix(rows: int, cols: int) -> Contest:
    ours = reference("rmsnorm_matrix").rmsnorm_matrix
    x, weight, out = random(rows, cols), random(cols), torch.empty(rows, cols, device=DEVICE)
    fused = compiled(lambda x, weight: functional.rms_norm(x, (cols,), weight, EPS))
    return Contest({
        "ours": lambda i: ours(x, weight, EPS, out),
        "eager": lambda i: functional.rms_norm(x, (cols,), weight, EPS),
        "compiled": lambda i: fused(x, weight),
        "roof": lambda i: out.copy_(x),
    })


def rmsnorm_vector(n: int, timer: str) -> Contest:
    ours = reference("rmsnorm_vector").rmsnorm_vector
    count = max(2, min(64, SET_BYTES // (12 * n)))
    sets = [(random(n), random(n), torch.empty(n, device=DEVICE)) for _ in range(count)]
    fused = compiled(lambda x, weight: x * torch.rsqrt(x.square().mean() + EPS) * weight)

    def eager(i: int) -> None:
        # F.rms_norm gives the whole vector to one block of threads, and is far behind these lines.
        x, weight, out = sets[i % count]
        torch.mul(x, torch.rsqrt(x.square().mean() + EPS), out=out)
        out.mul_(weight)

    def run(i: int) -> None:
        x, weight, out = sets[i % count]
        ours(x, weight, EPS, out)

    return Contest({
        "ours": run,
        "eager": eager,
        "compiled": lambda i: fused(*sets[i % count][:2]),
        "roof": lambda i: torch.add(sets[i % count][0], sets[i % count][1], out=sets[i % count][2]),
    }, timer=timer, calls=count if count > 8 else 0)


def transpose(M: int, N: int) -> Contest:
    ours, x, out = reference("transpose").transpose, random(M, N), torch.empty(N, M, device=DEVICE)
    fused = compiled(lambda x: x.t().contiguous())
    return Contest({
        "ours": lambda i: ours(x, out),
        "eager": lambda i: out.copy_(x.t()),
        "compiled": lambda i: fused(x),
        "roof": lambda i: out.view(-1).copy_(x.view(-1)),
    })


def gemm(M: int, N: int, K: int) -> Contest:
    ours = reference("gemm").gemm
    a, b, out = (random(*shape, dtype=torch.float16) for shape in ((M, K), (K, N), (M, N)))
    fused = compiled(torch.mm)
    return Contest({
        "ours": lambda i: ours(a, b, out),
        "eager": lambda i: torch.mm(a, b, out=out),
        "compiled": lambda i: fused(a, b),
    })


def first_column(rows: int, cols: int, host: str) -> Contest:
    """`host`: "written" (by one thread, just before the batch), "evicted" (1 GiB written since), or "pinned".

    Every call of a batch has a matrix of its own with new values in its first column; calls that are not timed have the
    last one, and find the host's threads awake as calls that follow each other do.
    """
    ours = reference("copy_first_column").copy_first_column
    count = max(8, MATRIX_BYTES // (4 * rows * cols))
    matrices = [torch.ones(rows, cols, pin_memory=host == "pinned") for _ in range(count + 1)]
    outs = [torch.empty(rows, device=DEVICE) for _ in range(count + 1)]
    across = torch.empty(rows, pin_memory=True)
    evicting = torch.empty(EVICT_BYTES // 4) if host == "evicted" else None

    def prepare() -> None:
        for matrix, out in zip(matrices, outs, strict=True):
            matrix[:, 0] = torch.randn(rows)
            out.fill_(float("nan"))
        if evicting is not None:
            evicting.fill_(time.perf_counter())

    def verify() -> None:
        for matrix, out in zip(matrices, outs, strict=True):
            assert torch.equal(out.cpu(), matrix[:, 0]), "the first column is wrong"

    return Contest({
        "ours": lambda i: ours(matrices[i], outs[i]),
        "eager": lambda i: outs[i].copy_(matrices[i][:, 0]),
        "roof": lambda i: outs[i].copy_(across, non_blocking=True),
    }, timer="host", calls=count, prepare=prepare, verify=verify)


def table_rows() -> Iterator[Row]:
    for M, N in ((8192, 8192), (16384, 4096)):
        yield Row("silu", f"{M}×{N}", partial(silu, M, N), (1.0, 0.99))
    for M, N in ((8192, 8192), (32768, 1024)):
        yield Row("rmsnorm_matrix", f"{M}×{N}", partial(rmsnorm_matrix, M, N), (1.0, None))
    for power in (20, 24):
        for timer, how in (("graph", "replayed as a graph"), ("events", "called from Python")):
            yield Row("rmsnorm_vector", f"2^{power}, {how}", partial(rmsnorm_vector, 2**power, timer), (1.3, None))
    for M, N in ((8192, 8192), (16384, 4096)):
        yield Row("transpose", f"{M}×{N}", partial(transpose, M, N), (1.07, 0.99))
    yield Row("transpose", "8191×8193", partial(transpose, 8191, 8193), (None, 0.90))
    sizes = {(4096, 4096, 4096): 1.0, (8192, 8192, 8192): 1.03, (8192, 8192, 512): 0.95, (2048, 1999, 2053): None,
             (1031, 1031, 4096): None, (17, 4099, 8191): None}
    for (M, N, K), goal in sizes.items():
        yield Row("gemm", f"{M}×{N}×{K}", partial(gemm, M, N, K), (goal, None), 2.0 * M * N * K)
    for rows, cols in ((8192, 8192), (8192, 32768)):
        for host in ("written", "evicted"):
            yield Row("copy_first_column", f"{rows}×{cols}, pageable, {host}",
                      partial(first_column, rows, cols, host), (2.0, None))
    yield Row("copy_first_column", "8192×8192, pinned", partial(first_column, 8192, 8192, "pinned"))


def measure(contest: Contest, rounds: int) -> dict[str, list[float]]:
    """Return the microseconds of a call of each candidate, a figure for each batch; their order alternates."""
    batches = {name: _batch(contest, call) for name, call in contest.candidates.items()}
    times: dict[str, list[float]] = {name: [] for name in batches}
    for turn in range(2 * (rounds // 2)):
        for name in list(batches)[:: -1 if turn % 2 else 1]:
            times[name].append(batches[name]())
    return times


def _batch(contest: Contest, call: Call) -> Callable[[], float]:
    _by_host(call, 4)
    calls = contest.calls or max(3, min(64, round(BATCH_US / _by_host(call, 4))))
    start: Any = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
    stop: Any = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
    graph = _captured(call, calls) if contest.timer == "graph" else None
    wash = _wash()

    def timed() -> float:
        # The lines that one candidate leaves in the cache can slow down the next for a whole batch.
        wash[0].copy_(wash[1])
        for i in range(2):
            call(i)
        start.record()
        if graph is not None:
            graph.replay()
        else:
            for i in range(calls):
                call(i)
        stop.record()
        stop.synchronize()
        return float(start.elapsed_time(stop)) * 1000 / calls

    def timed_by_host() -> float:
        contest.prepare()
        for _ in range(3):
            call(-1)
        took = _by_host(call, calls)
        if call is not contest.candidates["roof"]:
            contest.verify()
        return took

    return timed_by_host if contest.timer == "host" else timed


def _by_host(call: Call, calls: int) -> float:
    """Return microseconds of a call by the host's clock; the host waits for the device before and after."""
    torch.cuda.synchronize()
    began = time.perf_counter()
    for i in range(calls):
        call(i)
    torch.cuda.synchronize()
    return (time.perf_counter() - began) * 1e6 / calls


@cache
def _wash() -> tuple[Tensor, Tensor]:
    return random(WASH_BYTES // 4), random(WASH_BYTES // 4)


def _captured(call: Call, calls: int) -> torch.cuda.CUDAGraph:
    graph = torch.cuda.CUDAGraph()
    stream: Any = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        call(0)
    torch.cuda.synchronize()
    with torch.cuda.graph(graph, stream=stream):
        for i in range(calls):
            call(i)
    graph.replay()
    return graph


def timed(row: Row, rounds: int) -> TimedRow:
    times = measure(row.make(), rounds)
    us = {name: statistics.median(values) for name, values in times.items()}
    better = min((name for name in us if name in ("eager", "compiled")), key=us.__getitem__)
    # A batch and the one of the next round, in opposite order, together: a drift of clocks cancels.
    pairs = range(0, len(times["ours"]), 2)
    ratios = [sum(times[better][p : p + 2]) / sum(times["ours"][p : p + 2]) for p in pairs]
    quarters = statistics.quantiles(ratios, n=4)
    ratio = statistics.median(ratios)
    roof = us["roof"] / us["ours"] if "roof" in us else float("nan")
    return TimedRow(row, us, ratio, (quarters[2] - quarters[0]) / 2, better, roof)


EXACT, SINGLE, HALF = 0.0, 1e-6, 1e-3
AWKWARD = {
    "silu": ((1, 1), (7, 1009), (4099, 4093), (8191, 8193)),
    "rmsnorm_matrix": ((1, 1), (1, 1009), (149, 31), (70001, 33), (5, 20011), (8191, 8193)),
    "rmsnorm_vector": ((1,), (7,), (1009,), (65537,), (2**20,), (7999993,), (2**24 + 3,)),
    "transpose": ((1, 1), (1, 37), (41, 1), (64, 64), (260, 132), (2097169, 3), (8191, 8193)),
    "gemm": ((1, 1, 1), (5, 9, 7), (16, 16, 16), (264, 520, 72), (1000, 1000, 1000), (4104, 136, 2056),
             (17, 4099, 8191), (1031, 1031, 4096), (2048, 1999, 2053)),
    "copy_first_column": ((1, 1), (1, 7), (7, 1), (5, 9), (1009, 37), (8192, 100), (70001, 5), (1000003, 17)),
}


def errors(name: str) -> Iterator[tuple[str, float, float]]:
    """Yield sizes, distance ‖ours − oracle‖ / ‖oracle‖ and its limit; NaN or infinity if anything was not written."""
    module = reference(name)
    for sizes in AWKWARD[name]:
        arguments: tuple[Any, ...] = (random(*sizes),)
        shape, dtype, limit = sizes, torch.float32, SINGLE
        if name.startswith("rmsnorm"):
            arguments = (*arguments, random(sizes[-1]), EPS)
        elif name == "transpose":
            shape, limit = sizes[::-1], EXACT
        elif name == "copy_first_column":
            arguments, shape, limit = (arguments[0].cpu(),), sizes[:1], EXACT
        elif name == "gemm":
            M, N, K = sizes
            dtype, shape, limit = torch.float16, (M, N), HALF
            arguments = random(M, K, dtype=dtype), random(K, N, dtype=dtype)
        out = torch.full(shape, float("nan"), device=DEVICE, dtype=dtype)
        getattr(module, name)(*arguments, out)
        expected = assignments()[name].oracle(*arguments).to(DEVICE)
        yield "×".join(map(str, sizes)), ((out.double() - expected).norm() / expected.norm()).item(), limit


def state() -> str:
    """Return clocks and power as they are now, read only."""
    if shutil.which("nvidia-smi") is None:
        return "nvidia-smi not found"
    query = "driver_version,clocks.sm,clocks.mem,clocks.max.sm,power.draw,temperature.gpu"
    command = ["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader", "-i", str(torch.cuda.current_device())]
    values = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False).stdout.strip()
    return ", ".join(f"{n} {v.strip()}" for n, v in zip(query.split(","), values.split(","), strict=False))


def verdict(result: TimedRow) -> str:
    ratio, roof = result.row.goals
    wanted = [] if ratio is None else [f"{ratio:.2f}×"]
    wanted += [] if roof is None else [f"{roof:.0%} of the roof"]
    met = (ratio is None or result.ratio >= ratio) and (roof is None or result.roof >= roof)
    return f"{', '.join(wanted)}: {'met' if met else 'missed'}" if wanted else ""


def main() -> int:
    parser = argparse.ArgumentParser(description="the reference kernels against PyTorch")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, for a first impression")
    parser.add_argument("--only", default="", help="assignments, with commas between")
    options = parser.parse_args()
    only = set(filter(None, options.only.split(",")))
    torch.manual_seed(0)
    print(f"`PYTHONPATH=. python benchmarks/kernels.py {' '.join(sys.argv[1:])}`\n")
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, triton {triton.__version__}, "
          f"{torch.get_num_threads()} host threads. Before: {state()}.")
    wrong = 0
    print("\n| kernel | distance to the oracle, by size |\n|---|---|")
    for name in AWKWARD:
        if not only or name in only:
            distances = list(errors(name))
            bad = {sizes for sizes, distance, limit in distances if not distance <= limit}
            wrong += len(bad)
            print(f"| {name} | " + ", ".join(f"{s}: {d:.0e}{' WRONG' * (s in bad)}" for s, d, _ in distances) + " |")
    rows = []
    for row in table_rows():
        if only and row.kernel not in only:
            continue
        on_host = row.kernel == "copy_first_column"
        rounds = (QUICK_HOST_ROUNDS, HOST_ROUNDS) if on_host else (QUICK_ROUNDS, ROUNDS)
        rows.append(timed(row, rounds[not options.quick]))
        torch.cuda.empty_cache()
        print(f"{row.kernel} {row.shape}: {rows[-1].ratio:.3f}", file=sys.stderr, flush=True)
    rates = [result.row.flop / us for result in rows for us in result.us.values()]
    print("\n| kernel | shape | ours µs | eager µs | compiled µs | to the better | spread | of the roof | goal |")
    print("|---|---|---|---|---|---|---|---|---|")
    for result in rows:
        if result.row.flop:
            result.roof = result.row.flop / result.us["ours"] / max(rates)
        times = " | ".join(f"{result.us[name]:.4g}" if name in result.us else "" for name in SHOWN)
        print(f"| {result.row.kernel} | {result.row.shape} | {times} | {result.ratio:.3f} {result.better} | "
              f"±{result.spread:.3f} | {result.roof:.1%} | {verdict(result)} |")
    print("\nMedians. Spread: half the distance between the quarters of the ratios of pairs of batches. Every batch on "
          "the device begins after a copy of 256 MiB, which evens out what the caches hold, and two calls untimed.")
    print(f"\nBest matrix product: {max(rates) / 1e6:.0f} TFLOP/s." if max(rates, default=0) else "")
    print(f"After: {state()}.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
