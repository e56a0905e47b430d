"""Kernels of language models, each as several people write it: planned, simulated, and run as compiled, they give what
PyTorch gives."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import triton.language as tl
from torch import Tensor

from grader.plan.findings import Misaligned, OutOfBounds, Race, Undefined
from grader.plan.messages import Simulated
from tests.languages.triton.planned import plan_of, run_as_compiled, simulated, source

F64, F32, F16, BF16 = torch.float64, torch.float32, torch.float16, torch.bfloat16
E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2
I64, I32, I8 = torch.int64, torch.int32, torch.int8
TOLERANCE = {F64: 2e-5, F32: 2e-5, F16: 4e-3, BF16: 3e-2}

Values = dict[str, Any]
Made = tuple[Values, Values]
"""Parameters in order, outputs zeroed; and the right answers by the outputs' names."""


def layernorm(dtype: torch.dtype) -> Made:
    x, weight, bias = (torch.randn(9, 50) * 2 + 1).to(dtype), torch.randn(50).to(dtype), torch.randn(50).to(dtype)
    mean, rstd = x.double().mean(1), (x.double().var(1, unbiased=False) + 1e-5).rsqrt()
    out = (x.double() - mean[:, None]) * rstd[:, None] * weight.double() + bias.double()
    return {"x": x, "weight": weight, "bias": bias, "eps": 1e-5, "out": torch.zeros_like(x), "mean": torch.zeros(9),
            "rstd": torch.zeros(9)}, {"out": out, "mean": mean, "rstd": rstd}


def layernorm_backward(dtype: torch.dtype) -> Made:
    x, weight, dy = (torch.randn(9, 50) * 2 + 1).to(dtype), torch.randn(50).to(dtype), torch.randn(9, 50).to(dtype)
    mean, rstd = x.double().mean(1), (x.double().var(1, unbiased=False) + 1e-5).rsqrt()
    hat, share = (x.double() - mean[:, None]) * rstd[:, None], weight.double() * dy.double()
    dx = (share - hat * (hat * share).mean(1, keepdim=True) - share.mean(1, keepdim=True)) * rstd[:, None]
    return {"dy": dy, "x": x, "weight": weight, "mean": mean.float(), "rstd": rstd.float(), "dx": torch.zeros_like(x),
            "dweight": torch.zeros_like(weight), "dbias": torch.zeros_like(weight),
            }, {"dx": dx, "dweight": (dy.double() * hat).sum(0), "dbias": dy.double().sum(0)}  # fmt: skip


def cross_entropy(dtype: torch.dtype) -> Made:
    logits, labels = (torch.randn(7, 100) * 3).to(dtype), torch.randint(0, 100, (7,))
    labels[2:5] = torch.tensor([-100, 99, 0])
    lse = torch.logsumexp(logits.double(), 1)
    loss = torch.where(labels == -100, 0.0, lse - logits.double()[torch.arange(7), labels.clamp(min=0)])
    return {"logits": logits, "labels": labels, "ignore_index": -100, "loss": torch.zeros(7), "lse": torch.zeros(7),
            }, {"loss": loss, "lse": lse}  # fmt: skip


def rope(dtype: torch.dtype, interleaved: bool) -> Made:
    x, positions = torch.randn(6, 4, 16).to(dtype), torch.randint(0, 50, (6,))
    angle = positions[:, None].float() * 10000.0 ** (-torch.arange(8) / 8)
    cos, sin = angle.cos(), angle.sin()
    a, b = (x[..., ::2], x[..., 1::2]) if interleaved else (x[..., :8], x[..., 8:])
    turned = [a.double() * cos[:, None] - b.double() * sin[:, None], b.double() * cos[:, None] + a * sin[:, None]]
    out = torch.stack(turned, -1).flatten(-2) if interleaved else torch.cat(turned, -1)
    return {"x": x, "cos": cos, "sin": sin, "positions": positions, "theta": 10000.0, "interleaved": interleaved,
            "out": torch.zeros_like(x)}, {"out": out}


def embedding(dtype: torch.dtype, padding: int) -> Made:
    weight, indices = torch.randn(40, 24).to(dtype), torch.randint(0, 40, (20,))
    indices[3:6] = torch.tensor([max(padding, 0), 39, 0])
    out = torch.where((indices == padding)[:, None], 0.0, weight.double()[indices])
    return {"weight": weight, "indices": indices, "padding_idx": padding, "out": torch.zeros(20, 24).to(dtype),
            }, {"out": out}  # fmt: skip


