"""Whatever a student's file holds, reading it ends soon, in violations at its lines or in a SourceProblem."""

from __future__ import annotations

import ast
import re
from typing import Any, get_args

from hypothesis import given, reject, target
from hypothesis import strategies as st

from grader.catalogue import ROOT, assignments
from grader.judge.policy import SourceProblem, read_source
from grader.judge.policy.source import MAX_BYTES, ProblemKind
from tests.fuzz.harness import bounded, is_one_line, mutated, within

# Of processor time: the slowest honest way through a file of the greatest length takes two, a quadratic one minutes.
SECONDS = 6.0
ASSIGNMENTS = assignments()
CORPUS = sorted((ROOT / "tests/submissions").glob("*/*/*.py")) + sorted((ROOT / "reference").glob("*.py"))
HEAD = b"import torch, triton, sys, os, operator, functools, importlib\nimport triton.language as tl\n"


def judged(source: bytes, name: str = "silu") -> None:
    lines = len(re.split(rb"\r\n|\r|\n", source))
    try:
        with within(SECONDS):
            violations = read_source(source, ASSIGNMENTS[name])
    except SourceProblem as problem:
        assert problem.kind in get_args(ProblemKind)
        assert is_one_line(problem.message) and len(problem.message) < 1000
        # Python blames the line after the last one where something is missing.
        assert 0 <= problem.line <= lines + 1
        return
    target(float(len(violations)))
    for violation in violations:
        assert 0 <= violation.line <= lines
        assert violation.what.isprintable() and len(violation.what) <= 60 and violation.what.encode()
        assert is_one_line(violation.why)


DECLARED = [b"", b"# -*- coding: latin-1 -*-\n", b"# coding: utf-16\n", b"# coding: nonsense\n", b"\xef\xbb\xbf",
            b"\xef\xbb\xbf\xef\xbb\xbf", b"\xff\xfe", b"#!/usr/bin/python\n# vim: set fileencoding=cp037 :\n"]
DEFINES = b"def silu(x, out):\n    pass\n"


@bounded(250)
@given(st.sampled_from(DECLARED), st.one_of(
    st.binary(max_size=200), st.text(max_size=200).map(str.encode),
    st.text(st.characters(codec="latin-1"), max_size=80).map(lambda text: text.encode("latin-1")),
    st.text(max_size=40).map(lambda text: text.encode("utf-16"))), st.sampled_from([b"", DEFINES, b"\n" + DEFINES]))
def test_any_bytes(declared: bytes, text: bytes, more: bytes) -> None:
    judged(declared + text + more)


# A grammar, weighted towards what the reader has rules for. Python itself says what is no program after all.
HUGE = "huge_number"
NAMES = st.sampled_from([
    "x", "out", "a", "b", "f", "silu", "kernel", "self", "cls", "torch", "triton", "tl", "np", "sys", "os", "functools",
    "operator", "getattr", "setattr", "globals", "vars", "open", "type", "super", "exec", "__import__", "__builtins__",
    "__name__", "importlib", "A", "hasattr", "print", "eval", HUGE, "\u00e9", "\u2118"])
ATTRIBUTES = st.one_of(NAMES, st.sampled_from([
    "mm", "numpy", "copy_", "sum", "handle", "__dict__", "__class__", "__globals__", "__module__", "modules", "jit",
    "autotune", "partial", "attrgetter", "import_module", "nn", "functional", "Tensor", "empty_like", "load", "cuda",
    "autograd", "Function", "forward", "backend", "shape", "ops", "aten", "_C", "version", "fork"]))
TEXTS = st.one_of(NAMES, ATTRIBUTES, st.sampled_from([
    "\ud800", "\n", "\0", "", "mm", "torch.mm", "/proc/self/mem", "__main__", "a.b.c", "'", '"', "\\", "{x}",
    "__name__"]))
VALUES: st.SearchStrategy[Any] = st.one_of(
    TEXTS, st.sampled_from([0, -1, 2**64, 1e999, 1j, None, True, b"\xff", ..., 10**300]))
LEAVES: st.SearchStrategy[ast.expr] = st.one_of(
    st.builds(ast.Name, NAMES, st.just(ast.Load())), st.builds(ast.Constant, VALUES))
