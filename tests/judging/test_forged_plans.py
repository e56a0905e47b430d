"""Rules that the planner keeps, broken in a plan that a planner has written: the check on our side finds each.

The table in docs/security.md names these rows, and those of tests/judging/test_rules.py, by their rules.
"""

import base64
import json
import re
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import pytest

from grader.home import ROOT
from grader.judging.plans.rules import BeyondBuffer, HostMemory, NothingToCopy, NotOnTarget, Problem, check
from grader.plan.device import TARGETS
from grader.plan.messages import Given, GivenTensor
from grader.plan.plan import Malformed, Plan, read_plan
from tests.judging.test_rules import FORGED, MISTAKES
from tests.languages.triton.planner.harness import Planner
from tests.rows import beside, each_row

DATA = beside(__file__)
GIVEN: list[Given] = [
    GivenTensor(name="x", shape=[64, 64], dtype="float32"),
    GivenTensor(name="out", shape=[64, 64], dtype="float16", output=True),
]
ROW = {"shape": [64], "strides": [1]}


@cache
def _honest(copies: bool) -> str:
    with Planner() as planner:
        planner.load(DATA["source"].encode(), "file.py", "function", GIVEN)
        plan = planner.plan(GIVEN, copies=copies)
    assert isinstance(plan, Plan), plan
    return plan.model_dump_json()


def honest(copies: bool = False) -> dict[str, Any]:
    plan: dict[str, Any] = json.loads(_honest(copies))
    return plan


def checked(plan: dict[str, Any], copies: bool = False, target: str = "sm_90") -> list[Problem]:
    return check(read_plan(json.dumps(plan).encode()), GIVEN, device=TARGETS[target], copies=copies)


# Operations of the plan, and its buffers: x, out, then temporaries.
FILL, MOVE, TILE, COPY, CAST = range(5)
X, OUT = 0, 1


def _of(plan: dict[str, Any], number: int) -> Any:
    return plan["steady"][number]


def _diagonals(plan: dict[str, Any]) -> None:
    """A transpose: each diagonal of a tensor of its own goes to one of the same strides."""
    one = _of(plan, COPY)
    plan["steady"][COPY:COPY + 1] = [
        {**one, **{side: {**one[side], "offset": 4 * offset, "shape": [63], "strides": [65]}
                   for side, offset in (("source", 1), ("target", 64))}}]


def _copied(number: int = COPY, /, **sides: dict[str, Any]) -> Callable[[dict[str, Any]], None]:
    def change(plan: dict[str, Any]) -> None:
        for side, changed in sides.items():
            _of(plan, number)[side].update(changed)
    return change


_converted = partial(_copied, CAST)


def _with(number: int, **changed: Any) -> Callable[[dict[str, Any]], None]:
    return lambda plan: _of(plan, number).update(changed)


def _argument(number: int, at: int, **changed: Any) -> Callable[[dict[str, Any]], None]:
    return lambda plan: _of(plan, number)["arguments"][at].update(changed)


def _filled(**changed: Any) -> Callable[[dict[str, Any]], None]:
    """The fill of another view, with another value."""
    def change(plan: dict[str, Any]) -> None:
        fill = _of(plan, FILL)
        fill["value"] = changed.pop("value", fill["value"])
        fill["target"].update(changed)
    return change


def _first(operation: dict[str, Any], part: str = "steady") -> Callable[[dict[str, Any]], None]:
    return lambda plan: plan[part].insert(0, operation)


def _options(**changed: Any) -> Callable[[dict[str, Any]], None]:
    return lambda plan: plan["kernels"][0]["options"].update(changed)


def _buffer(number: int, **changed: Any) -> Callable[[dict[str, Any]], None]:
    return lambda plan: plan["buffers"][number].update(changed)


def _data(buffer: int, count: int) -> dict[str, Any]:
    return {"op": "data", "buffer": buffer, "contents": base64.b64encode(bytes(count)).decode()}


def _too_early(plan: dict[str, Any]) -> None:
    for operations in (plan["first"], plan["steady"]):
        operations.insert(0, operations.pop(COPY))


