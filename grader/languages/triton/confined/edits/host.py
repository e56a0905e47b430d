"""Host code: sizes of tensors, grids, blocks, and where a tensor is made."""

from __future__ import annotations

import ast
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence

from grader.languages.drafts import Change, Draft
from grader.languages.triton.confined.edits.draft import instead, keyword
from grader.languages.triton.confined.edits.source import SourceTree
from grader.languages.triton.confined.edits.units import File, Unit, called, names_bound, within
from grader.plan.messages import GivenTensor

_OPTIONS = ("num_warps", "num_stages", "num_ctas")
_MAKERS = frozenset({"empty", "zeros", "ones", "full", "arange"})


def edits(file: File, unit: Unit) -> Iterator[Draft]:
    if unit.kernel:
        return
    source = file.source
    sizes = _sizes(file, unit)
    yield from _unpacked(source, unit)
    for node in unit.expressions:
        if _is_size(source, node):
            for text in sizes:
                if text != source.short(node):
                    yield instead(source, "name", 1.7, node, text)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and unit.roles.get(node.id) == "size":
            for text in sizes:
                yield instead(source, "name", 2.2, node, text)
    for one in unit.expressions:
        if isinstance(one, ast.Subscript) and unit.role(one.value) == "tensor":
            yield from _slice(source, one)
    for statement in unit.statements:
        yield from _written(source, file, unit, statement)
    for call in unit.calls:
        yield from _made(file, unit, call)
        yield from _unary(source, unit, call)
    for parameter, given in zip(unit.parameters, file.given, strict=False):
        if isinstance(given, GivenTensor) and given.place == "host":
            # A kernel cannot read memory of the host.
            for one in unit.expressions:
                if isinstance(one, ast.Name) and one.id == parameter.arg and isinstance(one.ctx, ast.Load):
                    yield Draft("place", 0.7, (source.put(one, f"{one.id}.cuda()"),))
    for call in unit.launches:
        yield from _launch(source, unit, call, sizes)
    yield from _whole(file, unit)


def _whole(file: File, unit: Unit) -> Iterator[Draft]:
    """Yield edits that put `size % block == 0` for `size >= block`: a fast path for whole blocks needs a multiple."""
    chosen = [one for kernel in file.kernels.values() for mark in kernel.node.decorator_list for one in within(mark)]
    for node in (*unit.expressions, *chosen):
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Gt | ast.GtE):
            text = file.source.operation(node.left, ast.Mod(), node.comparators[0])
            yield instead(file.source, "comparison", 0.5, node, f"{text} == 0")


def _sizes(file: File, unit: Unit) -> list[str]:
    """Return sizes of the given tensors, as host code writes them."""
    found = []
    for parameter, given in zip(unit.parameters, file.given, strict=False):
        if isinstance(given, GivenTensor) and unit.roles.get(parameter.arg) == "tensor":
            found += [f"{parameter.arg}.numel()"] + [
                f"{parameter.arg}.shape[{axis}]" for axis in range(min(len(given.shape), 4))]
    return found[:16]


