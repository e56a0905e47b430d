"""The functions that a graded function reaches, and the role of each name in them: a size, a pointer, a mask and so on.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal

from grader.languages.triton.confined.edits.source import SourceTree
from grader.plan.messages import Given

Role = Literal["pointer", "size", "stride", "block", "program", "index", "mask", "value", "tensor", "grid", "other"]
"""The role of a name. In a kernel: `pointer`, one or a block of them; `size` of a tensor; `stride`; `block`, a
compile-time constant; `program`, a program's number or where its part starts; `index`, indices of elements; `mask`;
`value`, a number or numbers. On the host: `tensor`; `size`, any integer; `grid`; `value`, a number that the judge
gives."""
Function = ast.FunctionDef | ast.AsyncFunctionDef

MOST_NAMES = 16
"""The most names of each role that take a name's place."""
MOST_READ = 64
"""The most nodes that the role of an expression is read from."""
MEMORY = frozenset({
    "load", "store", "atomic_add", "atomic_max", "atomic_min", "atomic_xchg", "atomic_cas", "atomic_and", "atomic_or"})
_INDICES = frozenset({"arange"})
_PROGRAMS = frozenset({"program_id"})
_SIZES = frozenset({"cdiv", "num_programs", "next_power_of_2", "numel", "size", "len", "nelement", "dim"})
_TENSORS = frozenset({
    "empty", "zeros", "ones", "full", "empty_like", "zeros_like", "ones_like", "full_like", "reshape", "view", "t",
    "contiguous", "transpose", "permute", "to", "cuda", "cpu", "flatten", "float", "half", "clone", "unsqueeze"})
_SAME = frozenset({"to", "max_contiguous", "multiple_of", "cast", "broadcast_to", "expand_dims", "ravel", "trans"})
_ASIDE = frozenset({"annotation", "returns", "decorator_list"})
# The result of an operator has the first of these roles that an operand has.
_RANK: tuple[Role, ...] = ("pointer", "value", "index", "program", "size", "stride", "block")


