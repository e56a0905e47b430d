"""A hostile plan: each forgery is malformed, each honest mistake is a problem of the student's with its line."""

import base64
import copy
import json
from typing import Any

import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

from grader.judging.plans.residency import TooManyRegisters, TooManyTogether, misfit
from grader.judging.plans.rules import (
    HOST_BYTES,
    BeyondBuffer,
    GridTooLarge,
    HostMemory,
    NothingToCopy,
    NotOnTarget,
    Problem,
    TooMuchMemory,
    check,
    check_kernels,
    foreign,
)
from grader.languages import ForeignCode
from grader.plan.compiled import Facts
from grader.plan.device import TARGETS
from grader.plan.messages import Given, GivenScalar, GivenTensor
from grader.plan.plan import Launch, Malformed, Plan, read_plan
from tests.languages.triton import kernels
from tests.rows import each_row

ELEMENTS = 4096
MEMORY = 1 << 20
GIVEN: list[Given] = [
    GivenTensor(name="x", shape=[64, 64], dtype="float16"),
    GivenScalar(name="eps", value=1e-5),
    GivenTensor(name="out", shape=[64, 64], dtype="float16", output=True),
]
VIEW = {"buffer": 1, "offset": 0, "shape": [64, 64], "strides": [64, 1], "dtype": "float16"}
POINTER = {"kind": "pointer", "buffer": 2, "offset": 0}
# By JSON, so that no two places share what they hold.
VALID: dict[str, Any] = json.loads(json.dumps({
    "buffers": [
        {"bytes": 2 * ELEMENTS, "place": "device", "given": "x"},
        {"bytes": 2 * ELEMENTS, "place": "device", "given": "out"},
        {"bytes": 4 * ELEMENTS, "line": 3},
        {"bytes": 64, "line": 4},
    ],
    "kernels": [kernels.copy().model_dump(), kernels.tile().model_dump()],
    "setup": [{"op": "data", "buffer": 3, "contents": base64.b64encode(bytes(64)).decode()}],
    "first": [
        {"op": "fill", "target": VIEW, "value": 0.0, "line": 5},
        {"op": "copy", "source": {**VIEW, "buffer": 0}, "target": VIEW, "line": 6},
        {"op": "launch", "kernel": 0, "grid": [4, 1, 1], "block": [128, 1, 1], "line": 7,
         "arguments": [POINTER, POINTER, {"kind": "integer", "type": "i32", "value": ELEMENTS}]},
        {"op": "launch", "kernel": 1, "grid": [1, 1, 1], "block": [128, 1, 1], "line": 8, "arguments": [
            {"kind": "descriptor", "view": {**VIEW, "buffer": 0}, "block": [64, 64]},
            {"kind": "descriptor", "view": VIEW, "block": [64, 64]}]},
    ],
    "steady": [{"op": "fill", "target": {**VIEW, "buffer": 3, "shape": [4], "strides": [1], "dtype": "int32"},
                "value": -1, "line": 9}],
    "tuners": [{"kernel": "copy_kernel", "candidates": 2, "chosen": 1, "configuration": "BLOCK: 1024"}],
    "resource_queries": [1],
    "returned": "out",
}))  # fmt: skip
FILL, COPY, LAUNCH, TILE = (("first", number) for number in range(4))
TARGET, SOURCE = (*FILL, "target"), (*COPY, "source")
NUMBER = (*LAUNCH, "arguments", 2)
TENSOR = (*TILE, "arguments", 0)


def changed(*path: str | int, to: object, plan: dict[str, Any] = VALID) -> dict[str, Any]:
    """The valid plan with another value at a place."""
    made = copy.deepcopy(plan)
    at: Any = made
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = to
    return made


def problems(plan: dict[str, Any], *, target: str = "sm_90", copies: bool = True) -> list[Problem]:
    read = read_plan(json.dumps(plan).encode())
    return check(read, GIVEN, device=TARGETS[target], copies=copies, memory=MEMORY)


def test_host_memory_has_a_bound_of_its_own() -> None:
    def found(bytes_: int) -> list[Problem]:
        pinned = changed("buffers", 2, to={**VALID["buffers"][2], "place": "pinned", "bytes": bytes_})
        return check(read_plan(json.dumps(pinned).encode()), GIVEN, device=TARGETS["sm_90"], copies=True)

    assert found(HOST_BYTES) == []
    assert found(HOST_BYTES + 2) == [TooMuchMemory(HOST_BYTES + 2, HOST_BYTES, 3, "host")]