def attention(dtype: torch.dtype, causal: bool, length: int = 70) -> Made:
    q, k, v = (torch.randn(1, 2, length, 32).to(dtype) for _ in range(3))
    score = q.double() @ k.double().mT * 32**-0.5
    if causal:
        score = score.masked_fill(~torch.ones(length, length, dtype=torch.bool).tril(), -float("inf"))
    return {"q": q, "k": k, "v": v, "scale": 32**-0.5, "causal": causal, "out": torch.zeros_like(q),
            "lse": torch.zeros(1, 2, length)}, {"out": score.softmax(-1) @ v.double(), "lse": score.logsumexp(-1)}


def topk(dtype: torch.dtype) -> Made:
    x = torch.randn(5, 50).to(dtype)
    x[1, 4] = x[1, 9] = 5
    values, indices = torch.sort(x.float(), dim=1, descending=True, stable=True)
    return {"x": x, "k": 6, "values": torch.zeros(5, 6, dtype=dtype), "indices": torch.zeros(5, 6, dtype=I64),
            }, {"values": values[:, :6], "indices": indices[:, :6]}  # fmt: skip


def quantize(dtype: torch.dtype, to: torch.dtype = I8) -> Made:
    x = torch.randn(6, 50).to(dtype) * 5
    x[2] = 0
    top = x.float().abs().amax(1)
    scales = torch.where(top > 0, top / 127, 1.0) if to == I8 else top.clamp(min=1e-12) / torch.finfo(to).max
    q = x.float() / scales[:, None]
    return {"x": x, "q": torch.zeros(6, 50, dtype=to), "scales": torch.zeros(6),
            }, {"q": q.round() if to == I8 else q.to(to), "scales": scales}  # fmt: skip


def product() -> Made:
    a, b = (torch.randint(-128, 128, (rows, 64)).to(I8) for rows in (16, 32))
    a_scales, b_scales = torch.rand(16), torch.rand(32)
    return {"a": a, "b": b, "a_scales": a_scales, "b_scales": b_scales, "out": torch.zeros(16, 32),
            }, {"out": (a.double() @ b.double().t()) * a_scales[:, None] * b_scales}  # fmt: skip


def histogram(of: torch.dtype, to: torch.dtype) -> Made:
    x = torch.randint(0, 16, (150,)).to(of)
    return {"x": x, "out": torch.zeros(16, dtype=to)}, {"out": torch.bincount(x.long(), minlength=16)}


def recurrence(reverse: bool) -> Made:
    a, x = torch.rand(3, 20), torch.rand(3, 20)
    state, states = torch.zeros(3), torch.zeros(3, 20)
    for step in reversed(range(20)) if reverse else range(20):
        state = states[:, step] = a[:, step] * state + x[:, step]
    return {"a": a, "x": x, "reverse": reverse, "out": torch.zeros(3, 20)}, {"out": states}


def ragged(dtype: torch.dtype) -> Made:
    lengths, x = torch.tensor([3, 0, 40, 17, 1]).to(dtype), torch.rand(61)
    return {"lengths": lengths, "x": x, "out": torch.zeros(5),
            }, {"out": torch.stack([part.sum() for part in torch.split(x, lengths.tolist())])}  # fmt: skip


def permute() -> Made:
    x, index = torch.randn(4, 16), torch.randint(0, 16, (4, 16))
    pairs = x.gather(1, index).reshape(4, 8, 2)
    return {"x": x, "index": index, "out": torch.zeros(4, 16)}, {"out": pairs.flip(2).flatten(1).flip(1)}


def search(dtype: torch.dtype) -> Made:
    ascending, keys = torch.sort(torch.randint(-50, 50, (77,)).to(dtype))[0], torch.randint(-60, 60, (45,)).to(dtype)
    return {"keys": keys, "ascending": ascending, "out": torch.zeros(45, dtype=I64),
            }, {"out": torch.searchsorted(ascending, keys)}  # fmt: skip


def flags(negate: bool) -> Made:
    x, keep = torch.randn(80), torch.rand(80) < 0.3
    keep[32:64] = False
    return {"x": x, "keep": keep, "scale": 2.5, "negate": negate, "out": torch.zeros(80),
            "found": torch.zeros(3, dtype=torch.bool),
            }, {"out": torch.where(keep, x * (-2.5 if negate else 2.5), x),
                "found": torch.tensor([bool(part.any()) for part in torch.split(keep, 32)])}  # fmt: skip