WHOLE = 64 * 64 * 2
RULES: dict[str, tuple[Callable[[dict[str, Any]], None], str | type[Problem]]] = {
    "copies along diagonals": (_diagonals, "in another order"),
    "a copy of a transposed view": (_copied(source={"strides": [1, 64]}, target={"strides": [1, 64]}), "another order"),
    "a copy of a row": (_copied(source=ROW, target=ROW), "to a piece"),
    "a copy of one element to many": (_copied(source={"shape": [64, 64], "strides": [0, 0]}), "another order"),
    "a copy of an input": (_copied(source={"buffer": X}), "none is allowed, of a given tensor"),
    "a copy of the output": (_copied(source={"buffer": OUT, "dtype": "float16"}, target={"dtype": "float16"}),
                             "none is allowed, of a given tensor"),
    "a copy past its tensor": (_copied(source={"offset": 4}), BeyondBuffer),
    "a copy before any launch": (_too_early, NothingToCopy),
    "a conversion to integers": (_copied(target={"dtype": "int32"}), "float32 as int32"),
    "a conversion of a piece": (_converted(source=ROW, target=ROW), "to a piece"),
    "a conversion of an input": (_converted(source={"buffer": X}), "none is allowed, of a given tensor"),
    "data in an output": (_first(_data(OUT, WHOLE)), "in the output"),
    "data in an input": (_first(_data(X, 2 * WHOLE)), "an input is written"),
    "data in a part of a tensor": (lambda plan: _first(_data(_of(plan, FILL)["target"]["buffer"], 64))(plan),
                                   "data in a part"),
    "a fill of an input": (_filled(buffer=X), "an input is written"),
    "a fill of half precision beyond its range": (
        _filled(buffer=OUT, dtype="float16", value=65_536.0), "a value that float16 does not have"),
    "a fill of one element many times": (_filled(shape=[65, 64], strides=[0, 1]), "more elements than its buffer"),
    "a setup that writes to the output": (_first(_data(OUT, WHOLE), "setup"), "in the output"),
    "a setup that launches on an input": (
        lambda plan: plan["setup"].append(_of(plan, MOVE)), "setup touches a given buffer"),
    "a table that only the import has made": (lambda plan: plan.update(steady=None), "no steady call"),
    "a tuner beyond its candidates": (lambda plan: plan["tuners"][0].update(chosen=2), "none of its configurations"),
    "resources of no kernel": (lambda plan: plan.update(resource_queries=[9]), "a kernel that is not there"),
    "an option that opens files": (_options(extern_libs={"a": "b"}), "options"),
    "warps that are no power of two": (_options(num_warps=3), "num_warps"),
    "8-bit floats switched off": (_options(allow_fp8e4nv=False), "allow_fp8e4nv"),
    "a launch of other blocks than its kernel has": (_with(MOVE, block=[256, 1, 1]), "its kernel's options"),
    "a cluster that its kernel has not": (_with(MOVE, cluster=2), "its kernel's options"),
    "a cooperative launch of another kernel": (_with(MOVE, cooperative=True), "its kernel's options"),
    "shared memory that its kernel does not ask for": (_with(MOVE, shared=1024), "its kernel's options"),
    "a language that there is not": (
        lambda plan: plan["kernels"][0].update(language="../triton"), "which no front end reads"),
    "a negative grid": (_with(MOVE, grid=[1, -1, 1]), "grid"),
    "an integer of another type": (_argument(MOVE, 3, type="i64"), "an integer that does not fit"),
    "an address for a pointer": (
        lambda plan: _of(plan, MOVE)["arguments"].__setitem__(
            0, {"kind": "integer", "type": "i64", "value": 0x7F00_0000_0000}), "an integer that does not fit"),
    "a pointer between elements": (_argument(MOVE, 0, offset=2), "a pointer that does not fit"),
    "a descriptor of another block": (_argument(TILE, 0, block=[32, 64]), "a descriptor that does not fit"),
    "a tensor in host memory": (
        lambda plan: _buffer(_of(plan, TILE)["arguments"][0]["view"]["buffer"], place="host")(plan), HostMemory),
    "an operation that follows itself": (_with(MOVE, after=[MOVE]), "follows a later one"),
    "a larger output": (_buffer(OUT, bytes=2 * WHOLE), "not those of the parameters"),
    "a kernel with assembly by another name": (
        lambda plan: plan["kernels"][0].update(
            text=plan["kernels"][0]["text"].replace("tt.return", 'llvm.inline_asm "exit;"')), "none of Triton's"),
}  # fmt: skip


def test_what_a_planner_writes_holds() -> None:
    assert checked(honest()) == []
    plan = honest()
    assert [one["op"] for one in plan["steady"]] == ["fill", "launch", "launch", "copy", "copy"]
    assert [one["op"] for one in plan["setup"]] == ["data"] and plan["tuners"]
    assert checked(honest(copies=True), copies=True) == []


@each_row(("change", "told"), RULES.values(), ids=RULES)
def test_a_rule_of_the_planner_is_kept_by_the_check(
    change: Callable[[dict[str, Any]], None], told: str | type[Problem]
) -> None:
    plan = honest()
    change(plan)
    if isinstance(told, str):
        with pytest.raises(Malformed, match=re.escape(told)):
            checked(plan)
    else:
        assert {type(one) for one in checked(plan)} == {told}


@pytest.mark.parametrize("name", ["a conversion of a piece", "a conversion of an input"])
def test_where_copies_are_allowed_conversions_are_as_elsewhere(name: str) -> None:
    plan = honest(copies=True)
    change, told = RULES[name]
    change(plan)
    with pytest.raises(Malformed, match=str(told)):
        checked(plan, copies=True)


def test_options_of_later_gpus_are_told() -> None:
    plan = honest()
    plan["kernels"][0]["options"]["launch_pdl"] = _of(plan, MOVE)["programmatic"] = True
    plan["first"] = plan["steady"]
    assert [type(one) for one in checked(plan, target="sm_80")] == [NotOnTarget]


def test_the_page_on_security_names_these_rows() -> None:
    text = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    table = text.partition("| rule of the planner |")[2].partition("\n\n")[0]
    named = set(re.findall(r"“([^”]+)”", table))
    assert len(table.splitlines()) > 15
    assert named - {*RULES, *FORGED, *MISTAKES} == set()
    assert set(RULES) - named == set()
