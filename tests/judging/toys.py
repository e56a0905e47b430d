"""Small assignments for the tests of comparison and explanation, with oracles of their own, and faulty answers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from grader.course.assignment import Assignment, Baseline, Mistake
from grader.course.cases import Case
from grader.course.parameters import Input, Output, Scalar
from grader.judging.answers.answers import AnswerComparisons
from grader.judging.answers.compare import Comparison, compare, poison_
from grader.judging.explain import ExplainedCall, explain_case
from grader.judging.running.buffers import DTYPES
from grader.judging.running.simulation import CallResult
from grader.plan.findings import Finding
from grader.plan.plan import Buffer, Fill, Plan, View
from grader.results.result import Detail

EPS = 1e-3
RELATIVE = 2.0**-20
GEMM_RELATIVE = 2.0**-10

Fault = Callable[[Mapping[str, Any], Tensor, Tensor], None]
"""(inputs, right answer in the output's dtype, poisoned output): writes into the output what a faulty kernel would."""


def _tolerance(inputs: Mapping[str, Any], expected: Tensor) -> Tensor:
    return RELATIVE * expected.abs() + 1e-7


def _norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    x, weight = x.double(), weight.double()
    return x / (x.pow(2).mean(-1, keepdim=True) + eps).sqrt() * weight


def _eps_outside(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    x = x.double()
    return x / (x.pow(2).mean(-1, keepdim=True).sqrt() + eps) * weight.double()


def _normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed + sum(shape)))


def _silu_inputs(case: Case, generator: Any) -> dict[str, Any]:
    return {"x": 3 * _normal(case.sizes["M"], case.sizes["N"])}


def _line_inputs(case: Case, generator: Any) -> dict[str, Any]:
    return {"x": _normal(case.sizes["N"])}


def _norm_inputs(case: Case, generator: Any) -> dict[str, Any]:
    m, n = case.sizes["M"], case.sizes["N"]
    scale = _normal(m, 1, seed=7).exp()
    return {"x": scale * _normal(m, n), "weight": 1 + _normal(n, seed=3).abs(), "eps": EPS}


def _gemm_inputs(case: Case, generator: Any) -> dict[str, Any]:
    m, n, k = (case.sizes[s] for s in "MNK")
    return {"a": _normal(m, k).half(), "b": _normal(k, n, seed=5).half()}


def _blend_inputs(case: Case, generator: Any) -> dict[str, Any]:
    m, n = case.sizes["M"], case.sizes["N"]
    dice = torch.Generator().manual_seed(m + n)
    x, y = torch.randint(256, (2, m, n), generator=dice, dtype=torch.uint8)
    return {"x": x, "y": y}


def _cases(names: str, *sizes: tuple[int, ...]) -> tuple[Case, ...]:
    return tuple(
        Case(name="x".join(map(str, values)), sizes=dict(zip(names, values, strict=True))) for values in sizes
    )


def _matrix(name: str, formula: str = "", **more: Any) -> Assignment:
    return Assignment(
        name=name, title=name, formula=formula, oracle=ORACLES[name], baseline=Baseline(name="none", compiled="none"),
        **more)


ORACLES: dict[str, Callable[..., Tensor]] = {
    "silu": lambda x: x.double() * x.double().sigmoid(),
    "line": lambda x: x.double().exp(),
    "norm": _norm,
    "turn": lambda x: x.t().double(),
    "gemm": lambda a, b: a.double() @ b.double(),
    "blend": lambda x, y: (0.4 * x.double() + 0.6 * y.double()).round(),
}
_X = Input(name="x", shape=("M", "N"))
SILU = _matrix(
    "silu", "x / (1 + exp(−x))", parameters=(_X, Output(name="out", shape=("M", "N"))), make_inputs=_silu_inputs,
    tolerance=_tolerance, cases=_cases("MN", (64, 100), (37, 129)),
)
LINE = _matrix(
    "line", parameters=(Input(name="x", shape=("N",)), Output(name="out", shape=("N",))), make_inputs=_line_inputs,
    tolerance=_tolerance, cases=_cases("N", (5000,), (1009,)),
)
NORM = _matrix(
    "norm", make_inputs=_norm_inputs, tolerance=_tolerance, cases=_cases("MN", (24, 100), (33, 257)),
    parameters=(_X, Input(name="weight", shape=("N",)), Scalar(name="eps"), Output(name="out", shape=("M", "N"))),
    mistakes=(Mistake(name="eps_outside", hint="eps belongs under the root", answer=_eps_outside),),
)
TURN = _matrix(
    "turn", parameters=(_X, Output(name="out", shape=("N", "M"))), make_inputs=_silu_inputs,
    cases=_cases("MN", (40, 100), (129, 37)),
)
GEMM = _matrix(
    "gemm", make_inputs=_gemm_inputs, cases=_cases("MNK", (48, 80, 300), (33, 65, 257)),
    tolerance=lambda inputs, expected: GEMM_RELATIVE * expected.abs() + 2e-3,
    parameters=(Input(name="a", shape=("M", "K"), dtype="float16"), Input(name="b", shape=("K", "N"), dtype="float16"),
                Output(name="out", shape=("M", "N"), dtype="float16")),
)
BLEND = _matrix(
    "blend", make_inputs=_blend_inputs, cases=_cases("MN", (64, 100), (37, 129)),
    tolerance=lambda inputs, expected: torch.ones_like(expected),
    parameters=(Input(name="x", shape=("M", "N"), dtype="uint8"), Input(name="y", shape=("M", "N"), dtype="uint8"),
                Output(name="out", shape=("M", "N"), dtype="uint8")),
    mistakes=(Mistake(name="swapped", hint="0.4 is for x", answer=lambda x, y: 0.6 * x.double() + 0.4 * y.double()),),
)



def judge(
    assignment: Assignment, case: Case, fault: Fault, *, inputs: dict[str, Any] | None = None
) -> tuple[dict[str, Any], Tensor, Comparison]:
    """The inputs, what a faulty kernel leaves in its output, and the comparison of that with the right answer."""
    inputs = inputs or dict(assignment.make_inputs(case, None))
    expected = ORACLES[assignment.name](**inputs).contiguous()
    right = expected.to(DTYPES[assignment.output.dtype])
    got = torch.empty_like(right)
    poison_(got)
    fault(inputs, right, got)
    allowed = None if assignment.tolerance is None else assignment.tolerance(inputs, expected)
    return inputs, got, compare(got, expected, allowed)


def called(
    assignment: Assignment, case: Case, got: Tensor, *, plan: Plan | None = None, call: int = 0,
    changed: Sequence[str] = (), findings: Sequence[Finding] = (), source: str = "",
) -> ExplainedCall:
    """A call that left `got` in its output. A plan that is not given writes to the output, and shows nothing else."""
    out = View(buffer=0, shape=[1], strides=[1], dtype="float32")
    writes = Plan(buffers=[Buffer(bytes=4, given="out")], kernels=[], first=[Fill(target=out, value=0.0)])
    result = CallResult({assignment.output.name: got}, changed=tuple(changed), findings=tuple(findings))
    return ExplainedCall(assignment, case, plan or writes, call, result, source)


def explain(
    assignment: Assignment, case: Case, fault: Fault, *, inputs: dict[str, Any] | None = None, **known: Any
) -> Detail:
    """What the grader says to a faulty kernel. `known` is for `called`."""
    used, got, comparison = judge(assignment, case, fault, inputs=inputs)
    detail = explain_case(
        called(assignment, case, got, **known), used, AnswerComparisons({assignment.output.name: comparison}))
    assert detail is not None
    return detail