@dataclass
class Unit:
    """A function, its names' roles, and the nodes of its body in the order of the text."""

    node: Function
    kernel: bool
    roles: dict[str, Role] = field(default_factory=dict)
    bound: dict[str, int] = field(default_factory=dict)
    """The first line that binds a local name; parameters are bound in line 0."""
    expressions: list[ast.expr] = field(default_factory=list)
    statements: list[ast.stmt] = field(default_factory=list)
    launches: list[ast.Call] = field(default_factory=list)
    calls: list[ast.Call] = field(default_factory=list)
    wholes: dict[str, ast.expr] = field(default_factory=dict)
    """The expression that a local name is first bound to."""
    spread: set[str] = field(default_factory=set)
    """Names of indices of two dimensions."""
    stepped: set[str] = field(default_factory=set)
    """Variables of loops with a step of their own, as in `range(0, n, BLOCK)`."""
    _with: dict[Role, list[str]] = field(default_factory=dict)
    _of: dict[ast.expr, Role] = field(default_factory=dict)

    @property
    def parameters(self) -> list[ast.arg]:
        return parameters(self.node)

    def names(self, *roles: Role, before: int = 1 << 30) -> list[str]:
        """Return the names with one of these roles that are bound before a line; of each role the last MOST_NAMES."""
        if not self._with:
            for name, role in self.roles.items():
                self._with.setdefault(role, []).append(name)
        names: list[str] = []
        for role in roles:
            bound = (name for name in reversed(self._with.get(role, ())) if self.bound.get(name, before) < before)
            names += reversed(list(islice(bound, MOST_NAMES)))
        return names

    def unused(self) -> set[str]:
        """Return the names, most of them parameters, that are bound and never used."""
        used = {node.id for node in self.expressions if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        return set(self.roles) - used

    def of_a_tile(self, node: ast.expr) -> bool:
        """Return whether an expression is computed from something that is spread over rows and columns."""
        waiting, seen = [iter(ast.walk(node))], set[str]()
        for _ in range(4 * MOST_READ):
            while waiting and (part := next(waiting[-1], None)) is None:
                waiting.pop()
            if not waiting or part is None:
                break
            if is_spread(part) or (isinstance(part, ast.Name) and part.id in self.spread):
                return True
            if isinstance(part, ast.Name) and part.id not in seen and part.id in self.wholes:
                seen.add(part.id)
                waiting.append(iter(ast.walk(self.wholes[part.id])))
        return False

    def whole(self, node: ast.expr) -> ast.expr | None:
        """Return the expression itself; for a name, the expression that it is first bound to, None if that is not
        known."""
        return self.wholes.get(node.id) if isinstance(node, ast.Name) else node

    def role(self, node: ast.expr) -> Role:
        """Return the role of an expression."""
        if isinstance(node, ast.Name):
            return self.roles.get(node.id, "other")
        if (role := self._of.get(node)) is None:
            role = self._of[node] = _role(node, self)
        return role


@dataclass
class File:
    """The units of a file that the graded function reaches, and what is known of its parameters."""

    source: SourceTree
    given: Sequence[Given]
    units: list[Unit]
    constants: list[ast.Assign] = field(default_factory=list)
    """The module's constants that the units use."""
    bound: set[str] = field(default_factory=set)
    """All names that the file binds, and Python's builtins."""

    @property
    def kernels(self) -> dict[str, Unit]:
        return {unit.node.name: unit for unit in self.units if unit.kernel}


def read(source: SourceTree, function: str, given: Sequence[Given]) -> File:
    """Return the units that the graded function reaches; none if there is no such function."""
    functions: dict[str, Function] = {}
    constants: dict[str, ast.Assign] = {}
    for node in ast.walk(source.tree):
        if isinstance(node, Function):
            functions.setdefault(node.name, node)
        elif isinstance(node, ast.Assign) and isinstance(source.place[node].parent, ast.Module):
            constants |= {target.id: node for target in node.targets if isinstance(target, ast.Name)}
    # An autograd Function is a class, whose methods are all reached.
    methods = [method for node in source.tree.body if isinstance(node, ast.ClassDef) and node.name == function
               for method in node.body if isinstance(method, Function)]
    reached, used = [functions[function]] if function in functions else methods, dict[ast.Assign, None]()
    for caller in reached:
        for node in _inside(caller):
            name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
            if (callee := functions.get(name)) is not None and callee not in reached:
                reached.append(callee)
            if name in constants:
                used[constants[name]] = None
    # A nested function is part of the outer one.
    reached = [node for node in reached if not any(place.parent in reached for place in source.up(node))]
    units = [Unit(node, any("jit" in source.of(decorator) for decorator in node.decorator_list))
             for node in sorted(reached, key=lambda node: node.lineno)]
    file = File(source, given, units, sorted(used, key=lambda assign: assign.lineno), _bound(source.tree))
    kernels = file.kernels
    # Host code first: its launches show what the kernels' parameters are.
    for unit in sorted(units, key=lambda unit: unit.kernel):
        _fill(source, unit, kernels)
        if not unit.kernel:
            _name_host(unit, given if unit.node.name == function else ())
    for unit in units:
        if unit.kernel:
            _name_kernel(source, unit, units)
    return file


def _bound(tree: ast.Module) -> set[str]:
    names = set(dir(builtins))
    for node in ast.walk(tree):
        if isinstance(node, Function | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
    return names


def parameters(node: Function) -> list[ast.arg]:
    """Return a function's parameters, in order."""
    return [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]


def constant(source: SourceTree, parameter: ast.arg) -> bool:
    """Return whether a parameter is a compile-time constant."""
    return parameter.annotation is not None and "constexpr" in source.of(parameter.annotation)


def called(node: ast.expr) -> str:
    """Return the last name of a call's function, `load` for `tl.load(...)`; "" for any other expression."""
    if not isinstance(node, ast.Call):
        return ""
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def base_of(pointer: ast.expr) -> ast.Name | None:
    """Return the name that a pointer begins with."""
    while isinstance(pointer, ast.BinOp):
        pointer = pointer.left
    return pointer if isinstance(pointer, ast.Name) else None


def names_read(node: ast.AST) -> set[str]:
    return {name.id for name in ast.walk(node) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load)}


def names_bound(node: ast.AST) -> set[str]:
    return {name.id for name in ast.walk(node) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)}