LOAD, STORE = ast.Load(), ast.Store()
OPERATORS = st.sampled_from([ast.Add(), ast.MatMult(), ast.Pow(), ast.Mod(), ast.Div()])
COMPARISONS = st.sampled_from([ast.Eq(), ast.In(), ast.NotIn(), ast.Is(), ast.Lt()])


def arguments(names: list[str], defaults: list[ast.expr]) -> ast.arguments:
    return ast.arguments(
        posonlyargs=[], args=[ast.arg(name) for name in names], vararg=None, kwonlyargs=[], kw_defaults=[],
        kwarg=None, defaults=defaults[:len(names)])


def comprehensions(expr: st.SearchStrategy[ast.expr]) -> st.SearchStrategy[list[ast.comprehension]]:
    return st.lists(st.builds(
        ast.comprehension, st.builds(ast.Name, NAMES, st.just(STORE)), expr, st.lists(expr, max_size=1), st.just(0)),
        min_size=1, max_size=2)


def larger(expr: st.SearchStrategy[ast.expr]) -> st.SearchStrategy[ast.expr]:
    several = st.lists(expr, max_size=3)
    values = st.builds(ast.FormattedValue, expr, st.sampled_from([-1, 114]), st.none())
    return st.one_of(
        st.builds(ast.Attribute, expr, ATTRIBUTES, st.just(LOAD)),
        st.builds(ast.Attribute, expr, ATTRIBUTES, st.just(LOAD)),
        st.builds(ast.Call, expr,
                  st.lists(st.one_of(expr, expr, st.builds(ast.Starred, expr, st.just(LOAD))), max_size=3),
                  st.lists(st.builds(ast.keyword, st.one_of(NAMES, st.none()), expr), max_size=1)),
        st.builds(ast.Call, st.builds(
            ast.Name, st.sampled_from(["getattr", "setattr", "open", "type", "vars", "super"]), st.just(LOAD)),
            several, st.just([])),
        st.builds(ast.Subscript, expr, st.one_of(expr, st.builds(ast.Slice, expr, st.none(), expr)), st.just(LOAD)),
        st.builds(ast.BinOp, expr, OPERATORS, expr),
        st.builds(ast.UnaryOp, st.sampled_from([ast.Not(), ast.USub()]), expr),
        st.builds(ast.BoolOp, st.sampled_from([ast.And(), ast.Or()]), st.lists(expr, min_size=2, max_size=3)),
        st.builds(lambda left, pairs: ast.Compare(left, [op for op, _ in pairs], [right for _, right in pairs]),
                  expr, st.lists(st.tuples(COMPARISONS, expr), min_size=1, max_size=2)),
        st.builds(ast.IfExp, expr, expr, expr),
        st.builds(ast.Lambda, st.builds(arguments, st.lists(NAMES, max_size=2, unique=True), several), expr),
        st.builds(lambda kind, items: kind(items, LOAD), st.sampled_from([ast.Tuple, ast.List]), several),
        st.builds(lambda items: ast.Dict(
            [None if number % 3 == 2 else item for number, item in enumerate(items)], items), several),
        st.builds(ast.JoinedStr, st.lists(st.one_of(st.builds(ast.Constant, TEXTS), values), max_size=3)),
        st.builds(ast.NamedExpr, st.builds(ast.Name, NAMES, st.just(STORE)), expr),
        st.builds(lambda kind, item, parts: kind(item, parts), st.sampled_from([ast.ListComp, ast.GeneratorExp]), expr,
                  comprehensions(expr)),
        st.builds(lambda kind, item: kind(item), st.sampled_from([ast.Await, ast.YieldFrom, ast.Yield]), expr),
    )


EXPRESSIONS = st.recursive(LEAVES, larger, max_leaves=5)
TARGETS = st.recursive(
    st.one_of(st.builds(ast.Name, NAMES, st.just(STORE)), st.builds(ast.Attribute, LEAVES, ATTRIBUTES, st.just(STORE)),
              st.builds(ast.Subscript, LEAVES, LEAVES, st.just(STORE))),
    lambda below: st.builds(ast.Tuple, st.lists(below, max_size=3), st.just(STORE)), max_leaves=4)
