"""A kernel's body, rewritten so that Python runs it by the compiler's rules.

Each rewritten construct either calls `rules` or, where the compiler refuses it, raises once it is reached: code that a
compile-time condition leaves out may hold what it likes, as on a GPU.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import textwrap
from collections.abc import Callable, Sequence
from types import CodeType, FunctionType, ModuleType
from typing import Any

import triton.language as tl
from triton._utils import is_namedtuple
from triton.compiler.code_generator import CodeGenerator
from triton.runtime.interpreter import InterpretedFunction
from triton.runtime.jit import JITCallable

from . import rules

_RULES = "_kernelmark_rules"
_ABSENT = object()
_HOST_LIBRARIES = frozenset({"torch", "numpy", "scipy", "cupy"})
# Builtins that the compiler replaces with operations of its own.
_REPLACED = {"print": "device_print", "min": "builtin_min", "max": "builtin_max"}
# Nodes that have no visitor of their own in the compiler because another one handles them.
_HANDLED_ELSEWHERE = (ast.Starred, ast.Slice, ast.FormattedValue, ast.FunctionDef)
_NOT_GLOBAL = (
    "`{name}` is a global variable, and a kernel sees only those that are tl.constexpr: "
    "write {name} = tl.constexpr(...), or pass it as a parameter."
)


class Source:
    """A kernel's function, its `def` as a tree with the line numbers of its file, and where it stands."""

    def __init__(self, function: FunctionType) -> None:
        self.function = function
        self.file = function.__code__.co_filename
        start = function.__code__.co_firstlineno
        lines = linecache.getlines(self.file, function.__globals__)[start - 1 :]
        if not lines:
            raise OSError(f"the source of {function.__name__} in {self.file} cannot be found")
        tree = ast.parse(textwrap.dedent("".join(inspect.getblock(lines))))
        ast.increment_lineno(tree, start - 1)
        definition = tree.body[0]
        if not isinstance(definition, ast.FunctionDef):
            raise ValueError(f"@triton.jit expects a function, and line {start} of {self.file} defines none")
        self.definition = definition
        self.line = definition.lineno


def rewrite(source: Source) -> Callable[..., Any]:
    """The kernel as a Python function over `tl.tensor`s, with the globals and the defaults of the original."""
    function = source.function
    definition = _Rewriter(source).run()
    free = function.__code__.co_freevars
    names = [_RULES, *free]
    module = ast.parse(f"def _factory({', '.join(names)}):\n    return {definition.name}")
    factory = module.body[0]
    assert isinstance(factory, ast.FunctionDef)
    factory.body.insert(0, definition)
    ast.fix_missing_locations(module)
    code: CodeType = compile(module, source.file, "exec", dont_inherit=True)
    scope: dict[str, Any] = {}
    exec(code, function.__globals__, scope)
    cells = inspect.getclosurevars(function).nonlocals
    made: FunctionType = scope["_factory"](rules, *(cells.get(name) for name in free))
    made.__defaults__, made.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    return made


def _call(name: str, *args: ast.expr) -> ast.Call:
    function = ast.Attribute(value=ast.Name(id=_RULES, ctx=ast.Load()), attr=name, ctx=ast.Load())
    return ast.Call(func=function, args=list(args), keywords=[])


def _delayed(value: ast.expr) -> ast.Lambda:
    nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.copy_location(ast.Lambda(args=nothing, body=value), value)


