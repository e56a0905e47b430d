"""The reference kernels of examples/llm against PyTorch on the GPU of this machine.

    PYTHONPATH=. python -m benchmarks.llm [--only flash_attention] [--rounds 40] [--tutorial 06-fused-attention.py]

Prints Markdown. Every answer is compared with PyTorch's in float64 first; exit status 1 if one is wrong. With the file
of Triton's tutorial of fused attention (python/tutorials of its repository) that kernel is timed beside ours.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
import triton
from torch import Tensor
from torch.nn import functional

from benchmarks.kernels import DEVICE, Contest, Row, compiled, random, reference, state, timed
from grader.course.cases import shape_of
from grader.kit.author import Case

COURSE = Path(__file__).parents[1] / "examples" / "llm"
FOLDER = COURSE / "reference"
EPS = 1e-5
TOKENS, WIDTH = 16384, 2048
"""B · S and H · D of every attention."""
COLUMNS = ("ours", "eager", "compiled", "tutorial", "roof")
aten = torch.ops.aten


@dataclass(frozen=True)
class MismatchError(Exception):
    about: str


def close(about: str, got: Tensor, expected: Tensor, allowed: float) -> None:
    """Raise MismatchError if they are further apart than `allowed` of the largest expected number, or one is NaN."""
    distance = ((got.double() - expected).abs().max() / expected.abs().max()).item()
    if not distance <= allowed:
        raise MismatchError(f"{about}: {distance:.1e}")


def layernorm_forward(M: int, N: int) -> Contest:
    ours = reference("layernorm_forward", FOLDER).layernorm_forward
    x, weight, bias, out, mean, rstd = 2 * random(M, N) + 1, random(N), random(N), random(M, N), random(M), random(M)
    ours(x, weight, bias, EPS, out, mean, rstd)
    right = aten.native_layer_norm(x.double(), [N], weight.double(), bias.double(), EPS)
    for name, got, expected in zip(("out", "mean", "rstd"), (out, mean, rstd), right, strict=True):
        close(f"layernorm_forward: {name}", got, expected.view(got.shape), 1e-6)
    fused = compiled(lambda x, weight, bias: aten.native_layer_norm(x, [N], weight, bias, EPS))
    return Contest({
        "ours": lambda i: ours(x, weight, bias, EPS, out, mean, rstd),
        "eager": lambda i: aten.native_layer_norm(x, [N], weight, bias, EPS),
        "compiled": lambda i: fused(x, weight, bias),
        "roof": lambda i: out.copy_(x),
    })


def layernorm_backward(M: int, N: int) -> Contest:
    ours = reference("layernorm_backward", FOLDER).layernorm_backward
    dout, x, dx = random(M, N), 2 * random(M, N) + 1, random(M, N)
    weight, dweight, dbias = random(N), random(N), random(N)
    mean, rstd = x.mean(1), torch.rsqrt(x.var(1, correction=0) + EPS)

    def theirs(dout: Tensor, x: Tensor, weight: Tensor, mean: Tensor, rstd: Tensor) -> Any:
        return aten.native_layer_norm_backward(
            dout, x, [N], mean[:, None], rstd[:, None], weight, weight, [True, True, True])

    ours(dout, x, weight, mean, rstd, dx, dweight, dbias)
    right = theirs(*(t.double() for t in (dout, x, weight, mean, rstd)))
    for name, got, expected in zip(("dx", "dweight", "dbias"), (dx, dweight, dbias), right, strict=True):
        close(f"layernorm_backward: {name}", got, expected, 2e-6)
    fused = compiled(theirs)
    return Contest({
        "ours": lambda i: ours(dout, x, weight, mean, rstd, dx, dweight, dbias),
        "eager": lambda i: theirs(dout, x, weight, mean, rstd),
        "compiled": lambda i: fused(dout, x, weight, mean, rstd),
        "roof": lambda i: torch.add(dout, x, out=dx),
    })


def cross_entropy(M: int, V: int) -> Contest:
    ours = reference("cross_entropy", FOLDER).cross_entropy
    logits, labels = 3 * random(M, V, dtype=torch.bfloat16), torch.randint(V, (M,), device=DEVICE)
    loss, lse = random(M), random(M)

    def eager(i: int) -> Any:
        # log_softmax converts as it reads; a logsumexp of a float32 copy takes longer.
        loss = -torch.log_softmax(logits, 1, dtype=torch.float32).gather(1, labels[:, None])
        return loss, loss + logits.gather(1, labels[:, None])

    def theirs(logits: Tensor, labels: Tensor) -> Any:
        lse = torch.logsumexp(logits.float(), 1)
        return lse - logits.float().gather(1, labels[:, None])[:, 0], lse

    ours(logits, labels, loss, lse)
    some = slice(0, 256)
    right = torch.logsumexp(logits[some].double(), 1)
    close("cross_entropy: lse", lse[some], right, 1e-6)
    close("cross_entropy: loss", loss[some], right - logits[some].double().gather(1, labels[some, None])[:, 0], 1e-6)
    fused = compiled(theirs)
    return Contest({
        "ours": lambda i: ours(logits, labels, loss, lse), "eager": eager,
        "compiled": lambda i: fused(logits, labels),
    })


def exact_attention(q: Tensor, k: Tensor, v: Tensor, causal: bool, scale: float) -> tuple[Tensor, Tensor]:
    scores = q.double() @ k.double().transpose(-1, -2) * scale
    if causal:
        scores.masked_fill_(torch.ones_like(scores, dtype=torch.bool).triu(1), -float("inf"))
    return torch.softmax(scores, -1) @ v.double(), torch.logsumexp(scores, -1)


def flash_attention(S: int, D: int, causal: bool, dtype: torch.dtype, tutorial: Any) -> Contest:
    ours = reference("flash_attention", FOLDER).flash_attention
    B, H, scale = TOKENS // S, WIDTH // D, D**-0.5
    for rows in (S, 337):
        q, k, v, out = (random(1, 2, rows, D, dtype=dtype) for _ in range(4))
        lse = random(1, 2, rows)
        ours(q, k, v, causal, scale, out, lse)
        right = exact_attention(q, k, v, causal, scale)
        close(f"flash_attention {S}×{D}: out", out, right[0], 4 * torch.finfo(dtype).eps)
        close(f"flash_attention {S}×{D}: lse", lse, right[1], 1e-6)
    q, k, v, out = (random(B, H, S, D, dtype=dtype) for _ in range(4))
    lse = random(B, H, S)
    candidates: dict[str, Callable[[int], object]] = {
        "ours": lambda i: ours(q, k, v, causal, scale, out, lse),
        "eager": lambda i: functional.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale),
    }
    if tutorial is not None and dtype == torch.float16:
        candidates["tutorial"] = lambda i: tutorial.attention(q, k, v, causal, scale, False)
    return Contest(candidates)


def assigned(name: str, case: Case) -> Contest:
    """Return a timed case of an assignment, with its own inputs, right answer and baselines."""
    assignment = reference("assignment", COURSE / "assignments" / name).ASSIGNMENT
    baseline = reference("baseline", COURSE / "assignments" / name)
    ours = getattr(reference(name, FOLDER), name)
    inputs = assignment.make_inputs(case, torch.Generator(DEVICE).manual_seed(0))
    given = {key: value.clone() if isinstance(value, Tensor) else value for key, value in inputs.items()}
    arguments = {p.name: given[p.name] if p.name in given else torch.empty(
        shape_of(p, case), dtype=getattr(torch, p.dtype), device=DEVICE) for p in assignment.parameters}
    ours(**arguments)
    for about in assignment.views():
        expected = about.oracle(**inputs).double()
        allowed = 0.0 if about.tolerance is None else about.tolerance(inputs, expected)
        wrong = ~((arguments[about.output.name].double() - expected).abs() <= allowed)
        if bool(wrong.any()):
            raise MismatchError(f"{name}: {about.output.name}: {int(wrong.sum()):,} elements")
    return Contest({
        "ours": lambda i: ours(**arguments), "eager": lambda i: baseline.eager(**arguments),
        "compiled": lambda i: baseline.compiled(**arguments),
    })


def table_rows(tutorial: Any) -> Iterator[Row]:
    for M, N in ((8192, 8192), (16384, 4096), (32768, 1024)):
        yield Row("layernorm_forward", f"{M}×{N}", partial(layernorm_forward, M, N), (1.0, None))
        yield Row("layernorm_backward", f"{M}×{N}", partial(layernorm_backward, M, N), (1.0, None))
    for M, V in ((8192, 32768), (4096, 128256)):
        yield Row("cross_entropy", f"{M}×{V}", partial(cross_entropy, M, V), (1.0, None))
    for name in ("embedding", "quantize_rows", "rope", "topk"):
        for case in reference("assignment", COURSE / "assignments" / name).ASSIGNMENT.timed:
            yield Row(name, case.name, partial(assigned, name, case), (1.0, None))
    half, brain = torch.float16, torch.bfloat16
    for S, D, dtype in (*((S, D, half) for D in (64, 128) for S in (1024, 2048, 4096, 8192)), (4096, 128, brain)):
        for causal in (False, True):
            name = f"B {TOKENS // S}, H {WIDTH // D}, S {S}, D {D}{', causal' * causal}, {str(dtype)[6:]}"
            yield Row("flash_attention", name, partial(flash_attention, S, D, causal, dtype, tutorial), (0.8, None),
                      4.0 * TOKENS * WIDTH * S / (1 + causal))


def main() -> int:
    parser = argparse.ArgumentParser(description="the reference kernels of examples/llm against PyTorch")
    parser.add_argument("--only", default="", help="assignments, with commas between")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--tutorial", type=Path, help="the file 06-fused-attention.py of Triton's repository")
    options = parser.parse_args()
    only = set(filter(None, options.only.split(",")))
    torch.manual_seed(0)
    tutorial = options.tutorial and reference(options.tutorial.stem, options.tutorial.parent)
    print(f"`PYTHONPATH=. python -m benchmarks.llm {' '.join(sys.argv[1:])}`\n")
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, triton {triton.__version__}. Before: {state()}.")
    print(f"\n| kernel | shape | {' µs | '.join(COLUMNS)} µs | to the better | spread | TFLOP/s | goal |")
    print("|---" * (len(COLUMNS) + 6) + "|")
    wrong = 0
    for row in table_rows(tutorial):
        if only and row.kernel not in only:
            continue
        try:
            result = timed(row, options.rounds)
        except MismatchError as error:
            wrong += 1
            print(f"| {row.kernel} | {row.shape} | WRONG {error.about} |", flush=True)
            continue
        torch.cuda.empty_cache()
        times = " | ".join(f"{result.us[name]:.4g}" if name in result.us else "" for name in COLUMNS)
        goal, rate = row.goals[0] or 0.0, f"{row.flop / result.us['ours'] / 1e6:.0f}" if row.flop else ""
        print(f"| {row.kernel} | {row.shape} | {times} | {result.ratio:.3f} {result.better} | ±{result.spread:.3f} | "
              f"{rate} | {goal:.1f}×: {'met' if result.ratio >= goal else 'missed'} |", flush=True)
    print(f"\nAfter: {state()}.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