ALIASES = st.lists(st.builds(
    ast.alias, st.one_of(NAMES, st.builds("{}.{}".format, NAMES, ATTRIBUTES)), st.one_of(st.none(), NAMES)),
    min_size=1, max_size=2)
SIMPLE: st.SearchStrategy[ast.stmt] = st.one_of(
    st.builds(ast.Expr, EXPRESSIONS),
    st.builds(ast.Assign, st.lists(TARGETS, min_size=1, max_size=3), EXPRESSIONS, st.none()),
    st.builds(ast.AnnAssign, st.builds(ast.Name, NAMES, st.just(STORE)), EXPRESSIONS, st.one_of(st.none(), EXPRESSIONS),
              st.just(1)),
    st.builds(ast.AugAssign, st.builds(ast.Name, NAMES, st.just(STORE)), OPERATORS, EXPRESSIONS),
    st.builds(ast.Import, ALIASES),
    st.builds(ast.ImportFrom, NAMES, st.one_of(ALIASES, st.just([ast.alias("*")])), st.sampled_from([0, 0, 1])),
    st.builds(lambda kind, names: kind(names), st.sampled_from([ast.Global, ast.Nonlocal]),
              st.lists(NAMES, min_size=1, max_size=2)),
    st.builds(ast.Return, EXPRESSIONS), st.builds(ast.Raise, EXPRESSIONS, st.none()),
    st.builds(lambda kind: kind(), st.sampled_from([ast.Pass, ast.Break, ast.Continue])),
)


def blocks(body: st.SearchStrategy[ast.stmt]) -> st.SearchStrategy[ast.stmt]:
    some = st.lists(body, min_size=1, max_size=3)
    functions = st.builds(
        lambda kind, name, args, inner, decorators: kind(name, args, inner, decorators),
        st.sampled_from([ast.FunctionDef, ast.FunctionDef, ast.AsyncFunctionDef]), st.one_of(st.just("silu"), NAMES),
        st.builds(arguments, st.one_of(st.just(["x", "out"]), st.lists(NAMES, max_size=3, unique=True)),
                  st.lists(EXPRESSIONS, max_size=2)), some, st.lists(EXPRESSIONS, max_size=1))
    handlers = st.lists(
        st.builds(ast.ExceptHandler, EXPRESSIONS, st.one_of(st.none(), NAMES), some), min_size=1, max_size=2)
    return st.one_of(
        functions, functions,
        st.builds(lambda name, bases, inner: ast.ClassDef(name, bases, [], inner, []), NAMES,
                  st.lists(EXPRESSIONS, max_size=2), some),
        st.builds(ast.If, EXPRESSIONS, some, st.one_of(st.just([]), some)),
        st.builds(ast.While, EXPRESSIONS, some, st.just([])),
        st.builds(lambda where, over, inner: ast.For(where, over, inner, [], None), TARGETS, EXPRESSIONS, some),
        st.builds(lambda item, inner: ast.With([ast.withitem(item, None)], inner, None), EXPRESSIONS, some),
        st.builds(ast.Try, some, handlers, st.just([]), st.one_of(st.just([]), some)),
        st.builds(lambda subject, name, inner: ast.Match(
            subject, [ast.match_case(ast.MatchAs(None, name), None, inner)]), EXPRESSIONS, NAMES, some),
    )


STATEMENTS = st.recursive(SIMPLE, blocks, max_leaves=4)
PROGRAMS = st.builds(ast.Module, st.lists(STATEMENTS, min_size=1, max_size=4), st.just([]))


def unparsed(tree: ast.AST) -> str:
    """Source of a made-up tree. A tree that Python cannot write down is none."""
    try:
        # Python reads this number and cannot write it down.
        return ast.unparse(ast.fix_missing_locations(tree)).replace(HUGE, "0x" + "f" * 4000)
    except (ValueError, RecursionError):
        return reject()


@bounded(150)
@given(PROGRAMS, st.sampled_from([b"", HEAD, HEAD + DEFINES]), st.sampled_from(sorted(ASSIGNMENTS)))
def test_any_program(tree: ast.Module, head: bytes, name: str) -> None:
    judged(head + unparsed(tree).encode("utf-8", "replace") + b"\n", name)