FORGED: dict[str, dict[str, Any]] = {
    "an unknown field": {**VALID, "more": 1},
    "a number of many digits": changed(*NUMBER, "value", to=10**400),
    "a given buffer of another size": changed("buffers", 0, "bytes", to=2 * ELEMENTS + 2),
    "a given buffer elsewhere": changed("buffers", 0, "place", to="host"),
    "a given buffer of another name": changed("buffers", 0, "given", to="y"),
    "a third given buffer": changed("buffers", 2, "given", to="z"),
    "a parameter twice": changed("buffers", 2, "given", to="x"),
    "given buffers in another order": {**VALID, "buffers": [VALID["buffers"][n] for n in (1, 0, 2, 3)]},
    "no buffers": {**VALID, "buffers": []},
    "an input filled": changed(*TARGET, "buffer", to=0),
    "an input copied to": changed(*COPY, "target", "buffer", to=0),
    "an input given data": changed("first", 0, to={"op": "data", "buffer": 0, "contents": "AAAA"}),
    "an output touched in setup": changed("setup", 0, to=VALID["first"][0]),
    "an input launched on in setup": changed("setup", 0, to=VALID["first"][3]),
    "what setup made without a steady call": {**VALID, "first": VALID["steady"], "steady": None},
    "data beyond its buffer": changed("setup", 0, "contents", to=base64.b64encode(bytes(65)).decode()),
    "a copy of another shape": changed(*SOURCE, "shape", to=[32, 64]),
    "a copy to one element from many": changed(
        *COPY, "target", "strides", to=[0, 1]),
    "a copy backwards on the device": changed(*COPY, "backwards", to=[0]),
    "a copy backwards twice": changed(*COPY, "backwards", to=[0, 0]),
    "a copy backwards along a third dimension": changed(*COPY, "backwards", to=[2]),
    "a copy of another dtype": changed(*SOURCE, "dtype", to="bfloat16"),
    "a buffer that is not there": changed(*TARGET, "buffer", to=4),
    "an argument's buffer that is not there": changed(*LAUNCH, "arguments", 0, "buffer", to=4),
    "a negative offset": changed(*TARGET, "offset", to=-2),
    "an offset off its dtype": changed(*TARGET, "offset", to=1),
    "a negative stride": changed(*TARGET, "strides", to=[-64, 1]),
    "too few strides": changed(*TARGET, "strides", to=[1]),
    "one element many times": changed(*TARGET, to={**VIEW, "shape": [2**62], "strides": [0]}),
    "a pointer off its dtype": changed(*LAUNCH, "arguments", 0, "offset", to=2),
    "a kernel that is not there": changed(*LAUNCH, "kernel", to=2),
    "resources of a kernel that is not there": changed("resource_queries", to=[2]),
    "a tuner without its choice": changed("tuners", 0, "chosen", to=2),
    "a negative grid": changed(*LAUNCH, "grid", to=[1, -1, 1]),
    "too few arguments": changed(*LAUNCH, "arguments", to=[POINTER, POINTER]),
    "a number for a pointer": changed(*LAUNCH, "arguments", 0, to=VALID["first"][2]["arguments"][2]),
    "a pointer for a number": changed(*NUMBER, to=POINTER),
    "a float for an integer": changed(*NUMBER, to={"kind": "float", "type": "fp32", "value": 1.0}),
    "an integer of another type": changed(*NUMBER, "type", to="i64"),
    "an integer beyond its type": changed(*NUMBER, "value", to=2**31),
    "a descriptor for a pointer": changed(*LAUNCH, "arguments", 0, to=VALID["first"][3]["arguments"][0]),
    "a pointer for a descriptor": changed(*TENSOR, to=POINTER),
    "a descriptor of another block": changed(*TENSOR, "block", to=[64, 32]),
    "a descriptor of another rank": changed(*TENSOR, "block", to=[4096]),
    "a descriptor of another dtype": changed(*TENSOR, "view", "dtype", to="bfloat16"),
    "a descriptor that is not contiguous": changed(*TENSOR, "view", "strides", to=[64, 2]),
    "a descriptor of no element": changed(*TENSOR, "view", "shape", to=[0, 64]),
    "a descriptor off 16 bytes": changed(*TENSOR, "view", "offset", to=2),
    "a descriptor of rows off 16 bytes": changed(*TENSOR, "view", "strides", to=[63, 1]),
    "a descriptor of a stride too long": changed(*TENSOR, "view", to={**VIEW, "shape": [1, 64], "strides": [2**60, 1]}),
    "a value that a dtype has not": changed("steady", 0, "value", to=2**31),
    "half a value in an integer": changed("steady", 0, "value", to=0.5),
    "an option of Triton's that opens files": changed("kernels", 0, "options", to={"ir_override": "x.ptx"}),
    "a name with an escape": changed("kernels", 0, "name", to="\x1b[2J"),
    "a configuration with a line break": changed("tuners", 0, "configuration", to="a\nb"),
    "another signature": changed("kernels", 0, "signature", to=["*fp32", "*fp32", "i64"]),
    "assembly in a kernel's text": changed(
        "kernels", 0, "text", to=VALID["kernels"][0]["text"].replace("tt.return", 'llvm.inline_asm "exit;"')),
}  # fmt: skip

