"""An executor on a GPU: every kind of launch, once and in graphs, what stays between calls, guard zones, times."""

import time
from typing import Any

import pytest
import torch

from grader.device import guards, messages
from grader.device.driver import checked
from grader.device.programs import PlanProgram
from grader.errors import InfrastructureError
from grader.judging.running.arena import Arena
from grader.judging.running.execution import CapturedCalls, ElementSample, Executor
from grader.plan.messages import Given, GivenScalar, GivenTensor
from grader.plan.plan import Buffer, Copy, Data, Fill, Float, View
from tests.device import kernels
from tests.device.kernels import buffer, built, given, i32, launch, plan_of, whole
from tests.gpu.plans import BLOCK, SECONDS, N, done, kinds, scaled, slots_of

pytestmark = [pytest.mark.gpu, pytest.mark.alone, pytest.mark.timeout(120)]


@pytest.mark.parametrize("name", [
    "plain", "host descriptors", "device descriptors", "programmatic", "cooperative", "clusters", "shared memory",
    "a copy that converts"])
def test_every_kind_of_launch_is_run_and_replayed(executor: Executor, name: str) -> None:
    compiled, tensors, temporaries, operations, right = kinds()[name]
    plan = plan_of([kernel for kernel, _ in compiled], [*map(buffer, tensors), *temporaries], operations)
    if name == "shared memory":
        assert compiled[0][1].facts.shared > 48 << 10
    slots, read, written = slots_of(tensors[:1], tensors[1:], 3)
    program = done(executor.load(plan, [binary for _, binary in compiled]))
    done(executor.bind(slots))

    def check() -> None:
        for slot in slots:
            torch.testing.assert_close(
                slot["out"].tensor.float(), right(slot["x"].tensor).float(), rtol=1e-3, atol=1e-2)
        assert read.overruns() == written.overruns() == []

    for number in range(3):
        assert done(executor.run(program, number, seconds=SECONDS)) == []
    check()
    captured = done(executor.capture(program, [2, 0, 1], seconds=SECONDS))
    assert captured.graph
    for _ in range(3):
        for slot in slots:
            slot["x"].tensor.copy_(torch.randn(slot["x"].tensor.shape))
            slot["out"].tensor.fill_(float("nan"))
        assert done(executor.replay(captured, seconds=SECONDS)).device > 0
        check()


def test_programs_of_one_call_overlap_where_they_ask_for_it_and_calls_do_not() -> None:
    """In this process, since a graph's edges are what is to be seen."""
    from cuda.bindings import driver

    compiled, tensors, temporaries, operations, _ = kinds()["programmatic"]
    plan = plan_of([kernel for kernel, _ in compiled], [*map(buffer, tensors), *temporaries], operations)
    slots = [{tensor.name: torch.zeros(N, device="cuda") for tensor in tensors} for _ in range(3)]
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph(keep_graph=True)
    with torch.cuda.stream(torch.cuda.Stream()):  # type: ignore[no-untyped-call]
        program = PlanProgram(messages.ProgramText(plan=plan, binaries=[binary for _, binary in compiled]))
        prepared = program.prepare(slots)
        torch.cuda.synchronize()
        with torch.cuda.graph(graph, stream=torch.cuda.current_stream()):
            for call in prepared.calls:
                call()
    raw = driver.CUgraph(graph.raw_cuda_graph())
    number = checked(driver.cuGraphGetEdges(raw, 0))[-1]
    edges = checked(driver.cuGraphGetEdges(raw, number))[2]
    programmatic = driver.CUgraphDependencyType.CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC
    assert number == 2 * len(slots) - 1
    assert [int(edge.type) == int(programmatic) for edge in edges].count(True) == len(slots)