WRAPPERS = [
    "({})", "[{}]", "f({})", "f({})[0]", "({}).a", "-{}", "not {}", "lambda: {}", "({} + 1)", "{{1: {}}}",
    "getattr({}, 'mm')", "functools.partial({})", "(a := {})", "({} if a else b)", "[{} for a in b]", "a @ ({})",
    "torch.mm({})", "operator.attrgetter({})", "({},)", "[*{}]", "a[{}]", "f(a={})", "sys.modules[{}]", "f'{{{}}}'",
    "1 < {}", "(yield {})", "0x" + "f" * 5000 + " + {}"]
PLACES = [
    "{}\n", "def silu(x, out={}):\n    pass\n", "def silu(a={}, *, b):\n    pass\n", "if {} == '__main__':\n    b\n",
    "if __name__ == {}:\n    b\n", "@{}\ndef a():\n    pass\n", "class A({}):\n    pass\n",
    "def f():\n    return {}\n", "a = b = {}\n", "for a in {}:\n    getattr(x, a)\n", "a: {} = 1\n",
    "with {} as a:\n    pass\n"]


@bounded(200)
@given(st.lists(st.sampled_from(WRAPPERS), min_size=1, max_size=4), st.integers(1, 200), st.sampled_from(PLACES),
       st.sampled_from(["x", "torch.mm", "silu", "'mm'", "0x" + "f" * 4000, "getattr(torch, '\\ud800')",
                        "getattr(torch, '\\n')", "torch.mm(\n\nx)"]), st.booleans())
def test_any_nesting(wrappers: list[str], depth: int, place: str, innermost: str, used: bool) -> None:
    text = innermost
    for level in range(depth):
        text = wrappers[level % len(wrappers)].format(text)
        if len(text) > MAX_BYTES:
            break
    uses = b"def silu(x, out):\n    f(), a, A()\n" if used else DEFINES
    judged(HEAD + uses + place.format(text).encode())


ODD_PIECES = st.one_of(st.sampled_from([
    b"\n", b"\r", b"\r\n", b"\x0c", b"\t", b" ", b"\\\n", b"\\", b"(", b")", b"'''", b'"""', b"f'''{\n\n", b"}", b"#",
    b"\0",
    b"\xff", b"\xc2\xa0", b"\xe2\x80\xa8", b"\xef\xbb\xbf", b"@", b":=", b"**", b"*", b"lambda: ", b"await ", b"yield ",
    b"async ", b"global silu\n", b"torch.mm(x, x)", b"getattr(torch, '\\ud800')", b"0x" + b"f" * 5000, b"9" * 5000,
    b"if 0:\n", b"match x:\n case _:\n  pass\n", b"\n    ", b"\n        ", b"__name__ = 1\n", b"from torch import *\n",
    b"f'''\n\n\n{torch.mm\n\n}{x!r:\n>{y}}'''", b"x" * 3000]), st.binary(max_size=6))


def corpus_file(number: int) -> bytes:
    return CORPUS[number].read_bytes()


NUMBERS = st.integers(0, len(CORPUS) - 1)
FILES = NUMBERS.map(corpus_file)


@st.composite
def spliced(draw: st.DrawFn, first: st.SearchStrategy[bytes]) -> bytes:
    """Lines of one submission, with some of another's between them."""
    lines, others = draw(first).splitlines(True), draw(FILES).splitlines(True)
    for _ in range(draw(st.integers(1, 4))):
        at, start = draw(st.integers(0, len(lines))), draw(st.integers(0, max(0, len(others) - 1)))
        lines[at:at + draw(st.integers(0, 2))] = others[start:start + draw(st.integers(1, 8))]
    return b"".join(lines)


@bounded(350)
@given(st.data(), NUMBERS)
def test_any_mutation_of_a_real_file(data: st.DataObject, number: int) -> None:
    own = st.just(corpus_file(number))
    source = data.draw(st.one_of(mutated(own, ODD_PIECES), mutated(spliced(own), ODD_PIECES), spliced(own)))
    judged(source, CORPUS[number].stem)