def launched(node: ast.Call, kernels: dict[str, Unit]) -> Unit | None:
    """Return the kernel that a call launches."""
    if not isinstance(node.func, ast.Subscript):
        return None
    value = node.func.value
    return kernels.get(value.id if isinstance(value, ast.Name) else getattr(value, "attr", ""))


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes in a function, in the order of the text; f-strings and annotations are left out."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        yield part
        if isinstance(part, ast.JoinedStr):
            continue
        fields = [value for name, value in ast.iter_fields(part) if name not in _ASIDE]
        children = [child for value in fields for child in (value if isinstance(value, list) else [value])
                    if isinstance(child, ast.AST)]
        waiting += reversed(children)


def within(node: ast.AST) -> Iterator[ast.expr]:
    """Return the expressions in a node, the node included, in the order of the text."""
    return (part for part in _inside(node) if isinstance(part, ast.expr) and not isinstance(part, ast.JoinedStr))


def _fill(source: SourceTree, unit: Unit, kernels: dict[str, Unit]) -> None:
    for statement in unit.node.body:
        for node in _inside(statement):
            if isinstance(node, ast.stmt):
                unit.statements.append(node)
            elif isinstance(node, ast.expr) and not isinstance(node, ast.JoinedStr):
                unit.expressions.append(node)
                if isinstance(node, ast.Call):
                    unit.calls.append(node)
                    if not unit.kernel and launched(node, kernels):
                        unit.launches.append(node)
                elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    unit.bound.setdefault(node.id, node.lineno)
    unit.bound |= {parameter.arg: 0 for parameter in unit.parameters}


def _bindings(unit: Unit) -> Iterator[tuple[str, ast.expr | None, ast.stmt]]:
    """Yield local names, the expression that each is bound to (None for a loop's variable or a part of a tuple), and
    the statement that binds it."""
    for statement in unit.statements:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, ast.Name):
                    yield target.id, statement.value, statement
                elif isinstance(target, ast.Tuple):
                    values = statement.value.elts if isinstance(statement.value, ast.Tuple) and len(
                        statement.value.elts) == len(target.elts) else [None] * len(target.elts)
                    yield from ((node.id, value, statement) for node, value in zip(target.elts, values, strict=True)
                                if isinstance(node, ast.Name))
        elif isinstance(statement, ast.AugAssign | ast.AnnAssign) and isinstance(statement.target, ast.Name):
            yield statement.target.id, statement.value, statement
        elif isinstance(statement, ast.For) and isinstance(statement.target, ast.Name):
            yield statement.target.id, None, statement


def _name_host(unit: Unit, given: Sequence[Given]) -> None:
    for number, parameter in enumerate(unit.parameters):
        kind = given[number].kind if number < len(given) else "tensor"
        unit.roles[parameter.arg] = "tensor" if kind == "tensor" else "value"
    for name, value, _ in _bindings(unit):
        role: Role = "size"
        if value is not None:
            unit.wholes.setdefault(name, value)
            if isinstance(value, ast.Tuple | ast.Lambda):
                role = "grid"
            elif called(value) in _TENSORS:
                role = "tensor"
            elif isinstance(value, ast.Constant) and not isinstance(value.value, int):
                role = "other"
            elif isinstance(value, ast.Name):
                role = unit.roles.get(value.id, "size")
        unit.roles.setdefault(name, role)