def test_a_state_is_as_after_the_first_call_before_each_replay(executor: Executor) -> None:
    kernel, binary = built(kernels.count, {"state": "*fp32", "out": "*fp32", "n": "i32"}, {"BLOCK": BLOCK})
    out = given("out", N, output=True)
    call = launch(0, (8,), 1, 0, i32(N))
    plan = plan_of(
        [kernel], [buffer(out), Buffer(bytes=4 * N)], [call], setup=[Fill(target=whole(1, N), value=10.0)],
        steady=[call.model_copy(update={"line": 8})])
    slots, *_ = slots_of([], [out], 3)
    program = done(executor.load(plan, [binary]))
    done(executor.bind(slots))
    done(executor.run(program, 0, seconds=SECONDS))
    assert (slots[0]["out"].tensor == 11).all()
    done(executor.run(program, 1, first=2, seconds=SECONDS))
    assert (slots[1]["out"].tensor == 12).all()
    captured = done(executor.capture(program, [0, 1, 2], seconds=SECONDS))
    for _ in range(2):
        done(executor.replay(captured, seconds=SECONDS))
        assert [float(slot["out"].tensor[0]) for slot in slots] == [12, 13, 14]


def test_fills_data_and_copies_are_made_in_order(executor: Executor) -> None:
    out = given("out", 4, 8, output=True)
    column = View(buffer=0, offset=4, shape=[4], strides=[8], dtype="float32")
    plan = plan_of([], [buffer(out), Buffer(bytes=16)], [
        Fill(target=whole(0, 4, 8), value=3.0),
        Data(buffer=1, contents="AACAPwAAAEAAAEBAAACAQA=="),
        Copy(source=whole(1, 4), target=column),
        Fill(target=View(buffer=0, offset=96, shape=[2], strides=[3], dtype="float32"), value=float("inf")),
    ])
    slots, *_ = slots_of([], [out], 1)
    program = done(executor.load(plan, []))
    done(executor.bind(slots))
    done(executor.run(program, 0, seconds=SECONDS))
    right = torch.full((4, 8), 3.0)
    right[:, 1] = torch.tensor([1.0, 2.0, 3.0, 4.0])
    right[3, [0, 3]] = float("inf")
    assert torch.equal(slots[0]["out"].tensor.cpu(), right)


def test_host_copies_are_made_by_the_host_in_turn(executor: Executor) -> None:
    """Columns through one pinned buffer, by two calls of a replay: the next may not overwrite it while the one before
    is on its way."""
    rows, width = 1 << 20, 4
    matrix = GivenTensor(name="matrix", shape=[rows, width], dtype="float32", place="host")
    out = given("out", 2, rows, output=True)
    operations: list[Any] = []
    for column in range(2):
        operations += [
            Copy(source=View(buffer=0, offset=4 * column, shape=[rows], strides=[width], dtype="float32"),
                 target=whole(2, rows)),
            Copy(source=whole(2, rows),
                 target=View(buffer=1, offset=4 * rows * column, shape=[rows], strides=[1], dtype="float32"))]
    plan = plan_of([], [buffer(matrix), buffer(out), Buffer(bytes=4 * rows, place="pinned")], operations)
    host, device = Arena([matrix] * 2, place="host"), Arena([out] * 2, guard="secret")
    pairs = list(zip((piece.tensor for piece in host.pieces), (piece.tensor for piece in device.pieces), strict=True))
    host.guard()
    device.guard()
    program = done(executor.load(plan, []))
    baseline = done(executor.load_baseline(
        b"def eager(matrix, out):\n    out.copy_(matrix[:, :2].t())\n", "columns.py", "eager", [matrix, out]))
    done(executor.bind([
        {"matrix": piece, "out": left} for piece, left in zip(host.pieces, device.pieces, strict=True)]))
    for number in (program, baseline):
        captured = done(executor.capture(number, [0, 1], seconds=SECONDS))
        assert not captured.graph
        for _ in range(3):
            for drawn, left in pairs:
                left.fill_(float("nan"))
                drawn.copy_(torch.randn(rows, width))
            assert done(executor.replay(captured, seconds=SECONDS)).device > 0
            for drawn, left in pairs:
                assert torch.equal(left.cpu(), drawn[:, :2].t())
    assert host.overruns() == device.overruns() == []


def test_a_kernel_reads_pinned_memory(executor: Executor) -> None:
    plan, binaries = scaled()
    x = GivenTensor(name="x", shape=[N], dtype="float32", place="pinned")
    plan = plan.model_copy(update={"buffers": [buffer(x), plan.buffers[1]]})
    host, device = Arena([x], place="pinned"), Arena([given("out", N, output=True)], guard="secret")
    host.pieces[0].tensor.copy_(torch.randn(N))
    program = done(executor.load(plan, binaries))
    done(executor.bind([{"x": host.pieces[0], "out": device.pieces[0]}]))
    done(executor.run(program, 0, seconds=SECONDS))
    assert torch.equal(device.pieces[0].tensor.cpu(), host.pieces[0].tensor * 2)


