"""A process that runs plans without a GPU: kernels on NumPy, over all programs of a launch at once.

It reads hostile text, so it is confined. It says what it cannot do or could not finish.
"""

from __future__ import annotations

import base64
import mmap
from collections.abc import Collection, Sequence
from math import inf

import numpy as np
import torch

from grader.frontends import serving
from grader.frontends.triton.simulator.arithmetic import warm_up
from grader.frontends.triton.simulator.findings import Findings
from grader.frontends.triton.simulator.launch import LaunchFailed, run_launch
from grader.frontends.triton.simulator.machine import EarlierLaunches
from grader.frontends.triton.simulator.meter import Meter
from grader.frontends.triton.simulator.pointers import Storage
from grader.frontends.triton.simulator.state import AS_WRITTEN, Mode
from grader.frontends.triton.simulator.types import Array, encode, rounding, zeros
from grader.plan.frames import FRAME_BYTES, Channel
from grader.plan.limits import Budget, Limit
from grader.plan.messages import SIMULATOR_REQUEST, CannotSimulate, Exhausted, Simulate, Simulated
from grader.plan.plan import ITEM_BYTES, Buffer, Copy, Data, DType, Fill, Launch, Malformed, Plan, View, read_plan
from grader.plan.traffic import Watch

MOST_BYTES = 2 << 30
"""Bytes of all temporaries of a plan."""
MOST_TOLD = FRAME_BYTES // 4
"""Characters of an answer that fit into a frame, whatever they are."""
UNWRITTEN = 0xFF
"""Bytes of a temporary that nothing has written: NaN in every floating-point type."""

_ELEMENTS: dict[DType, str] = {
    "float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "float8_e4m3fn": "f8E4M3FN",
    "float8_e5m2": "f8E5M2",
}  # fmt: skip
_NUMPY: dict[DType, str] = {
    "float64": "f8", "float32": "f4", "float16": "f2", "bfloat16": "u2", "float8_e4m3fn": "u1", "float8_e5m2": "u1",
    "int64": "i8", "int32": "i4", "int16": "i2", "int8": "i1", "uint64": "u8", "uint32": "u4", "uint16": "u2",
    "uint8": "u1", "bool": "u1",
}  # fmt: skip

Result = Simulated | CannotSimulate | Exhausted


def prepare() -> None:
    """Prepares the process from which simulators are forked."""
    warm_up()


def run(
    plan: Plan, *memories: Sequence[Array], outputs: Collection[str] = (), operations: int = 1 << 40,
    seconds: float = inf, mode: Mode = AS_WRITTEN, twice: Collection[int] = (), watch: Watch | None = None,
) -> Result:
    """Runs the first call of a plan and, with two `memories`, the steady call after it.

    Each call has its own memory of the given buffers: writable arrays of bytes, in the order of their indices. Lines
    refer to the file of `mode`, or to that of a kernel's entry. Launches of the kernels `twice` are made twice.
    `outputs` names parameters that hold nothing yet: a load from them before a store is a finding. A `watch` concerns
    the last call and the first of `outputs`; if it chooses programs, the findings are those of a part of the work.
    """
    budget = Budget(operations, seconds)
    findings = Findings()
    meter = None if watch is None else Meter(watch, next(iter(outputs), ""))
    try:
        given = [number for number, each in enumerate(plan.buffers) if each.given]
        if sum(each.bytes for each in plan.buffers if not each.given) > MOST_BYTES:
            return Exhausted(seq=0, what="memory")
        if any([plan.buffers[number].bytes for number in given] != [raw.size for raw in each] for each in memories):
            return CannotSimulate(seq=0, operation="given buffers of other sizes")
        # In another order, unwritten memory holds other contents, too.
        byte = UNWRITTEN if mode.order is None or mode.order else 0
        buffers = [_temporary(number, each, byte) for number, each in enumerate(plan.buffers)]
        calls = plan.calls()[: len(memories)]
        for position, step in enumerate([plan.setup, *calls]):
            # The findings of earlier calls were reported with those calls.
            findings = findings if position < 2 else Findings()
            if meter is not None and position > 1:
                meter.forget()
            for number, raw in zip(given, memories[max(0, position - 1)], strict=True):
                name = plan.buffers[number].given
                buffers[number] = Storage(number, raw, zeros(raw.size, np.uint8) if name in outputs else None, name)
            earlier = EarlierLaunches()
            for operation in step:
                budget.left -= 10_000
                if budget.left < 0:
                    raise Limit("operations")
                if isinstance(operation, Launch):
                    for _ in range(2 if operation.kernel in twice else 1):
                        run_launch(
                            operation, plan.kernels[operation.kernel], buffers, budget, findings, mode, meter, earlier)
                else:
                    budget.left -= _host(operation, buffers, findings)
                    earlier = EarlierLaunches()
        return _simulated(findings, budget, meter)
    except LaunchFailed as error:
        if isinstance(error.cause, Limit) and error.cause.what == "operations" and meter is not None and meter.cut():
            return _simulated(findings, budget, meter)
        return _stopped(error)
    except Limit as limit:
        return Exhausted(seq=0, what=limit.what)
    except (LookupError, ValueError) as error:
        return CannotSimulate(seq=0, operation=f"{type(error).__name__}: {error}"[:200])
    except MemoryError:
        return Exhausted(seq=0, what="memory")