def _is_size(source: SourceTree, node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return called(node) in ("numel", "size", "nelement", "len", "stride")
    return isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape"


def _unpacked(source: SourceTree, unit: Unit) -> Iterator[Draft]:
    """Yield edits that put `N, M = x.shape` for `M, N = x.shape`."""
    for statement in unit.statements:
        if isinstance(statement, ast.Assign) and isinstance(target := statement.targets[0], ast.Tuple):
            for one, other in itertools.combinations(target.elts[:6], 2):
                yield Draft("order", 0.7, (
                    source.put(one, source.of(other)), source.put(other, source.of(one))))


def _slice(source: SourceTree, node: ast.Subscript) -> Iterator[Draft]:
    """Yield edits that take another row or column of a tensor."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if len(parts) == 2 and source.of(parts[0]) != source.of(parts[1]):
        yield Draft("index", 1.0, _swapped(source, parts[0], parts[1]))
    elif len(parts) == 1 and not isinstance(parts[0], ast.Slice):
        yield Draft("index", 1.2, (source.instead(
            source.start(parts[0]), source.end(parts[0]), f":, {source.of(parts[0])}"),))
    for part in parts:
        if not isinstance(part, ast.Slice | ast.Starred) and source.of(part) != "0":
            yield instead(source, "index", 1.0, part, "0")


def _swapped(source: SourceTree, one: ast.expr, other: ast.expr) -> tuple[Change, Change]:
    """Return changes that exchange two parts of a subscript, which may be slices."""
    return (Change(start=source.start(one), end=source.end(one), text=source.of(other)),
            Change(start=source.start(other), end=source.end(other), text=source.of(one)))


def _written(source: SourceTree, file: File, unit: Unit, statement: ast.stmt) -> Iterator[Draft]:
    """Yield an edit that writes a value into the output, if the statement binds the output's name or returns."""
    outputs = [parameter.arg for parameter, given in zip(unit.parameters, file.given, strict=False)
               if isinstance(given, GivenTensor) and given.output]
    value = getattr(statement, "value", None)
    if not outputs or not isinstance(value, ast.expr):
        return
    bound = isinstance(statement, ast.Assign) and source.of(statement.targets[0]) in outputs
    if bound or (isinstance(statement, ast.Return) and source.of(value) not in outputs):
        yield Draft("function", 1.0, (source.instead(
            source.start(statement), source.end(statement), f"{outputs[-1]}.copy_({source.of(value)})"),))


def _unary(source: SourceTree, unit: Unit, call: ast.Call) -> Iterator[Draft]:
    """Yield edits that take another axis of a size or a stride, or take a transposition away."""
    if called(call) in ("size", "stride") and len(call.args) == 1:
        for text in ("0", "1", "2"):
            if source.of(call.args[0]) != text:
                yield instead(source, "axis", 1.2 + (text == "2"), call.args[0], text)
    elif called(call) in ("t", "contiguous", "transpose", "cpu", "half", "float", "view", "reshape", "flatten") and (
            isinstance(call.func, ast.Attribute)):
        yield instead(source, "extra", 1.4, call, source.of(call.func.value))


def _made(file: File, unit: Unit, call: ast.Call) -> Iterator[Draft]:
    """Yield edits of where a tensor is made, and of what it holds."""
    source, name = file.source, called(call)
    if not isinstance(call.func, ast.Attribute) or source.of(call.func.value) != "torch":
        return
    added = any(called(one).startswith("atomic_") for kernel in file.kernels.values() for one in kernel.calls)
    # Zeros matter only if kernels add to the tensor.
    if added and name in ("empty", "empty_like"):
        yield Draft("function", 1.4, (source.put(call.func, f"torch.{name.replace('empty', 'zeros')}"),))
    tensors = unit.names("tensor", before=1)
    device = next((key.value for key in call.keywords if key.arg == "device"), None)
    if name in _MAKERS and tensors:
        text = f"{tensors[0]}.device"
        if device is None:
            yield Draft("place", 0.6, (keyword(source, call, f"device={text}"),))
        elif source.of(device) != text:
            yield instead(source, "place", 0.9, device, text)
    dtype = next((key.value for key in call.keywords if key.arg == "dtype"), None)
    # A sum over programs loses precision in a narrow type, where a sum within a program is kept in registers.
    weight = 0.9 if added else 2.2
    if dtype is None and (name in _MAKERS or (added and name.endswith("_like"))):
        yield Draft("type", weight, (keyword(source, call, "dtype=torch.float32"),))
    elif dtype is not None and source.of(dtype) != "torch.float32":
        yield instead(source, "type", weight, dtype, "torch.float32")


def _launch(source: SourceTree, unit: Unit, call: ast.Call, sizes: Sequence[str]) -> Iterator[Draft]:
    own, rests = unit.names("size", before=call.lineno), _rests(unit)
    for argument in call.args:
        if isinstance(argument, ast.Name):
            # A remainder begins at the size less its own length.
            for text in (*own, *sizes) if argument.id in rests else ():
                yield instead(source, "missing", 1.3, argument, f"{text} - {argument.id}")
        elif not isinstance(argument, ast.Starred):
            for text in (*own, *sizes):
                if text != source.short(argument):
                    yield instead(source, "name", 2.4, argument, text)
    grid = _grid_of(unit, call)
    blocks = [source.of(key.value) for key in call.keywords if key.arg not in _OPTIONS]
    for key in call.keywords:
        if key.arg in _OPTIONS:
            if source.of(key.value) != "4":
                yield instead(source, "block", 0.9 if key.arg == "num_warps" else 2.4, key.value, "4")
        else:
            yield from _block(source, key.value, own, sizes)
    if grid is not None:
        yield from _grid(source, unit, grid, blocks, (*own, *sizes))
        yield from _agreeing(source, unit, call, grid)


def _rests(unit: Unit) -> set[str]:
    """Return the names that hold remainders of divisions."""
    return {name for one in unit.statements if isinstance(one, ast.Assign)
            and any(called(node) == "divmod" or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod))
                    for node in within(one.value)) for name in names_bound(one)}