@pytest.mark.parametrize("reach", [0, 1])
def test_a_write_beyond_shows_in_the_zone_of_what_was_given_and_of_temporaries(executor: Executor, reach: int) -> None:
    kernel, binary = built(
        kernels.scale_beyond, {"x": "*fp32", "out": "*fp32", "n": "i32", "reach": "i32"}, {"BLOCK": BLOCK})
    x, out = given("x", N), given("out", N, output=True)
    plan = plan_of([kernel], [buffer(x), buffer(out), Buffer(bytes=4), Buffer(bytes=4 * N)], [
        launch(0, (8,), 0, 1, i32(N), i32(reach)), launch(0, (8,), 0, 3, i32(N), i32(reach))])
    slots, read, written = slots_of([x], [out], 2)
    program = done(executor.load(plan, [binary]))
    done(executor.bind(slots))
    assert done(executor.run(program, 1, seconds=SECONDS)).overruns == ((3,) if reach else ())
    assert read.overruns() == []
    assert written.overruns() == ([1] if reach else [])


def test_elements_are_looked_at_after_the_last_slot(executor: Executor) -> None:
    plan, binaries = scaled()
    slots, _, written = slots_of([given("x", N)], [given("out", N, output=True)], 4)
    looks = Arena([given("positions", 8, dtype="int64"), given("target", 8)])
    sample = ElementSample(written, looks.pieces[0], looks.pieces[1])
    looks.pieces[0].tensor.zero_()
    program = done(executor.load(plan, binaries))
    done(executor.bind(slots, sample))
    captured = done(executor.capture(program, [0, 1, 2, 3], sample, seconds=SECONDS))
    empty = done(executor.capture(program, [], sample, seconds=SECONDS))
    for _ in range(2):
        chosen = [(slot, 17 * i + 5) for i, slot in enumerate([*slots, *slots])]
        positions = [ElementSample.position(slot["out"], element) for slot, element in chosen]
        looks.pieces[0].tensor.copy_(torch.tensor(positions))
        for slot in slots:
            slot["x"].tensor.copy_(torch.randn(N))
        done(executor.replay(captured, seconds=SECONDS))
        right = torch.stack([slot["x"].tensor[element] * 2 for slot, element in chosen])
        assert torch.equal(looks.pieces[1].tensor, right)
    assert empty.graph
    assert done(executor.replay(empty, seconds=SECONDS)).device > 0


BASELINES = b"""
import torch

def eager(x, factor, out):
    torch.mul(x, factor, out=out)

def returning(x, factor, out):
    return x * factor

def compiled(x, factor, out):
    # Late: it imports for seconds.
    global once
    once = once or torch.compile(returning, dynamic=False)
    return once(x, factor, out)

once = None

def counting(x, factor, out):
    out.add_(1)

def reading(x, factor, out):
    out.fill_(x[0].item())
    out.copy_(x * factor)
"""


@pytest.mark.parametrize("function", ["eager", "returning", "compiled", "reading"])
def test_a_baseline_is_run_and_replayed(executor: Executor, function: str) -> None:
    tensors: list[Given] = [given("x", N), GivenScalar(name="factor", value=3.0), given("out", N, output=True)]
    slots, *_ = slots_of([given("x", N)], [given("out", N, output=True)], 3)
    program = done(executor.load_baseline(BASELINES, "baseline.py", function, tensors))
    done(executor.bind(slots))
    for number, slot in enumerate(slots):
        done(executor.run(program, number, seconds=100))
        torch.testing.assert_close(slot["out"].tensor, slot["x"].tensor * 3)
    captured = done(executor.capture(program, [0, 1, 2], seconds=SECONDS))
    # What reads a number on the host cannot be captured.
    assert captured.graph == (function != "reading")
    assert done(executor.replay(captured, seconds=SECONDS)).device > 0