def _stopped(error: LaunchFailed) -> CannotSimulate | Exhausted:
    if isinstance(error.cause, Limit):
        return Exhausted(seq=0, what=error.cause.what, kernel=error.kernel, line=error.line,
                         resident=error.cause.resident, rounds=error.cause.rounds)
    if isinstance(error.cause, MemoryError):
        return Exhausted(seq=0, what="memory", kernel=error.kernel, line=error.line)
    return CannotSimulate(seq=0, operation=str(error)[:200], kernel=error.kernel, line=error.line)


def _simulated(findings: Findings, budget: Budget, meter: Meter | None) -> Simulated:
    return Simulated(
        seq=0, findings=findings.list(), accesses=findings.accesses, operations=budget.used,
        printed=findings.printed, stored=[] if meter is None else meter.stored(),
        launched=[] if meter is None else meter.launched(), touched=[] if meter is None else meter.touched())


def _temporary(number: int, buffer: Buffer, byte: int) -> Storage:
    size = 0 if buffer.given else buffer.bytes
    return Storage(
        number, np.full(size, byte, np.uint8), zeros(size, np.uint8), kept=buffer.line if buffer.kept else 0)


def _view(view: View, buffers: list[Storage]) -> tuple[Array, Array | None]:
    """The elements of a view, and their marks. Raises ValueError for a view that reaches out of its buffer."""
    buffer, size = buffers[view.buffer], ITEM_BYTES[view.dtype]
    if len(view.strides) != len(view.shape):
        raise ValueError("a view with as many strides as sizes expected")
    if 0 in view.shape:
        return np.zeros(view.shape, _NUMPY[view.dtype]), None
    reach = view.offset + size * (1 + sum((n - 1) * stride for n, stride in zip(view.shape, view.strides, strict=True)))
    if reach > buffer.raw.size:
        raise ValueError("a view that reaches out of its buffer")
    strides = [stride * size for stride in view.strides]
    element = np.ndarray(view.shape, _NUMPY[view.dtype], buffer.raw, view.offset, strides)
    marks = None if buffer.written is None else np.ndarray(view.shape, f"u{size}", buffer.written, view.offset, strides)
    return element, marks