class _Rewriter(ast.NodeTransformer):
    def __init__(self, source: Source) -> None:
        self.source = source
        self.locals = _local_names(source.definition)
        function = source.function
        self.scope = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
        self.loops = 0

    def run(self) -> ast.FunctionDef:
        definition = self.source.definition
        definition.decorator_list = []
        definition.returns = None
        arguments = definition.args
        for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            argument.annotation = None
        # The real defaults are put back once the function is made.
        arguments.defaults = []
        arguments.kw_defaults = [None] * len(arguments.kwonlyargs)
        definition.body = self._block(definition.body)
        return definition

    def visit(self, node: ast.AST) -> Any:
        known = hasattr(CodeGenerator, f"visit_{type(node).__name__}") or isinstance(node, _HANDLED_ELSEWHERE)
        if isinstance(node, ast.expr) and not known:
            return ast.copy_location(self._refusal(node), node)
        if isinstance(node, ast.stmt) and not known:
            return ast.copy_location(ast.Expr(value=self._refusal(node)), node)
        made = super().visit(node)
        return ast.copy_location(made, node) if isinstance(made, ast.AST) and made is not node else made

    def _block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for one in map(self.visit, statements):
            made += one if isinstance(one, list) else [one]
        return made

    def _refusal(self, node: ast.AST, why: str | None = None) -> ast.Call:
        what = why or f"`{_first_line(node)}`: the compiler does not accept {type(node).__name__.lower()} in a kernel."
        return _call("refuse", ast.Constant(value=what))

    # names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if not isinstance(node.ctx, ast.Load) or node.id in self.locals:
            return node
        value = self.scope.get(node.id, _ABSENT)
        if value is _ABSENT:
            return self._builtin(node)
        hosts = isinstance(value, FunctionType) and value.__code__.co_filename == self.source.file
        hosts |= (isinstance(value, tl.constexpr) or is_namedtuple(value)) and rules.is_hosts(value)
        if _visible(node.id, value) and not hosts:
            return node
        root = (getattr(value, "__module__", None) or "").split(".")[0]
        if callable(value) and root in _HOST_LIBRARIES:
            return self._refusal(node, f"`{node.id}` of {root} cannot be used inside a kernel.")
        if isinstance(value, FunctionType):
            return self._refusal(node, f"`{node.id}` is a plain Python function; decorate it with @triton.jit.")
        return _call("refuse_name", ast.Constant(value=node.id), ast.Constant(value=_NOT_GLOBAL))

    def _builtin(self, node: ast.Name) -> ast.expr:
        if node.id in _REPLACED:
            core = ast.Attribute(value=ast.Name(id=_RULES, ctx=ast.Load()), attr="tl", ctx=ast.Load())
            module = ast.Attribute(value=core, attr="core", ctx=ast.Load())
            return ast.Attribute(value=module, attr=_REPLACED[node.id], ctx=ast.Load())
        if node.id in ("float", "int"):
            return ast.Attribute(value=ast.Name(id=_RULES, ctx=ast.Load()), attr=f"to_{node.id}", ctx=ast.Load())
        if node.id in CodeGenerator.builtin_namespace or not hasattr(builtins, node.id):
            return node
        why = ast.Constant(value="{name} is not defined in a kernel: Python's {name}() is not part of Triton.")
        return _call("refuse_name", ast.Constant(value=node.id), why)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if node.attr == "handle" or node.attr.startswith("__"):
            return self._refusal(node, f"`{_first_line(node)}`: a kernel has no `{node.attr}`.")
        self.generic_visit(node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        outside = self._calls_outside(node.func)
        self.generic_visit(node)
        if outside:
            made = _call("host_call", node.func, *node.args)
            made.keywords = node.keywords
            return made
        return node

    def _calls_outside(self, function: ast.expr) -> bool:
        if not isinstance(function, ast.Attribute):
            return False
        root: ast.expr = function
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name) or root.id in self.locals:
            return False
        value = self.scope.get(root.id)
        return isinstance(value, ModuleType) and value.__name__.split(".")[0] != "triton"

    # statements

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        return ast.Expr(value=self._refusal(node, "a function cannot be defined inside a kernel."))

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        if len(node.targets) != 1:
            return ast.Expr(value=self._refusal(node, "a = b = ... is not accepted in a kernel; write two lines."))
        self.generic_visit(node)
        node.value = ast.copy_location(_call("assign", node.value), node.value)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        if not isinstance(node.target, ast.Name):
            return ast.Expr(value=self._refusal(node, f"`{_first_line(node)}`: elements cannot be assigned to."))
        read = ast.copy_location(ast.Name(id=node.target.id, ctx=ast.Load()), node.target)
        total = ast.copy_location(ast.BinOp(left=read, op=node.op, right=self.visit(node.value)), node)
        return ast.Assign(targets=[node.target], value=ast.copy_location(_call("assign", total), node))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if node.value is None:
            return node
        constant = ast.unparse(node.annotation).split(".")[-1] == "constexpr"
        value = self.visit(node.value)
        return ast.Assign(targets=[node.target], value=value if constant else _call("assign", value))

    def visit_If(self, node: ast.If) -> ast.stmt:
        returns = bool(self.loops) and any(isinstance(part, ast.Return) for part in ast.walk(node))
        self.generic_visit(node)
        node.test = ast.copy_location(_call("truth_before_return" if returns else "truth", node.test), node.test)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        node.test = ast.copy_location(_call("truth", node.test), node.test)
        return node

    def visit_While(self, node: ast.While) -> list[ast.stmt]:
        carried = _stored(node.body)
        self.loops += 1
        self.generic_visit(node)
        self.loops -= 1
        node.test = ast.copy_location(_call("truth", node.test), node.test)
        return self._keeping_types(node, carried)

    def visit_For(self, node: ast.For) -> ast.stmt | list[ast.stmt]:
        if not isinstance(node.iter, ast.Call):
            return ast.Expr(value=self._refusal(node, "a loop must go over range, tl.range or tl.static_range."))
        unrolled = ast.unparse(node.iter.func).endswith("static_range")
        iterator = self.visit(node.iter.func)
        made = _call("loop", iterator, *(self.visit(a) for a in node.iter.args))
        made.keywords = [self.visit(k) for k in node.iter.keywords]
        node.iter = ast.copy_location(made, node.iter)
        carried = _stored(node.body) - _stored([node.target])
        self.loops += not unrolled
        node.body, node.orelse = self._block(node.body), self._block(node.orelse)
        self.loops -= not unrolled
        return node if unrolled else self._keeping_types(node, carried)

    def _keeping_types(self, loop: ast.For | ast.While, carried: frozenset[str]) -> list[ast.stmt]:
        """The loop, with what was assigned before it and is assigned in it compared once it has gone round."""
        names = ast.Tuple(elts=[ast.Constant(value=name) for name in sorted(carried)], ctx=ast.Load())
        types = f"{_RULES}_types_{loop.lineno}_{loop.col_offset}"
        before = ast.Assign(targets=[ast.Name(id=types, ctx=ast.Store())],
                            value=_call("types_of", _call("variables"), names))
        seen = ast.Name(id=types, ctx=ast.Load())
        # The types are forgotten after the first time round.
        check = ast.BoolOp(op=ast.And(), values=[seen, _call("keep_types", seen, _call("variables"))])
        # A fault lies at the loop's first line, and Python puts a call of a method at the end of its statement.
        head = loop.test if isinstance(loop, ast.While) else loop.target
        loop.body.append(ast.copy_location(ast.Expr(value=check), head))
        return [ast.copy_location(before, loop), loop]

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        if self.loops:
            return ast.Expr(value=self._refusal(node, "a kernel cannot return from inside a loop."))
        self.generic_visit(node)
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        message = [self.visit(node.msg)] if node.msg is not None else []
        return ast.Expr(value=_call("device_assert", self.visit(node.test), *message))

    # expressions

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.generic_visit(node)
        name = "logical_and" if isinstance(node.op, ast.And) else "logical_or"
        return _call(name, *(_delayed(value) for value in node.values))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        return _call("negate", node.operand) if isinstance(node.op, ast.Not) else node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        if len(node.ops) != 1:
            why = f"`{_first_line(node)}`: comparisons cannot be chained in a kernel; write (a <= b) & (b < c)."
            return self._refusal(node, why)
        if isinstance(node.ops[0], (ast.In, ast.NotIn)):
            return self._refusal(node, f"`{_first_line(node)}`: `in` is not accepted in a kernel.")
        self.generic_visit(node)
        return node


def _first_line(node: ast.AST) -> str:
    return ast.unparse(node).split("\n", 1)[0][:100]


def _stored(nodes: Sequence[ast.AST]) -> frozenset[str]:
    parts = (part for node in nodes for part in ast.walk(node))
    return frozenset(p.id for p in parts if isinstance(p, ast.Name) and not isinstance(p.ctx, ast.Load))


def _local_names(definition: ast.FunctionDef) -> frozenset[str]:
    return _stored([definition]) | {n.arg for n in ast.walk(definition) if isinstance(n, ast.arg)}


def _visible(name: str, value: Any) -> bool:
    """Whether the compiler lets a kernel see this global."""
    return (
        name in CodeGenerator.builtin_namespace
        or isinstance(value, (ModuleType, InterpretedFunction, JITCallable, tl.dtype, tl.constexpr))
        or getattr(value, "__triton_builtin__", False)
        or getattr(value, "__triton_aggregate__", False)
        or (getattr(value, "__module__", None) or "").startswith("triton.language")
        or is_namedtuple(value)
    )
