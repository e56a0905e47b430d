"""A torch.autograd.Function in place of a function: what it returns and saves are the outputs, and each way of not
being one is an error of one line that ends with what to do."""

from grader.plan.messages import Failed, Given, GivenScalar, GivenTensor, Loaded, Planned, Refused
from grader.plan.plan import Copy, Fill, Launch, Plan, touched_buffers
from tests.languages.triton.planner.harness import Planner
from tests.rows import beside, each_row

GIVEN: list[Given] = [
    GivenTensor(name="x", shape=[4, 8], dtype="float16"), GivenScalar(name="scale", value=0.5),
    GivenTensor(name="dout", shape=[4, 8], dtype="float16", gradient_of="out", strides=[1, 4]),
    GivenTensor(name="out", shape=[4, 8], dtype="float16", output=True),
    GivenTensor(name="total", shape=[4], dtype="float32", output=True, saved=True),
    GivenTensor(name="dx", shape=[4, 8], dtype="float16", output=True, gradient_of="x")]
NUMBERS = {tensor.name: number for number, tensor in enumerate(
    one for one in GIVEN if isinstance(one, GivenTensor))}
DATA = beside(__file__)
Changes = list[tuple[str, str]]


def planned(*changes: tuple[str, str]) -> Plan | Planned | Refused | Failed | object:
    """The plan of the file, changed so, or why there is none."""
    text = DATA["file"]
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    with Planner() as planner:
        loaded = planner.load(text.encode(), "layer.py", "Layer", GIVEN, autograd=True)
        return planner.plan(GIVEN) if isinstance(loaded, Loaded) else loaded


def test_what_is_returned_and_saved_are_the_outputs() -> None:
    plan = planned()
    assert isinstance(plan, Plan)
    assert [buffer.given for buffer in plan.buffers] == [*NUMBERS] and plan.steady is None
    fill, *launches = plan.first
    assert isinstance(fill, Fill) and touched_buffers(fill) == {NUMBERS["total"]}
    assert all(isinstance(launch, Launch) for launch in launches)
    assert [touched_buffers(launch) for launch in launches] == [
        {NUMBERS[a], NUMBERS[b]} for a, b in (("x", "out"), ("x", "total"), ("dout", "dx"), ("total", "dx"))]


@each_row("name, changes", DATA["ways"].items())
def test_other_ways_of_writing_one(name: str, changes: Changes) -> None:
    plan = planned(*changes)
    assert isinstance(plan, Plan) and not any(isinstance(operation, Copy) for operation in plan.first), plan


@each_row("name, changes", DATA["copied"].items())
def test_what_cannot_be_the_output_is_copied_there(name: str, changes: Changes) -> None:
    plan = planned(*changes)
    assert isinstance(plan, Plan)
    (copy,) = [operation for operation in plan.first if isinstance(operation, Copy)]
    assert copy.target.buffer == NUMBERS["dx"] and copy.source.shape == [4, 8]


@each_row("name, changes, message, line", [(name, *row) for name, row in DATA["wrong"].items()])
def test_what_is_none(name: str, changes: Changes, message: str, line: int) -> None:
    found = planned(*changes)
    assert isinstance(found, Failed) and found.failure == "autograd", found
    assert (found.message, found.line) == (message, line)


@each_row("statement, why", DATA["numbers"].items())
def test_neither_direction_has_numbers(statement: str, why: str) -> None:
    for place in ("        ctx.scale = scale\n", "        dx = torch.empty_like(x)\n"):
        found = planned((place, f"{place}        scale = 2.0\n        {statement}\n"))
        assert isinstance(found, Refused) and found.why == why, (place, found)
