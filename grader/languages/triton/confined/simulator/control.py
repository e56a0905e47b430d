"""Loops, branches and calls, and operations with a body: reductions and scans.

Programs run in lockstep. If programs take both sides of a branch, each side runs for all of them, but has effects only
for those that take it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import numpy as np

from grader.languages.triton.confined.simulator.arithmetic import BINARY
from grader.languages.triton.confined.simulator.atomics import atomic, compare_and_swap, reduce_block
from grader.languages.triton.confined.simulator.machine import FLOOR, Env, Machine, Pipeline
from grader.languages.triton.confined.simulator.memory import (
    advance,
    gather_rows,
    load,
    load_block,
    make_block,
    scatter_rows,
    store,
    store_block,
)
from grader.languages.triton.confined.simulator.orders import any_order, combined
from grader.languages.triton.confined.simulator.pointers import Value, merge
from grader.languages.triton.confined.simulator.ramps import plain
from grader.languages.triton.confined.simulator.text import BasicBlock, Op, callee
from grader.languages.triton.confined.simulator.types import KEPT, UNSIGNED, Array, full
from grader.languages.triton.text import unescaped
from grader.plan.limits import Limit, Unsupported
from grader.plan.messages import INLINE_ASSEMBLY
from grader.simulation.findings import PRINTED


def _program_id(machine: Machine, op: Op, _: list[Any], __: Env, ___: Array | None) -> Array:
    axis = "xyz".index(op.body.strip()[:1] or "?")
    if machine.grid[axis] == 1:
        return np.zeros(1, np.int32)
    x, y, _z = machine.grid
    numbers = machine.numbers
    return ((numbers % x, numbers // x % y, numbers // (x * y))[axis]).astype(np.int32)


def _programs(machine: Machine, op: Op, _: list[Any], __: Env, ___: Array | None) -> Array:
    return np.array([machine.grid["xyz".index(op.body.strip()[:1] or "?")]], np.int32)


def _side(machine: Machine, condition: Array, active: Array | None) -> tuple[Array | None, Array | None, bool | None]:
    """Return the programs that take each side of a branch, and the side that all active programs take; None for that if
    they take both."""
    if condition.size == 1:
        return active, active, bool(condition.reshape(-1)[0])
    yes = condition if active is None else condition & active
    if not yes.any():
        return None, active, False
    no = ~condition if active is None else ~condition & active
    return yes, no, None if no.any() else True


def _if(machine: Machine, op: Op, values: list[Any], env: Env, active: Array | None) -> list[Value]:
    yes, no, common = _side(machine, values[0], active)
    sides = [region[0] for region in op.regions]
    if common is not None:
        return machine.block(sides[0], env, active)[1] if common else (
            machine.block(sides[1], env, active)[1] if len(sides) > 1 else [])
    first = machine.block(sides[0], env, yes)[1]
    second = machine.block(sides[1], env, no)[1] if len(sides) > 1 else []
    return [merge(yes, new, old) for new, old in zip(first, second, strict=True)]


def _looped(run: Callable[..., Any]) -> Callable[..., Any]:
    """Return a loop that reports its number of iterations if a limit ends it. If loops are nested, the
    one with the most iterations is reported."""

    def looped(machine: Machine, op: Op, *rest: Any) -> Any:
        before = machine.rounds
        machine.rounds = 0
        try:
            return run(machine, op, *rest)
        except Limit as limit:
            if machine.rounds > limit.rounds and limit.what in ("operations", "time"):
                limit.rounds, machine.op = machine.rounds, op
            raise
        finally:
            machine.rounds = before

    return looped


def _for(machine: Machine, op: Op, values: list[Any], env: Env, active: Array | None) -> list[Value]:
    (low, high, step), carried, body = values[:3], list(values[3:]), op.regions[0][0]
    wide = np.maximum(1, step.astype(np.int64))
    rounds = np.maximum(0, -((low.astype(np.int64) - high) // wide))
    if active is not None:
        rounds = np.where(active, rounds, 0)
    most, least = int(rounds.max()), int(rounds.min())
    pipeline = Pipeline(op, machine.stages) if machine.shared else None
    if pipeline is not None:
        machine.loops.append(pipeline)
    for number in range(most):
        inner = active if number < least or rounds.size == 1 else rounds > number
        machine.rounds += 1
        machine.budget.charge(2 * FLOOR)
        if pipeline is not None:
            pipeline.begin()
        env[body.arguments[0]] = (low + number * wide).astype(low.dtype)
        env.update(zip(body.arguments[1:], carried, strict=True))
        new = machine.block(body, env, inner)[1]
        # Unless the loop itself diverges, every program takes part in an iteration; values of inactive programs are
        # never read.
        carried = new if inner is active else [merge(inner, value, old)
                                               for value, old in zip(new, carried, strict=True)]
    if pipeline is not None:
        machine.loops.remove(pipeline)
    return carried


def _while(machine: Machine, op: Op, values: list[Any], env: Env, active: Array | None) -> list[Value]:
    if op.vanishes:
        machine.findings.undefined(machine.place(), "spin")
    (before,), (after,) = op.regions
    carried, results = list(values), None
    active = np.ones(machine.count, bool) if active is None else active
    version, rounds = machine.version, 0
    while True:
        machine.rounds += 1
        machine.budget.charge(4 * (FLOOR + sum(value.size for value in carried)))
        env.update(zip(before.arguments, carried, strict=True))
        ended = machine.block(before, env, None if active.all() else active)[1]
        going: Any = ended[0]
        forwarded = ended[1:]
        results = forwarded if results is None else [
            merge(active, new, old) for new, old in zip(forwarded, results, strict=True)]
        goes = active & going
        if not goes.any():
            return results
        if op.endless:
            machine.op = op
            raise Limit("endless")
        env.update(zip(after.arguments, forwarded, strict=True))
        new = machine.block(after, env, None if goes.all() else goes)[1]
        moved = [merge(goes, value, old) for value, old in zip(new, carried, strict=True)] if not goes.all() else new
        # The same programs with the same values and the same memory go on in the same way for ever.
        rounds += 1
        if rounds % 8 == 0 and version == machine.version and (goes == active).all() and _same(moved, carried):
            machine.op = op
            raise Limit("stalled" if machine.code.spins else "endless")
        version, active, carried = machine.version, goes, moved


def _same(left: list[Value], right: list[Value]) -> bool:
    return all(
        a is b or (isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.array_equal(a, b))
        for a, b in zip(left, right, strict=True))


def _call(machine: Machine, op: Op, values: list[Any], _: Env, active: Array | None) -> list[Value]:
    machine.calls.append(op)
    results = machine.call(callee(op), values, active)
    machine.calls.pop()
    return results


_REDUCERS = {
    name: function for name, function in BINARY.items()
    if isinstance(function, np.ufunc) and name not in ("arith.subi", "arith.subf", "arith.divf", "arith.remf")}


def _reducer(machine: Machine, block: BasicBlock) -> np.ufunc | None:
    """Return NumPy's function for a body of a single operation, directly or through functions; None for other
    bodies."""
    for op in combined(block, machine.code.functions):
        if len(op.operands) != 2 or op.types[0].element in ("bf16", "i1", "f8E4M3FN", "f8E5M2"):
            return None
        if op.name != "tt.call":
            return _REDUCERS.get(op.name)
    return None


def _combine(machine: Machine, op: Op, env: Env, left: list[Array], right: list[Array]) -> list[Array]:
    """Return the body's results for lanes of two sides: each lane counts as a program."""
    shape = left[0].shape
    block, count = op.regions[0][0], machine.count
    flat = [tensor.reshape(-1) for tensor in (*left, *right)]
    inner = dict(zip(block.arguments, flat, strict=True))
    machine.count = flat[0].size
    results = machine.block(block, {**env, **inner}, None)[1]
    machine.count = count
    return [np.broadcast_to(np.asarray(result), (flat[0].size,)).reshape(shape) for result in results]