MISTAKES: dict[str, tuple[dict[str, Any], Problem]] = {
    "a grid too wide": (
        changed(*LAUNCH, "grid", to=[2**31, 1, 1]), GridTooLarge("copy_kernel", 7, "x", 2**31, 2**31 - 1)),
    "a grid too high": (
        changed(*LAUNCH, "grid", to=[1, 65_536, 1]), GridTooLarge("copy_kernel", 7, "y", 65_536, 65_535)),
    "a grid too deep": (
        changed(*LAUNCH, "grid", to=[0, 1, 2**62]), GridTooLarge("copy_kernel", 7, "z", 2**62, 65_535)),
    "clusters in a grid too wide": (
        changed("kernels", 0, "options", "num_ctas", to=2, plan=changed(
            *LAUNCH, "grid", to=[2**30, 1, 1], plan=changed(*LAUNCH, "cluster", to=2))),
        GridTooLarge("copy_kernel", 7, "x", 2**30, 2**30 - 1)),
    "temporaries too large": (changed("buffers", 2, "bytes", to=2**62), TooMuchMemory(2**62 + 64, MEMORY, 3)),
    "a view past its storage": (changed(*TARGET, "strides", to=[64, 2]), BeyondBuffer("out", 5, 126)),
    "a view of huge strides": (changed(*TARGET, "strides", to=[2**62, 1]), BeyondBuffer("out", 5, 126 * 2**62 - 8064)),
    "a source past its storage": (changed(*SOURCE, "offset", to=4), BeyondBuffer("x", 6, 4)),
    "a pointer past its storage": (
        changed(*LAUNCH, "arguments", 0, "offset", to=4 * ELEMENTS + 4), BeyondBuffer("", 7, 4, "copy_kernel")),
    "a descriptor past its storage": (
        changed(*TENSOR, "view", "shape", to=[65, 64]), BeyondBuffer("x", 8, 128, "tile_kernel")),
    "a launch on host memory": (changed("buffers", 2, "place", to="host"), HostMemory("copy_kernel", 7, "")),
}  # fmt: skip


def test_a_valid_plan_has_no_problem() -> None:
    assert problems(VALID) == []


@each_row("plan", FORGED.values(), ids=FORGED)
def test_a_forged_plan_is_malformed(plan: dict[str, Any]) -> None:
    with pytest.raises(Malformed) as info:
        problems(plan)
    assert str(info.value).isprintable()