CASES: list[tuple[str, str, Callable[..., Made], tuple[Any, ...]]] = [
    *(("layernorm", name, layernorm, (dtype,)) for name, dtype in (
        ("forward_row", F32), ("forward_loop", F16), ("forward_welford", BF16), ("forward_welford", F32))),
    *(("layernorm", name, layernorm_backward, (dtype,)) for name, dtype in (
        ("backward_atomics", F32), ("backward_atomics", BF16), ("backward_two_stage", BF16), ("backward_locks", F32))),
    *(("cross_entropy", name, cross_entropy, (dtype,)) for name, dtype in (
        ("online", BF16), ("whole", F32), ("split", F16))),
    *(("rope", name, rope, row) for name, row in (
        ("halves", (F16, False)), ("pairs", (F32, True)), ("pairs", (BF16, False)), ("angles", (BF16, True)))),
    *(("embedding", name, embedding, row) for name, row in (
        ("row", (F32, -1)), ("row", (BF16, 3)), ("tile", (F16, 3)), ("tile", (E4M3, 3)), ("flat", (F64, 3)))),
    *(("attention", name, attention, row) for name, row in (
        ("pointers", (F16, True)), ("pointers", (BF16, False)), ("blocks", (BF16, True)), ("described", (F16, True)),
        ("tuned", (BF16, False, 64)))),
    *(("topk", name, topk, (dtype,)) for name, dtype in (
        ("argmax", BF16), ("packed", F32), ("in_order", BF16), ("count", F16))),
    *(("quantize", name, quantize, row) for name, row in (
        ("rint", (F16,)), ("nearbyint", (BF16,)), ("magic", (F32,)), ("fp8", (BF16, E4M3)), ("fp8", (F32, E5M2)))),
    ("quantize", "scaled_product", product, ()),
    ("pieces", "histogram", histogram, (I64, I32)), ("pieces", "histogram", histogram, (torch.uint8, I64)),
    ("pieces", "recurrence", recurrence, (False,)), ("pieces", "recurrence", recurrence, (True,)),
    ("pieces", "ragged", ragged, (I32,)), ("pieces", "ragged", ragged, (I64,)), ("pieces", "permute", permute, ()),
    ("pieces", "search", search, (I64,)), ("pieces", "flags", flags, (True,)), ("pieces", "flags", flags, (False,)),
]  # fmt: skip
# Programs that wait for each other take too long thread by thread.
WAITS = {"backward_locks"}


def near(got: Values, expected: Values) -> None:
    for name, right in expected.items():
        # A sum may have been rounded to the type of the inputs on its way.
        error = max((TOLERANCE.get(each.dtype, 0) for each in got.values() if isinstance(each, Tensor)), default=0)
        error = error if got[name].dtype in TOLERANCE else 0
        torch.testing.assert_close(got[name].double(), right.double(), rtol=error, atol=error)


@pytest.mark.newest
# The first row of each kernel every time.
@pytest.mark.parametrize(("file", "function", "make", "row"), [
    pytest.param(*each, id="-".join([each[1], *(str(one).removeprefix("torch.") for one in each[3])]),
                 marks=[pytest.mark.full] * (each[1] in (before[1] for before in CASES[:number])))
    for number, each in enumerate(CASES)])
def test_a_kernel(file: str, function: str, make: Callable[..., Made], row: tuple[Any, ...]) -> None:
    if function == "blocks" and not hasattr(tl, "advance"):
        pytest.skip("Triton 3.9 removed block pointers")
    values, expected = make(*row)
    outputs = list(expected)
    plan = plan_of(source(file), function, values, outputs)
    again = {name: value.clone() if isinstance(value, Tensor) else value for name, value in values.items()}
    found = simulated(plan, values, outputs)
    assert not [one for one in found.findings if not isinstance(one, Undefined) or one.certain]
    near(values, expected)
    if function in WAITS:
        return
    compiled = run_as_compiled(plan, again, outputs)
    assert (compiled is None) == (function == "fp8")
    if compiled is not None:
        assert isinstance(compiled, Simulated), compiled
        assert not [one for one in compiled.findings if isinstance(one, OutOfBounds | Misaligned)
                    or (isinstance(one, Race) and one.certain)]
        near(again, expected)


@pytest.mark.parametrize("function", ["rand", "four", "integers", "philox"])
def test_a_dropout_by_a_seed(function: str) -> None:
    text = source("dropout")
    outs = []
    for seed in (42, 42, 2**40 + 7):
        values: Values = {"x": torch.rand(5000) + 1, "p": 0.25, "seed": seed, "out": torch.zeros(5000)}
        plan = plan_of(text, function, values, ["out"])
        again = {**values, "out": torch.zeros(5000)}
        simulated(plan, values, ["out"])
        kept = values["out"] != 0
        torch.testing.assert_close(values["out"][kept], (values["x"] / 0.75)[kept])
        assert 0.72 < kept.float().mean() < 0.78
        assert isinstance(run_as_compiled(plan, again, ["out"]), Simulated)
        torch.testing.assert_close(again["out"], values["out"])
        outs.append(kept)
    assert torch.equal(outs[0], outs[1]) and not torch.equal(outs[0], outs[2])
