"""Constructs of language models' kernels that examples/llm does not have: planned, simulated, and run as compiled, they
give the answers of PyTorch."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from grader.plan.findings import MisalignedAccess, OutOfBounds, Race, UndefinedBehaviour
from tests.languages.triton.planned import plan_of, run_as_compiled, simulated
from tests.rows import beside

DATA = beside(__file__)
F32, F16, BF16 = torch.float32, torch.float16, torch.bfloat16
I64, I32, I8 = torch.int64, torch.int32, torch.int8
TOLERANCE = {F32: 2e-5, F16: 4e-3, BF16: 3e-2}

Values = dict[str, Any]
Made = tuple[Values, Values]
"""Parameters in order, outputs zeroed; and the right answers by the outputs' names."""


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


def quantize(dtype: torch.dtype) -> Made:
    x = torch.randn(6, 50).to(dtype) * 5
    x[2] = 0
    top = x.float().abs().amax(1)
    scales = torch.where(top > 0, top / 127, 1.0)
    return {"x": x, "q": torch.zeros(6, 50, dtype=I8), "scales": torch.zeros(6),
            }, {"q": (x.float() / scales[:, None]).round(), "scales": scales}  # fmt: skip


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
    ("attention", "described", attention, (F16, True)), ("attention", "tuned", attention, (BF16, False, 64)),
    ("pieces", "packed", topk, (F32,)), ("pieces", "in_order", topk, (BF16,)),
    ("pieces", "nearbyint", quantize, (BF16,)), ("pieces", "magic", quantize, (F32,)),
    ("pieces", "scaled_product", product, ()),
    ("pieces", "histogram", histogram, (I64, I32)), ("pieces", "histogram", histogram, (torch.uint8, I64)),
    ("pieces", "recurrence", recurrence, (False,)), ("pieces", "recurrence", recurrence, (True,)),
    ("pieces", "permute", permute, ()), ("pieces", "search", search, (I64,)),
    ("pieces", "flags", flags, (True,)), ("pieces", "flags", flags, (False,)),
]


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
    values, expected = make(*row)
    outputs = list(expected)
    plan = plan_of(DATA[file], function, values, outputs)
    again = {name: value.clone() if isinstance(value, Tensor) else value for name, value in values.items()}
    found = simulated(plan, values, outputs)
    assert not [finding for finding in found.findings if not isinstance(finding, UndefinedBehaviour) or finding.certain]
    near(values, expected)
    compiled = run_as_compiled(plan, again, outputs)
    assert not [finding for finding in compiled.findings if isinstance(finding, OutOfBounds | MisalignedAccess)
                or (isinstance(finding, Race) and finding.certain)]
    near(again, expected)


@pytest.mark.parametrize("function", ["four", "integers", "philox"])
def test_a_dropout_by_a_seed(function: str) -> None:
    outs = []
    for seed in (42, 42, 2**40 + 7):
        values: Values = {"x": torch.rand(5000) + 1, "p": 0.25, "seed": seed, "out": torch.zeros(5000)}
        plan = plan_of(DATA["pieces"], function, values, ["out"])
        again = {**values, "out": torch.zeros(5000)}
        simulated(plan, values, ["out"])
        kept = values["out"] != 0
        torch.testing.assert_close(values["out"][kept], (values["x"] / 0.75)[kept])
        assert 0.72 < kept.float().mean() < 0.78
        run_as_compiled(plan, again, ["out"])
        torch.testing.assert_close(again["out"], values["out"])
        outs.append(kept)
    assert torch.equal(outs[0], outs[1]) and not torch.equal(outs[0], outs[2])
