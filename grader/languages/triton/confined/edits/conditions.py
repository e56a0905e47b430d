"""Conditions of the rules: what must hold where a pattern matches."""

from __future__ import annotations

import ast

from grader.languages.triton.confined.edits.matching import Condition, Match, in_test, keyword_of
from grader.languages.triton.confined.edits.units import called, is_spread
from grader.plan.messages import GivenTensor

_FOREIGN = frozenset({"math", "torch", "np", "numpy", "F", "libdevice", "jnp"})


def name(*parts: str) -> Condition:
    return lambda m: all(isinstance(m[part], ast.Name) for part in parts)


def number(part: str) -> Condition:
    return lambda m: isinstance(m[part], ast.Constant)


def kept(part: str) -> Condition:
    """Return whether a part of an operator may stand for the whole: with its role, unless the whole is a pointer."""
    def holds(m: Match) -> bool:
        role = m.unit.role(m[part])
        return m.unit.role(m["a"]) != "pointer" and (role == m.unit.role(m["it"]) or m.unit.role(m["it"]) != "pointer")
    return holds


def without(*keywords: str) -> Condition:
    return lambda m: all(keyword_of(m["it"], keyword) is None for keyword in keywords)  # type: ignore[arg-type]


def calls(*functions: str) -> Condition:
    """Return whether the unit calls one of these functions."""
    return lambda m: any(called(call) in functions for call in m.unit.calls)


def block_pointer(rank: int) -> Condition:
    """Return whether `p` is a block pointer of this rank, and at most one axis `c` is checked. If an axis is checked, a
    pointer of unknown origin counts as one of two axes."""
    def holds(m: Match) -> bool:
        node, seen, checked = m["p"], set[str](), m.parts.get("c")
        if checked is not None and not (isinstance(checked, ast.Tuple | ast.List) and len(checked.elts) <= 1):
            return False
        while isinstance(node, ast.Name) or (called(node) == "advance" and isinstance(node, ast.Call) and node.args):
            if isinstance(node, ast.Call):
                node = node.args[0]
            elif node.id in seen or node.id not in m.unit.wholes:
                break
            else:
                seen.add(node.id)
                node = m.unit.wholes[node.id]
        if not isinstance(node, ast.Call) or called(node) != "make_block_ptr":
            return rank == 2 and checked is not None
        shape = keyword_of(node, "block_shape")
        return rank == (len(shape.elts) if isinstance(shape, ast.Tuple | ast.List) else 2)
    return holds


def in_memory(m: Match) -> bool:
    """Return whether `a` is a name, and an element of it is loaded, or stored by a statement."""
    return isinstance(m["a"], ast.Name) and not isinstance(getattr(m.node, "ctx", None), ast.Store)


def a_call(part: str, function: str) -> Condition:
    return lambda m: called(m[part]) == function


def single(part: str) -> Condition:
    """Return whether an index is one number."""
    return lambda m: not isinstance(m[part], ast.Slice | ast.Tuple)


def no_difference(m: Match) -> bool:
    return not (isinstance(node := m["x"], ast.BinOp) and isinstance(node.op, ast.Sub))


def no_pointer_first(m: Match) -> bool:
    return m.unit.role(m["a"]) != "pointer"


def not_subscripted(m: Match) -> bool:
    return not isinstance(m.parent, ast.Subscript)


def spreads(m: Match) -> bool:
    """Return whether the unit spreads an index over rows or columns."""
    return any(is_spread(expression) for expression in m.unit.expressions)


def a_bound(m: Match) -> bool:
    """Return whether an expression is the end of a loop."""
    return isinstance(m.parent, ast.Call) and called(m.parent) in ("range", "static_range") and (
        m.parent.args[:2][-1] is m.node)


def in_operator(m: Match) -> bool:
    return isinstance(m.parent, ast.BinOp)


def in_condition(m: Match) -> bool:
    """Return whether a node is in the condition of an `if`."""
    return in_test(m, ast.If | ast.IfExp)


def no_pointer(m: Match) -> bool:
    return m.unit.role(m["it"]) != "pointer"


def no_address(m: Match) -> bool:
    return m.unit.role(m["it"]) != "pointer" or m.unit.role(m["a"]) != "pointer"


def in_brackets(m: Match) -> bool:
    """Return whether brackets are written around an operator in an operand."""
    return any(isinstance(node, ast.BinOp) and m.file.source.enclosed(node) for node in ast.iter_child_nodes(m.node))


def bare(m: Match) -> bool:
    """Return whether a call is of Python's own function."""
    return isinstance(func := m["func"], ast.Name) and func.id not in m.unit.roles


def foreign(m: Match) -> bool:
    """Return whether a call is of another module's function, where Triton has one."""
    owner = m.file.source.of(m["o"])
    return owner.partition(".")[0] in _FOREIGN or owner in ("tl.math", "tl.libdevice", "tl.extra")


def no_module(m: Match) -> bool:
    """Return whether `o` is a value, whose methods are called."""
    return m.file.source.of(m["o"]) not in ("tl", "torch", "triton", "math")


def tiled(m: Match) -> bool:
    """Return whether `x` is computed from something that is spread over rows and columns."""
    return m.unit.of_a_tile(m["x"])


def integral(m: Match) -> bool:
    return "int" in m.file.source.of(m["t"])


def bound_before(m: Match) -> bool:
    return isinstance(target := m["t"], ast.Name) and m.unit.bound.get(target.id, m.node.lineno) < m.node.lineno


def initial(m: Match) -> bool:
    """Return whether a value may be the one that an accumulator starts from."""
    value = m["v"]
    return isinstance(m["t"], ast.Name) and m.unit.role(m["t"]) == "value" and (
        isinstance(value, ast.Constant | ast.UnaryOp) or called(value) == "float")


def divides(m: Match) -> bool:
    """Return whether a division may be rounded up: in a kernel not one of values."""
    return not m.unit.kernel or m.unit.role(m["it"]) != "value"


def imported(m: Match) -> bool:
    """Return whether the file imports the module that has cdiv."""
    return ("tl" if m.unit.kernel else "triton") in m.file.bound


def adds(m: Match) -> bool:
    """Return whether a kernel adds to memory, which zeros then matter for."""
    return any(called(call).startswith("atomic_") for kernel in m.file.kernels.values() for call in kernel.calls)


def rooted(m: Match) -> bool:
    """Return whether a kernel sums and takes no root."""
    steps = {called(call) for call in m.unit.calls}
    return "sum" in steps and not steps & {"sqrt", "rsqrt"}


def on_the_host(m: Match) -> bool:
    """Return whether a name is a given tensor's whose memory a kernel cannot read."""
    return any(parameter.arg == getattr(m.node, "id", "") and isinstance(given, GivenTensor) and given.place == "host"
               for parameter, given in zip(m.unit.parameters, m.file.given, strict=False))


def an_output(m: Match) -> bool:
    """Return whether a name is the output's."""
    return getattr(m["t"], "id", "") in m.names("OUTPUT")