def _map(machine: Machine, op: Op, values: list[Any], env: Env, active: Array | None) -> list[Value]:
    """Run `tl.map_elementwise`: call a function for each lane, or for `pack` neighbouring ones. Each call counts as a
    program."""
    shape, pack, block = op.inputs[0].shape, int(op.attribute("pack")), op.regions[0][0]
    count, numbers, owners = machine.count, machine.numbers, machine.owners
    calls = prod(shape) // pack
    lanes = [np.broadcast_to(full(value, shape), (count, *shape)).reshape(-1, pack) for value in values]
    given = [np.ascontiguousarray(array[:, lane]) for array in lanes for lane in range(pack)]
    machine.count, machine.numbers, machine.owners = count * calls, numbers.repeat(calls), owners.repeat(calls)
    taking = None if active is None else active.repeat(calls)
    results = machine.block(block, {**env, **dict(zip(block.arguments, given, strict=True))}, taking)[1]
    columns: list[Array] = [np.broadcast_to(plain(result), (machine.count,)) for result in results]
    machine.count, machine.numbers, machine.owners = count, numbers, owners
    return [np.stack(columns[first : first + pack], -1).reshape(count, *shape)
            for first in range(0, len(columns), pack)]


def _last(op: Op, values: list[Any]) -> tuple[int, list[Array]]:
    """Return the axis of a reduction or scan, and its full tensors with that axis moved to the end."""
    axis = int(op.attribute("axis")) + 1
    shape = op.inputs[0].shape
    programs = max(len(value) for value in values)
    return axis, [np.moveaxis(np.broadcast_to(full(value, shape), (programs, *shape)), axis, -1) for value in values]