# What may be said over and over, with a number that grows: `{i}`, and `{j}`, the next. And what it may stand in.
STATEMENT_PIECES = [
    "a{i} = a{j}\n", "a{i} = f(a{j})\n", "from m{i} import *\n", "a{i}\n", "a{i}.b{j}\n", "import torch.a{i} as a{j}\n",
    "def f{i}(): f{j}()\n", "if x:\n def f(): f()\n", "x.mm()\n", "x @ y\n", "getattr(x, a)\n", "f{i} = {{1: f{j}}}\n",
    "class A{i}:\n def f{i}(self): A{j}.f{j}()\n", "getattr(torch, 'a{i}')\n", "a{i}: a{j} = a{j}\n", "globals()\n",
    "f{i} = lambda: f{j}()\n", "@f{i}\ndef f{j}(): pass\n", "@triton.jit\ndef k{i}(): k{j}()\n", "global a{i}\n",
    "for a in ('a{i}', 'b{i}'): getattr(x, a)\n", "sys.modules['a{i}']\n", "x.a{i} = a{j}\n", "a = a.b{i}\n",
    "with a as b{i}: a{j}\n", "try: a{i}\nexcept a{j}: pass\n", "a{i};", "(a{i} := a{j})\n", "del a{i}\n",
    "match a:\n case b{i}: a{j}\n", "operator.attrgetter(a)(x)\n", "f = f{i}\n", "a{i}, a{j} = a{j}, a{i}\n"]
ITEM_PIECES = ["a{i},", "'a{i}',", "lambda: a{i},", "torch.mm,", "a{i}.b,", "'mm',", "f(a{i}),", "f{i},", "x @ y,"]
ITEM_PLACES = [
    "[{}]\n", "f({})\n", "a0 = [{}]\n", "a0 = f({})\n", "{} = f()\n", "for a in ({}): pass\n", "def f({}): pass\n",
    "class A:\n x = [{}]\n", "a0, a1 = b0, b1 = [{}]\n", "getattr(x, [{}])\n", "for {} in a0: pass\n", "del {}\n",
    "global {} a\n", "from m import {} a\n", "import {} a\n", "with a as ({}): a\n", "a0 = lambda: [{}]\n",
    "for a in [{}]: getattr(x, a)\n"]
CHAINS = ["a{i} = ", "a{i} if a else ", "f'{{a{i}}}' ", "'a{i}' "]


def said(piece: str, place: str, length: int) -> str:
    count = length // (len(piece) + 4 * (piece.count("{i}") + piece.count("{j}")))
    return place.format("".join(piece.format(i=i, j=i + 1) for i in range(count)))


@st.composite
def large(draw: st.DrawFn) -> bytes:
    """A file of nearly the greatest length, of two things said over and over."""
    length = (MAX_BYTES - 2000) // 2
    statements = st.builds(said, st.sampled_from(STATEMENT_PIECES), st.just("{}\n"), st.just(length))
    items = st.builds(said, st.sampled_from(ITEM_PIECES), st.sampled_from(ITEM_PLACES), st.just(length))
    chains = st.builds(said, st.sampled_from(CHAINS), st.sampled_from(["{} 0\n", "{}[0]\n"]), st.just(length))
    many_names = st.builds(said, st.just("a{i} = "), st.just("{} "), st.just(length))
    before = draw(st.one_of(statements, items, items, chains, many_names))
    after = draw(st.one_of(statements, items, items))
    uses = draw(st.sampled_from(["f(), a0, a1, A(), f0, A0, k0", "0", "globals()"]))
    kind = draw(st.sampled_from(["module", "function", "both"]))
    if kind == "function":
        text = "def silu(x, out):\n 0\n" + _indented(before + after)
    elif kind == "both":
        text = f"{before}\ndef silu(x, out):\n {uses}\n" + _indented(after)
    else:
        text = f"def silu(x, out):\n {uses}\n{before}{after}"
    return (HEAD + text.encode())[:MAX_BYTES]


def _indented(text: str) -> str:
    return "".join(f" {line}\n" for line in text.split("\n"))


@bounded(25)
@given(large())
def test_the_largest_files_are_read_in_time(source: bytes) -> None:
    judged(source)