def _grid_of(unit: Unit, call: ast.Call) -> ast.expr | None:
    assert isinstance(call.func, ast.Subscript)
    grid: ast.expr | None = call.func.slice
    if isinstance(grid, ast.Name):
        grid = unit.wholes.get(grid.id)
    return grid.body if isinstance(grid, ast.Lambda) else grid


def _block(source: SourceTree, value: ast.expr, own: Sequence[str], sizes: Sequence[str]) -> Iterator[Draft]:
    """Yield edits that make a block a power of two, or make it cover more."""
    number = value.value if isinstance(value, ast.Constant) else None
    if isinstance(number, int) and 0 < number <= 1 << 20:
        power = 1 << max(0, number - 1).bit_length()
        if power != number:
            yield instead(source, "block", 0.7, value, str(power))
            yield instead(source, "block", 0.8, value, str(power // 2))
    elif called(value) != "next_power_of_2":
        yield instead(source, "block", 0.7, value, f"triton.next_power_of_2({source.of(value)})")
    if isinstance(value, ast.Call) and value.args:
        for text in (*own, *sizes):
            if text != source.short(value.args[0]):
                yield instead(source, "block", 1.8, value.args[0], text)


def _grid(
    source: SourceTree, unit: Unit, grid: ast.expr, blocks: Sequence[str], sizes: Sequence[str]
) -> Iterator[Draft]:
    divided = [f"triton.cdiv({size}, {block})" for size in sizes for block in dict.fromkeys(blocks[:3])]
    if not isinstance(grid, ast.Tuple):
        comma = Change(start=source.end(grid), end=source.end(grid), text=",")
        yield Draft("grid", 0.7, (comma if source.enclosed(grid) else source.put(grid, f"({source.of(grid)},)"),))
        return
    for one, other in itertools.combinations(grid.elts, 2):
        if source.of(one) != source.of(other):
            yield Draft("grid", 0.9, (source.put(one, source.of(other)), source.put(other, source.of(one))))
    for axis in grid.elts:
        for text, weight in (*((size, 1.9) for size in sizes), *((text, 1.8) for text in divided)):
            # One program for each element, though each takes many, only hides elements that are left out.
            if "".join(text.split()) != source.short(axis) and not (text in sizes and called(axis) == "cdiv"):
                yield instead(source, "grid", weight, axis, text)
    if len(grid.elts) == 1:
        for text in (*divided, *sizes):
            yield instead(source, "grid", 2.3, grid, f"({source.of(grid.elts[0])}, {text})")


def _agreeing(source: SourceTree, unit: Unit, call: ast.Call, grid: ast.expr) -> Iterator[Draft]:
    """Yield edits that make a block in a grid agree with a block that its launch passes, by changing either."""
    inside, paired = [node for node in within(grid) if _is_block(node)], agreed(source, unit)
    given = [key.value for key in call.keywords if key.arg not in _OPTIONS and _is_block(key.value)]
    for node in inside:
        for value in dict.fromkeys(source.of(one) for one in given):
            if value != source.of(node) and node not in paired:
                yield instead(source, "grid", 0.9, node, value)
    for number in dict.fromkeys(source.of(one) for one in inside):
        same = [one for one in inside if source.of(one) == number]
        for value in dict.fromkeys(source.of(one) for one in given) if len(same) > 1 else ():
            if value != number:
                yield Draft("grid", 0.9, [source.put(one, value) for one in same])
    for node in given:
        for text in dict.fromkeys(source.of(one) for one in inside):
            if text != source.of(node) and node not in paired:
                yield instead(source, "block", 1.0, node, text)


def agreed(source: SourceTree, unit: Unit) -> set[ast.expr]:
    """Return the numbers and names in which a grid and its launch agree: each is a divisor in the grid once, and a
    block of the launch once. A change of only one of the two launches too many programs, or too small ones."""
    found, apart = set[ast.expr](), set[ast.expr]()
    for launch in unit.launches:
        grid = _grid_of(unit, launch)
        divisors = [node for call in within(grid) if isinstance(call, ast.Call) and called(call) == "cdiv"
                    for one in call.args[1:] for node in within(one)] if grid is not None else []
        given = [key.value for key in launch.keywords if key.arg not in _OPTIONS]
        counts = [Counter(map(source.of, nodes)) for nodes in (divisors, given)]
        pairs = {text for text, count in counts[0].items() if count == counts[1][text] == 1}
        found |= {node for node in (*divisors, *given) if source.of(node) in pairs}
        apart |= {node for node in divisors if source.of(node) not in pairs}
    return found - apart


def _is_block(node: ast.expr) -> bool:
    """Return whether a node may be the size of a block: a number, or a name."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int) and node.value > 1
    return isinstance(node, ast.Name) and node.id.isupper() and len(node.id) > 1