def _reduce(machine: Machine, op: Op, values: list[Any], env: Env, _: Array | None) -> list[Value]:
    machine.budget.charge(sum(kind.size for kind in op.inputs) * max(len(value) for value in values))
    axis, tensors = _last(op, values)
    function = _reducer(machine, op.regions[0][0])
    if function is not None and len(tensors) == 1:
        return [function.reduce(np.moveaxis(tensors[0], -1, axis), axis=axis, dtype=tensors[0].dtype)]
    size, turned = tensors[0].shape[-1], _turned(machine, op)
    while size > 1:
        if size % 2:
            raise Unsupported("a reduction of a length that is no power of 2")
        size //= 2
        halves = [tensor[..., :size] for tensor in tensors], [tensor[..., size:] for tensor in tensors]
        if turned:
            halves = [tensor[..., 1::2] for tensor in tensors], [tensor[..., ::2] for tensor in tensors]
        tensors = _combine(machine, op, env, *halves)
    return [tensor[..., 0] for tensor in tensors]


def _turned(machine: Machine, op: Op) -> bool:
    """Return whether a reduction or scan has to take another order, and note a function that may depend on the
    order."""
    if any_order(op, machine.code.functions):
        return False
    machine.findings.undefined(machine.place(), "reduction", certain=False)
    return machine.turned


def _scan(machine: Machine, op: Op, values: list[Any], env: Env, _: Array | None) -> list[Value]:
    machine.budget.charge(sum(kind.size for kind in op.inputs) * max(len(value) for value in values))
    axis, tensors = _last(op, values)
    backwards = op.attribute("reverse", "false") == "true"
    if backwards:
        tensors = [tensor[..., ::-1] for tensor in tensors]
    function = _reducer(machine, op.regions[0][0])
    if function is not None and len(tensors) == 1:
        tensors = [function.accumulate(tensors[0], axis=-1, dtype=tensors[0].dtype)]
    elif _turned(machine, op):
        # Lane after lane; the usual order below combines partial results as in a tree.
        last, columns = [tensor[..., :1] for tensor in tensors], [[tensor[..., :1]] for tensor in tensors]
        for lane in range(1, tensors[0].shape[-1]):
            last = _combine(machine, op, env, last, [tensor[..., lane : lane + 1] for tensor in tensors])
            for column, result in zip(columns, last, strict=True):
                column.append(result)
        tensors = [np.concatenate(column, -1) for column in columns]
    else:
        # Each lane adds the partial result that ends `distance` lanes before it, for distances 1, 2, 4, …
        distance = 1
        while distance < tensors[0].shape[-1]:
            new = _combine(machine, op, env, [tensor[..., :-distance] for tensor in tensors],
                           [tensor[..., distance:] for tensor in tensors])
            tensors = [np.concatenate([old[..., :distance], value], -1)
                       for old, value in zip(tensors, new, strict=True)]
            distance *= 2
    if backwards:
        tensors = [tensor[..., ::-1] for tensor in tensors]
    return [np.moveaxis(tensor, -1, axis) for tensor in tensors]


def _message(op: Op) -> str:
    """Return the student's words in an assertion or a print, which the text has as escaped bytes."""
    words = unescaped(op.strings[0][:PRINTED]) if op.strings else ""
    return words.encode("latin-1", "replace").decode("utf-8", "replace")


def _assert(machine: Machine, op: Op, values: list[Any], _: Env, active: Array | None) -> None:
    failed = ~values[0]
    if active is not None:
        failed = failed & active.reshape((-1,) + (1,) * (failed.ndim - 1))
    if failed.any() and machine.count == machine.numbers.size:
        rows = np.broadcast_to(failed.reshape(len(failed), -1).any(1), (machine.count,))
        machine.findings.failed(machine.place(), _message(op), int(np.argmax(rows)))


