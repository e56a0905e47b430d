"""Checks for a GPU are left out of a submission; every other condition stands."""

from __future__ import annotations

import types
from typing import Any

import pytest

from grader.worker.interpreter import compile_host

FORGIVEN = (
    "assert x.is_cuda",
    "assert x.is_cuda and x.rank == 2, 'text'",
    "torch._assert(x.is_cuda, 'text')",
    "if not x.is_cuda: raise ValueError",
    "if x.device.type != 'cuda' or x.rank != 2: raise ValueError",
    "if not (x.is_cuda and x.rank == 2): raise ValueError",
    "if not available.is_available():\n  print('no GPU')\n  sys.exit(1)",
    "HAS = available.is_available()\nif not HAS: raise SystemExit",
    "if x.is_cuda: seen.append(0)\nelse: raise ValueError",
    "if x.is_cuda: seen.append(0)\nelif x.device.type == 'xpu': seen.append(1)\nelse: raise ValueError",
    "if not x.is_cuda: raise ValueError\nelse: seen.append(0)",
)
STANDING = (
    "assert x.rank == 3",
    "assert x.is_cuda and x.rank == 3",
    "if x.is_cuda or x.rank == 2: raise ValueError",
    "if not (x.is_cuda and x.rank == 3): raise ValueError",
    "if not x.is_cuda: raise ValueError\nelif x.rank == 2: raise ValueError",
    "n = 5 if x.is_cuda else 3\nif n == 3: raise ValueError",
    "torch._assert(x.rank == 3, 'text')",
)


def run(source: str) -> list[int]:
    """Runs host code beside a tensor-like `x` on the CPU; returns what it appends to `seen`."""
    def check(condition: bool, message: str) -> None:
        assert condition, message

    x = types.SimpleNamespace(is_cuda=False, rank=2, device=types.SimpleNamespace(type="cpu"))
    seen: list[int] = []
    scope: dict[str, Any] = {
        "x": x, "seen": seen, "torch": types.SimpleNamespace(_assert=check),
        "available": types.SimpleNamespace(is_available=lambda: False),
    }  # fmt: skip
    exec(compile_host(source, "host.py"), scope)
    return seen


@pytest.mark.parametrize("source", FORGIVEN)
def test_insisting_on_a_gpu_is_forgiven(source: str) -> None:
    assert run(source) == ([0] if "seen" in source else [])


@pytest.mark.parametrize("source", STANDING)
def test_other_conditions_stand(source: str) -> None:
    with pytest.raises((AssertionError, ValueError)):
        run(source)


def test_what_is_done_without_a_gpu_is_done() -> None:
    assert run("if x.is_cuda: seen.append(0)\nelse: seen.append(1)") == [1]
    assert run("if not x.is_cuda: seen.append(1)") == [1]


def test_a_branch_that_returns_before_a_refusal_is_the_one_for_a_gpu() -> None:
    body = "def f():\n  if x.is_cuda:\n    seen.append(0)\n    return\n  raise ValueError\nf()"
    assert run(body) == [0]
    with pytest.raises(ValueError):
        run(body.replace("x.is_cuda", "x.rank == 3"))


def test_lines_stay() -> None:
    with pytest.raises(ValueError) as caught:
        run("if not x.is_cuda:\n  raise KeyError\nelse:\n  pass\nraise ValueError")
    trace = caught.tb
    while trace.tb_next:
        trace = trace.tb_next
    assert trace.tb_lineno == 5