def _name_kernel(source: SourceTree, unit: Unit, units: Sequence[Unit]) -> None:
    pointers = {base.id for call in unit.calls if called(call) in MEMORY and call.args
                and (base := base_of(call.args[0])) is not None}
    given = _arguments(unit, units)
    for parameter in unit.parameters:
        name = parameter.arg
        if constant(source, parameter):
            unit.roles[name] = "block"
        elif name in pointers and given.get(name) in ("value", "size", "stride"):
            # The launch passes a number where an address is needed: no name is exchanged with this one.
            unit.roles[name] = "other"
        elif name in pointers or name.endswith(("ptr", "_p")) or given.get(name) == "tensor":
            unit.roles[name] = "pointer"
        elif name in given:
            unit.roles[name] = given[name] if given[name] in ("value", "stride") else "size"
        elif "stride" in name:
            unit.roles[name] = "stride"
        else:
            sized = name.isupper() or name.startswith(("n", "size", "num", "rows", "cols"))
            unit.roles[name] = "size" if sized else "value"
    for name, value, statement in _bindings(unit):
        if isinstance(statement, ast.For) and isinstance(statement.iter, ast.Call) and len(statement.iter.args) == 3:
            unit.stepped.add(name)
        role: Role = "program" if value is None and isinstance(statement, ast.For) else "value"
        if value is not None:
            unit.wholes.setdefault(name, value)
            role = _role(value, unit)
            if role == "index" and any(is_spread(node) or (isinstance(node, ast.Name) and node.id in unit.spread)
                                       for node in ast.walk(value)):
                unit.spread.add(name)
        unit.roles.setdefault(name, role if role != "other" else "value")


def is_spread(node: ast.AST) -> bool:
    """Return whether a node is `x[:, None]`, `x[None, :]` or the like."""
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple) and any(
        isinstance(element, ast.Constant) and element.value is None for element in node.slice.elts)


def _arguments(unit: Unit, units: Sequence[Unit]) -> dict[str, Role]:
    """Return the roles of the arguments that the first launch of a kernel passes, by parameter."""
    names = [parameter.arg for parameter in unit.parameters]
    for host in units:
        for call in host.launches:
            value = call.func.value if isinstance(call.func, ast.Subscript) else call.func
            if getattr(value, "id", getattr(value, "attr", "")) == unit.node.name:
                roles = {name: host.role(node) for name, node in zip(names, call.args, strict=False)}
                return roles | {keyword.arg: host.role(keyword.value) for keyword in call.keywords if keyword.arg}
    return {}


def _role(node: ast.expr, unit: Unit) -> Role:
    """Return the role of an expression, from the roles of the names in it."""
    roles: set[Role] = set()
    waiting: list[ast.AST] = [node]
    # A longer expression shows no more, and a sum of thousands would be gone through for each of its parts.
    for _ in range(MOST_READ):
        if not waiting:
            break
        part = waiting.pop()
        if isinstance(part, ast.Name):
            roles.add(unit.roles.get(part.id, "other"))
        elif isinstance(part, ast.Call):
            name = called(part)
            if name in _INDICES:
                roles.add("index")
            elif name == "stride":
                roles.add("stride")
            elif name in _PROGRAMS:
                roles.add("program")
            elif name in _SIZES:
                roles.add("size")
            elif name in _SAME:
                waiting += [part.func.value] if isinstance(part.func, ast.Attribute) and not part.args[1:] and name in (
                    "to", "trans", "ravel") else part.args[:1]
            elif name in _TENSORS and not unit.kernel:
                roles.add("tensor")
            else:
                roles.add("value")
        elif isinstance(part, ast.Compare):
            roles.add("mask")
        elif isinstance(part, ast.Constant):
            if isinstance(part.value, float):
                roles.add("value")
        elif isinstance(part, ast.Attribute):
            # `shape` and the like of a tensor are sizes.
            roles.add("size")
        elif isinstance(part, ast.Subscript):
            waiting.append(part.value)
        else:
            waiting += [child for child in ast.iter_child_nodes(part) if isinstance(child, ast.expr)]
    if "mask" in roles and not roles & {"pointer", "value"}:
        return "mask"
    return next((role for role in _RANK if role in roles), "mask" if "mask" in roles else
                "tensor" if "tensor" in roles else "size" if not roles else "other")