def test_a_replay_makes_each_call_once_and_no_other(executor: Executor) -> None:
    """A call outside of the clock could do the work of those within."""
    tensors: list[Given] = [given("x", N), GivenScalar(name="factor", value=3.0), given("out", N, output=True)]
    slots, *_ = slots_of([given("x", N)], [given("out", N, output=True)], 4)
    program = done(executor.load_baseline(BASELINES, "baseline.py", "counting", tensors))
    done(executor.bind(slots))
    captured = done(executor.capture(program, [2, 0, 1], seconds=SECONDS))
    for slot in slots:
        slot["out"].tensor.zero_()
    for times in (1, 2):
        done(executor.replay(captured, seconds=SECONDS))
        assert [float(slot["out"].tensor.min()) for slot in slots] == [times, times, times, 0]
        assert [float(slot["out"].tensor.max()) for slot in slots] == [times, times, times, 0]


def test_a_baseline_that_is_none_is_a_failure_of_ours(executor: Executor) -> None:
    with pytest.raises(InfrastructureError, match="has no attribute 'missing'"):
        executor.load_baseline(BASELINES, "baseline.py", "missing", [])
    assert executor.over


def test_what_the_judge_does_before_a_replay_is_not_in_its_time(executor: Executor) -> None:
    """The device's turn from one context to another takes longer than these calls."""
    plan, binaries = scaled()
    slots, read, _ = slots_of([given("x", N)], [given("out", N, output=True)], 4)
    program = done(executor.load(plan, binaries))
    done(executor.bind(slots))
    captured = done(executor.capture(program, range(4), seconds=SECONDS))

    def median(before: Any) -> float:
        seconds = []
        for _ in range(41):
            before()
            seconds.append(float(done(executor.replay(captured, seconds=SECONDS)).device))
        return sorted(seconds)[20]

    alone, after_work = median(lambda: None), median(read.guard)
    print(f"alone {alone * 1e6:.1f} us, after the judge's work {after_work * 1e6:.1f} us")
    assert after_work < alone + 30e-6


def test_replays_take_the_same_time(executor: Executor) -> None:
    """Hundreds of slots, and a large one: what a binding, a capture and a replay cost."""
    n = 1 << 20
    plan, binaries = scaled()
    x, out = given("x", n), given("out", n, output=True)
    start = launch(0, (n // BLOCK,), 0, 1, i32(n), Float(value=2.0))
    plan = plan.model_copy(update={"buffers": [buffer(x), buffer(out)], "first": [start]})
    took: list[tuple[str, float]] = []

    def noted(what: str, work: Any) -> Any:
        torch.cuda.synchronize()
        began = time.monotonic()
        answer = work()
        torch.cuda.synchronize()
        took.append((what, time.monotonic() - began))
        return answer

    slots, read, written = noted("draw", lambda: slots_of([x], [out], 400))
    noted("guard", written.guard)
    noted("guard", written.guard)
    program = done(noted("load", lambda: executor.load(plan, binaries)))
    noted("bind", lambda: done(executor.bind(slots)))
    captured: CapturedCalls = done(noted("capture", lambda: executor.capture(program, range(400), seconds=SECONDS)))
    empty: CapturedCalls = done(noted("empty", lambda: executor.capture(program, [], seconds=SECONDS)))
    seconds = [done(executor.replay(captured, seconds=SECONDS)).device for _ in range(40)][10:]
    noted("round trip", lambda: executor.replay(captured, seconds=SECONDS))
    nothing = sorted(done(executor.replay(empty, seconds=SECONDS)).device for _ in range(20))[10]
    assert noted("overruns", written.overruns) == noted("overruns", read.overruns) == []
    median = sorted(seconds)[15]
    print({what: round(value * 1e3, 2) for what, value in took}, f"{median / 400 * 1e6:.3f} us a call",
          f"spread {(max(seconds) - min(seconds)) / median:.4f}", f"empty {nothing * 1e6:.1f} us",
          f"bytes {guards.size_of(x.shape, 'float32')}")
    assert all(torch.equal(slot["out"].tensor, slot["x"].tensor * 2) for slot in slots)
    # The middle half, since others may be at work on the machine.
    assert sorted(seconds)[22] / sorted(seconds)[8] < 1.05
