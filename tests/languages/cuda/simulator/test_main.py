"""Plans of CUDA kernels, run without a GPU."""

import base64
from typing import Any

import numpy as np

from grader.languages.cuda.confined.simulator.main import run
from grader.languages.cuda.symbols import variable_name
from grader.plan.findings import OutOfBounds, UnwrittenAccess
from grader.plan.limits import Budget
from grader.plan.messages import CannotSimulate, Exhausted, RunOptions, Simulated
from grader.plan.plan import (
    Argument,
    Buffer,
    Copy,
    Data,
    Fill,
    InnerPointer,
    Integer,
    Kernel,
    Launch,
    Plan,
    Pointer,
    Structure,
    View,
)
from grader.plan.traffic import Watch
from tests.languages.cuda.compiling import needs_nvcc
from tests.rows import each_row
from tests.simulation.ptx.launching import compiled, entries

pytestmark = needs_nvcc

ADD = """
__global__ void add(const float* x, const float* y, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = x[i] + y[i];
}
"""
SIZE = 1000


def _kernel(source: str) -> Kernel:
    text = compiled(source)
    return Kernel(language="cuda", name=source.split("void ")[1].split("(")[0], symbol=entries(text)[0], text=text,
                  signature=[])


def _view(buffer: int, count: int = SIZE, stride: int = 1, offset: int = 0) -> View:
    return View(buffer=buffer, offset=offset, shape=[count], strides=[stride], dtype="float32")


def _launch(*buffers: int, **options: Any) -> Launch:
    arguments: list[Argument] = [Pointer(buffer=buffer) for buffer in buffers]
    arguments.append(Integer(type="i32", value=options.pop("n", SIZE)))
    return Launch(kernel=0, grid=(4, 1, 1), block=(256, 1, 1), arguments=arguments, line=20, **options)


def _plan(first: list[Any], **rest: Any) -> Plan:
    """Buffers: x and out are given, the third is a temporary."""
    return Plan(buffers=[Buffer(bytes=4 * SIZE, given="x"), Buffer(bytes=4 * SIZE, given="out"),
                         Buffer(bytes=4 * SIZE, line=7)],
                kernels=[_kernel(ADD)], first=first, **rest)


def _memory(seed: int = 0) -> list[np.ndarray[Any, Any]]:
    x = np.random.default_rng(seed).standard_normal(SIZE).astype("f4")
    return [x.view(np.uint8), np.full(4 * SIZE, 0xA5, np.uint8)]