def _host(operation: Fill | Data | Copy, buffers: list[Storage], findings: Findings) -> int:
    """Runs an operation of the host. Returns the number of elements and marks that it went through."""
    size = 0
    if isinstance(operation, Fill):
        target, marks = _view(operation.target, buffers)
        target[...] = _filling(operation.target.dtype, operation.value)
        size = target.size
        changed = operation.target.buffer
    elif isinstance(operation, Data):
        contents = np.frombuffer(base64.b64decode(operation.contents), np.uint8)
        buffer = buffers[operation.buffer]
        if contents.size > buffer.raw.size:
            raise ValueError("contents larger than their buffer")
        buffer.raw[: contents.size] = contents
        if buffer.written is not None:
            buffer.written[: contents.size] = UNWRITTEN
        changed, marks = operation.buffer, None
    else:
        (source, known), (target, marks) = (_view(each, buffers) for each in (operation.source, operation.target))
        of, to = operation.source.dtype, operation.target.dtype
        target[...] = source if of == to else _converted(source, of, to)
        size = target.size
        unknown = 0 if known is None else int((known != np.iinfo(known.dtype).max).sum())
        if unknown and not buffers[operation.source.buffer].given:
            findings.copied(operation.line, unknown)
        changed = operation.target.buffer
        if marks is not None and known is not None:
            marks[...] = known if of == to else np.where(
                known == np.iinfo(known.dtype).max, np.iinfo(marks.dtype).max, 0)
            marks = None
    if marks is not None:
        marks[...] = np.iinfo(marks.dtype).max
    return size + buffers[changed].settle()


def _converted(source: Array, of: DType, to: DType) -> Array:
    """Elements of memory converted to another type, rounded as PyTorch does."""
    given = torch.from_numpy(np.array(source).reshape(-1)).view(getattr(torch, of))
    return np.asarray(given.to(getattr(torch, to)).view(torch.uint8).numpy()).view(_NUMPY[to]).reshape(source.shape)


def _filling(dtype: DType, value: float) -> Array:
    """An element of memory that holds the value, converted as PyTorch does."""
    if dtype == "bool":
        return np.array([bool(value)], np.uint8)
    if element := _ELEMENTS.get(dtype):
        with np.errstate(over="ignore"):
            rounded = rounding(element)
            number = np.array([value]).astype(np.float32 if rounded else _NUMPY[dtype])
        return encode(rounded(number), element) if rounded else number
    bits = 8 * ITEM_BYTES[dtype]
    return np.array([int(value) % (1 << bits)], f"u{bits // 8}").view(_NUMPY[dtype])


def serve(channel: Channel) -> None:
    """Answers requests until the judge hangs up."""
    serving.serve(channel, SIMULATOR_REQUEST, _answer)


def _answer(request: Simulate, descriptors: list[int]) -> Result:
    maps = []
    try:
        plan = read_plan(serving.contents(descriptors[0], request.bytes))
        sizes = [each.bytes for each in plan.buffers if each.given]
        memories: list[list[Array]] = []
        for number in range(request.call + 1):
            memories.append([])
            own = descriptors[1 + number * len(sizes) :][: len(sizes)]
            for size, descriptor in zip(sizes, own, strict=True):
                maps.append(mmap.mmap(descriptor, size) if size else None)
                memories[-1].append(np.zeros(0, np.uint8) if maps[-1] is None else np.frombuffer(maps[-1], np.uint8))
        result = run(
            plan, *memories, outputs=[request.output], operations=request.operations, seconds=request.seconds or inf,
            mode=Mode(masked=request.masked, order=request.order, early=request.early, device=request.device),
            twice=request.twice,
            watch=request.watch)
    except (Malformed, ValueError, IndexError, OSError) as error:
        result = CannotSimulate(seq=request.seq, operation=f"{type(error).__name__}: {error}"[:200])
    if isinstance(result, Simulated) and len(result.model_dump_json()) > MOST_TOLD:
        # A text may be full of characters that take six bytes each.
        result = result.model_copy(update={
            "findings": result.findings[:4], "accesses": [], "printed": result.printed[:1000]})
    return result.model_copy(update={"seq": request.seq})