@each_row(("plan", "problem"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_with_its_line(plan: dict[str, Any], problem: Problem) -> None:
    assert problems(plan) == [problem]


def test_an_empty_grid_is_legal() -> None:
    assert problems(changed(*LAUNCH, "grid", to=[0, 1, 1])) == []


def test_a_pointer_to_the_end_is_legal() -> None:
    assert problems(changed(*LAUNCH, "arguments", 0, "offset", to=4 * ELEMENTS)) == []


def test_a_copy_is_forged_where_none_is_allowed() -> None:
    with pytest.raises(Malformed, match="copy"):
        problems(VALID, copies=False)
    # Nothing was launched on it yet.
    assert problems(changed(*SOURCE, "buffer", to=2), copies=False) == [NothingToCopy(6)]


@pytest.mark.parametrize(
    ("option", "field", "value"), [("num_ctas", "cluster", 2), ("launch_pdl", "programmatic", True)])
def test_an_option_of_later_gpus_is_a_mistake_on_an_earlier_one(option: str, field: str, value: object) -> None:
    plan = changed("kernels", 0, "options", option, to=value, plan=changed(*LAUNCH, field, to=value))
    assert problems(plan) == []
    assert problems(plan, target="sm_80") == [NotOnTarget("copy_kernel", 7, option, "sm_80")]


def test_a_cooperative_launch_has_as_many_programs_as_the_device_holds() -> None:
    together = changed("kernels", 0, "options", "launch_cooperative_grid", to=True)
    launch = {**together["first"][2], "cooperative": True}
    most = 132 * 2048 // 128
    assert problems({**together, "first": [{**launch, "grid": [most, 1, 1]}]}) == []
    assert [type(problem) for problem in problems({**together, "first": [{**launch, "grid": [most, 2, 1]}]})] == [
        TooManyTogether]


@pytest.mark.parametrize(("threads", "grid", "registers", "problem"), [
    (1024, 1, 64, None), (1024, 1, 65, TooManyRegisters), (512, 1, 128, None), (512, 132, 128, None),
    (512, 133, 128, TooManyTogether), (256, 1, 255, None), (288, 1, 255, TooManyRegisters)])
def test_registers_bound_a_launch(threads: int, grid: int, registers: int, problem: type[object] | None) -> None:
    plan = read_plan(json.dumps(VALID).encode())
    launch = next(operation for operation in plan.first if isinstance(operation, Launch)).model_copy(update={
        "grid": (grid, 1, 1), "block": (threads, 1, 1), "cooperative": True})
    found = misfit(launch, plan.kernels[0], TARGETS["sm_90"], Facts(registers=registers, spills=0, shared=0))
    assert found is None if problem is None else isinstance(found, problem)


def test_each_problem_is_told_once_and_not_too_many() -> None:
    launch = {**VALID["first"][2], "grid": [1, 1, 2**20]}
    assert len(problems({**VALID, "first": [launch] * 1000})) == 1
    assert len(problems({**VALID, "first": [{**launch, "line": line} for line in range(1000)]})) == 16


def test_foreign_code_is_listed_with_its_kernel() -> None:
    odd = kernels.odd()
    plan = Plan(buffers=[], kernels=[kernels.copy(), odd], first=[])
    assert foreign(plan) == [(odd, ForeignCode("assembly", 'neg.f32 $0, $1; // "0"\n'))]


def test_a_kernel_is_in_the_language_of_its_file() -> None:
    check_kernels([kernels.copy()], "triton")
    with pytest.raises(Malformed, match="a kernel in 'triton'; its file is in 'cuda'"):
        check_kernels([kernels.copy()], "cuda")


JUNK = st.one_of(
    st.none(), st.booleans(), st.integers(), st.sampled_from([2**31, 2**63 - 1, 2**64, -1, 0, 1, 10**30]), st.floats(),
    st.text(max_size=20), st.lists(st.integers(), max_size=3), st.just({}),
)  # fmt: skip


def _places(value: Any) -> list[tuple[Any, Any]]:
    keys = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    return [(value, key) for key in keys] + [place for key in keys for place in _places(value[key])]


@settings(max_examples=200)
@drawn(st.data())
def test_any_change_of_a_plan_is_legal_malformed_or_a_problem(data: st.DataObject) -> None:
    plan = copy.deepcopy(VALID)
    for _ in range(data.draw(st.integers(1, 4))):
        places = _places(plan)
        holder, key = places[data.draw(st.integers(0, len(places) - 1))]
        if isinstance(holder, list) and data.draw(st.booleans()):
            other = places[data.draw(st.integers(0, len(places) - 1))]
            holder.insert(key, copy.deepcopy(other[0][other[1]]))
        else:
            holder[key] = data.draw(JUNK)
    try:
        found = problems(plan)
    except Malformed as error:
        assert len(str(error)) < 400
    else:
        assert all(isinstance(one, Problem) for one in found)