def test_fills_data_and_copies() -> None:
    contents = np.arange(SIZE, dtype="f4")
    memory = _memory()
    x = memory[0].view("f4").copy()
    result = run(_plan([
        Fill(target=_view(2), value=0.5), _launch(0, 2, 1),
        Data(buffer=2, contents=base64.b64encode(contents.tobytes()).decode()),
        Copy(source=_view(2, SIZE // 2, 2), target=_view(1, SIZE // 2, 1, 2 * SIZE)),
    ]), memory, outputs=["out"])
    assert isinstance(result, Simulated) and result.findings == []
    out = memory[1].view("f4")
    assert (out[: SIZE // 2] == x[: SIZE // 2] + np.float32(0.5)).all() and (out[SIZE // 2 :] == contents[::2]).all()


def test_a_copy_backwards_turns_its_source_and_what_is_known_of_it() -> None:
    memory = _memory()
    half = SIZE // 2
    result = run(_plan([
        Copy(source=_view(0, half), target=_view(2, half)), Copy(source=_view(2), target=_view(1), backwards=[0]),
    ]), memory, outputs=["out"])
    assert isinstance(result, Simulated)
    (finding,) = result.findings
    assert isinstance(finding, UnwrittenAccess) and finding.lanes == SIZE - half
    assert (memory[1].view("f4")[half:] == memory[0].view("f4")[:half][::-1]).all()


def test_what_nothing_has_written_is_found() -> None:
    result = run(_plan([_launch(0, 2, 1)]), _memory(), outputs=["out"])
    assert isinstance(result, Simulated)
    (found,) = result.findings
    assert isinstance(found, UnwrittenAccess) and (found.line, found.tensor, found.lanes) == (5, _name(1), 256)
    result = run(_plan([Copy(source=_view(2), target=_view(1), line=9)]), _memory(), outputs=["out"])
    assert isinstance(result, Simulated) and [finding.line for finding in result.findings] == [9]
    result = run(_plan([_launch(0, 1, 2)]), _memory(), outputs=["out"])
    assert isinstance(result, Simulated)
    assert [(finding.kind, getattr(finding, "given", "")) for finding in result.findings] == [("unwritten", "out")]


def _name(number: int) -> str:
    return f"{entries(compiled(ADD))[0]}_param_{number}"


def test_the_steady_call_has_memory_of_its_own_and_temporaries_last() -> None:
    memories = _memory(1), _memory(2)
    x = memories[1][0].view("f4").copy()
    plan = _plan([Fill(target=_view(2), value=3.0), _launch(0, 2, 1)], setup=[Fill(target=_view(2), value=1.0)],
                 steady=[_launch(0, 2, 1)])
    result = run(plan, *memories, outputs=["out"])
    assert isinstance(result, Simulated) and result.findings == []
    assert (memories[1][1].view("f4") == x + 3).all()


def test_accesses_show_where_threads_go() -> None:
    result = run(_plan([Fill(target=_view(2), value=3.0), _launch(0, 2, 1)]), _memory(), outputs=["out"])
    assert isinstance(result, Simulated)
    store = result.accesses[-1]
    assert (store.access, store.line, store.buffer, store.first, store.tile) == ("store", 5, 1, 0, [256])
    assert (store.lane_strides, store.program_strides, store.even, store.times) == ([1], (256, None, None), True, 1)


def test_watched_blocks() -> None:
    watch = Watch(chosen=[[1, 3]], touched="all")
    memory = _memory()
    result = run(_plan([_launch(0, 0, 1)]), memory, outputs=["out"], options=RunOptions(watch=watch))
    assert isinstance(result, Simulated)
    stores = {one.program: one.runs for one in result.touched if one.access == "store"}
    assert stores == {1: [(1024, 1024, 0, 1)], 3: [(3072, 928, 0, 1)]}
    out = memory[1].view(np.uint8)
    assert (out[:1024] == 0xA5).all() and not (out[1024:2048] == 0xA5).all()
    watch = Watch(stores=[0, 8, 3000], programs=0)
    result = run(_plan([_launch(0, 0, 1)]), _memory(), outputs=["out"], options=RunOptions(watch=watch))
    assert isinstance(result, Simulated)
    assert [(one.line, one.elements, one.program, one.last) for one in result.stored] == [(5, 3, (0, 0, 0), (2, 0, 0))]
    result = run(_plan([_launch(0, 0, 1)]), _memory(), outputs=["out"], options=RunOptions(watch=Watch(programs=4)))
    assert isinstance(result, Simulated)
    (launched,) = result.launched
    store = launched.accesses[-1]
    assert (launched.programs, store.access, store.lanes, store.needed, store.moved) == (4, "store", 1024, 4000, 4000)
    assert store.masked == 24


def test_structures_and_pointers_into_buffers() -> None:
    source = """
    struct Pair { const float* x; float* out; int n; };
    __global__ void move(Pair pair, int from) {
        int i = threadIdx.x;
        if (i < pair.n) pair.out[i] = pair.x[i + from];
    }
    """
    raw = bytearray(24)
    raw[16:20] = (100).to_bytes(4, "little")
    pair = Structure(contents=base64.b64encode(bytes(raw)).decode(),
                     pointers=[InnerPointer(at=0, buffer=0, offset=40), InnerPointer(at=8, buffer=1)])
    plan = Plan(buffers=[Buffer(bytes=4 * SIZE, given="x"), Buffer(bytes=4 * SIZE, given="out")],
                kernels=[_kernel(source)],
                first=[Launch(kernel=0, grid=(1, 1, 1), block=(128, 1, 1),
                              arguments=[pair, Integer(type="i32", value=5)])])
    memory = _memory()
    result = run(plan, memory, outputs=["out"])
    assert isinstance(result, Simulated) and result.findings == []
    assert (memory[1].view("f4")[:100] == memory[0].view("f4")[15:115]).all()


@each_row("change", [
    {"first": [_launch(0, 0, 1).model_copy(update={"kernel": 5})]},
    {"first": [_launch(0, 0)]}, {"first": [_launch(0, 0, 9)]},
    {"first": [Fill(target=View(buffer=1, shape=[SIZE + 1], strides=[1], dtype="float32"), value=1)]},
    {"kernels": [Kernel(language="cuda", name="k", symbol="k", text="", signature=[])]},
    {"kernels": [Kernel(language="cuda", name="k", symbol="k", text=".entry k() {", signature=[])]},
], ids=str)
def test_forged_plans(change: dict[str, Any]) -> None:
    plan = _plan([_launch(0, 0, 1)]).model_copy(update=change)
    assert isinstance(run(plan, _memory(), outputs=["out"]), CannotSimulate)


def test_limits_and_bounds() -> None:
    plan = _plan([_launch(0, 0, 1)])
    assert isinstance(run(plan, _memory(), outputs=["out"], budget=Budget(20_000)), Exhausted)
    result = run(_plan([_launch(0, 0, 1, n=1024)]), _memory(), outputs=["out"])
    assert isinstance(result, Simulated)
    assert [(one.given, one.access, one.line, one.program, one.elements, one.lowest, one.highest, one.lanes, one.active)
            for one in result.findings if isinstance(one, OutOfBounds)] == [
        (given, access, 5, (3, 0, 0), SIZE, SIZE, 1023, 24, 256) for given, access in (("x", "load"), ("out", "store"))]


@each_row(("symbol", "name"), [
    ("_ZZ9transposePKfPfiiE4tile", "tile"), ("_ZL4tile", "tile"), ("tile", "tile"), ("_ZZ1kPfE4tile_0", "tile"),
    ("_ZN2ns5thingE", "thing"), ("$str$1", "$str$1"), ("_ZZ6reduceILi256EEvPKfPfiE1s", "s"), ("_Z99", "_Z99"),
])
def test_names_of_variables(symbol: str, name: str) -> None:
    assert variable_name(symbol) == name