def _print(machine: Machine, op: Op, values: list[Any], _: Env, active: Array | None) -> None:
    findings = machine.findings
    room = PRINTED - len(findings.printed)
    # Checked before any work, since a loop may print whole tensors for ever.
    if room <= 0:
        return
    lines: list[str] = []
    for line in _printed(machine, op, values, active):
        lines.append(line)
        room -= len(line)
        if room <= 0:
            break
    findings.printed += "".join(lines)
    machine.budget.charge(FLOOR * len(lines))


def _printed(machine: Machine, op: Op, values: list[Any], active: Array | None) -> Iterator[str]:
    """Yield the lines of a print: each lane of each value of each program."""
    place, prefix = machine.place(), _message(op)
    tensors = [value if isinstance(value, np.ndarray) else value.address() for value in values]
    # Each program prints at least a line.
    rows = range(min(machine.count, PRINTED)) if active is None else np.flatnonzero(active)[:PRINTED].tolist()
    for row in rows:
        head = f"pid {place.program(int(machine.numbers[row]))}"
        if not tensors:
            yield f"{head}{prefix}\n"
        for value, kind, signed in zip(tensors, op.inputs, op.numbers("isSigned"), strict=True):
            lanes = full(value[row : row + 1] if len(value) > 1 else value, kind.shape)[0]
            lanes = lanes if signed or lanes.dtype.kind != "i" else lanes.view(UNSIGNED[lanes.dtype])
            for index in np.ndindex(lanes.shape):
                at = f" idx {index}" if kind.shape else ""
                yield f"{head}{at}{prefix}{lanes[index]!s}\n"


def _assume(machine: Machine, _: Op, values: list[Any], __: Env, active: Array | None) -> None:
    if not (values[0] if active is None else values[0] | ~active).all():
        machine.findings.undefined(machine.place(), "assume")


def _barrier(machine: Machine, *_: Any) -> None:
    machine.barriers += 1


def _wait(machine: Machine, *_: Any) -> None:
    """Note that a launch waits for the launch before it. Nothing has to wait: launches run one after another."""
    machine.earlier = None


def _launch_dependents(machine: Machine, *_: Any) -> None:
    machine.ahead = True


_DEPENDENT = re.compile(r"^griddepcontrol\.(wait|launch_dependents);(?: // dummy \$0)?$")


def _assembly(op: Op) -> Callable[..., Any]:
    """Return the function of assembly that waits for a launch or lets one begin, as Triton up to 3.8 writes it. All
    other assembly needs a GPU."""
    match = _DEPENDENT.match(op.strings[0]) if op.strings else None
    if match is None:
        raise Unsupported(INLINE_ASSEMBLY)
    value = np.zeros((1,) * (len(op.types[0].shape) + 1), KEPT[op.types[0].element])

    def depend(machine: Machine, *_: Any) -> Array:
        _wait(machine) if match[1] == "wait" else _launch_dependents(machine)
        return value

    return depend


ENDS = {"scf.yield", "scf.condition", "tt.return", "tt.reduce.return", "tt.scan.return",
        "tt.map_elementwise.return", "cf.br", "cf.cond_br"}  # fmt: skip
RUNS: dict[str, Callable[..., Any]] = {
    "tt.get_program_id": _program_id, "tt.get_num_programs": _programs, "scf.if": _if,
    "scf.for": _looped(_for), "scf.while": _looped(_while), "tt.call": _call, "tt.reduce": _reduce,
    "tt.scan": _scan, "tt.map_elementwise": _map, "tt.assert": _assert,
    "tt.print": _print, "tt.load": load, "tt.store": store, "tt.atomic_rmw": atomic, "tt.atomic_cas": compare_and_swap,
    "tt.make_tensor_ptr": make_block, "tt.make_tensor_descriptor": make_block, "tt.advance": advance,
    "tt.descriptor_load": load_block, "tt.descriptor_store": store_block, "tt.descriptor_reduce": reduce_block,
    "tt.descriptor_gather": gather_rows, "tt.descriptor_scatter": scatter_rows,
    "gpu.barrier": _barrier, "ttg.barrier": _barrier, "llvm.intr.assume": _assume,
    "tt.grid_dependency_wait": _wait, "tt.grid_dependency_launch_dependents": _launch_dependents,
}  # fmt: skip
MADE: dict[str, Callable[[Op], Callable[..., Any]]] = {"tt.elementwise_inline_asm": _assembly}
