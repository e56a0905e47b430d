"""The error model as a table: each row is a kind of edit, its weight, what it matches and what it writes.

`matches => writes` are Python. A small letter matches any expression, the same one wherever it stands again; `x_value`
matches one of a role. A pattern that is a letter alone matches a name. `sum(x)` matches a call of `sum`, `tl.sum` and
`y.sum` with these arguments, `f(x)` a call of any function; `...` stands for further arguments. Keywords match the
argument in their place, too, and others may be there. `@` is any operator. `{a b}` makes a row of each. The expression
takes the place of the match, or, after `x:`, of its part `x`; `it` is the match, `func` its function; `+k=v` adds a
keyword, `-k` takes it away. SIZE, BLOCK and so on are each name of that role which is bound above the match; GIVEN is
each size of a given tensor, TENSOR the first given tensor, OUTPUT each output, MASK each mask, ADVANCE each block by
which another pointer advances.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from grader.languages.drafts import Rule, always, both, neither
from grader.languages.triton.confined.edits import conditions as c
from grader.languages.triton.confined.edits.matching import Condition
from grader.plan.edits import EditKind

_STEPS = "{sqrt rsqrt exp exp2 log sigmoid sum abs cdiv max dot}"
_REDUCTIONS = "{sum max min argmax argmin cumsum}"
_MEMORY = "{load store atomic_add atomic_max atomic_min atomic_xchg atomic_cas atomic_and atomic_or}"
_MAKERS = "{empty zeros ones full arange}"
_LEAST, _LARGEST = '-float("inf")', 'float("inf")'

COMPARISONS = {
    "<": {"<=": 2.2, ">": 1.9, ">=": 2.4}, "<=": {"<": 0.6, ">=": 2.2}, ">": {"<": 1.2, ">=": 2.2},
    ">=": {"<": 1.2, ">": 1.4, "<=": 2.2}, "==": {"!=": 2.0, "<": 2.6}, "!=": {"==": 2.0, "<": 2.4},
}  # fmt: skip
OPERATORS = {
    "+": {"-": 2.2, "*": 2.3}, "-": {"+": 1.6, "*": 2.6}, "*": {"/": 1.9, "+": 2.1}, "/": {"*": 1.5, "-": 2.5},
    "//": {"%": 1.5, "/": 2.6}, "%": {"//": 1.5}, "|": {"&": 0.6}, "&": {"|": 2.8}, "**": {"*": 1.8},
    ">>": {"//": 1.6, "<<": 2.4}, "<<": {">>": 2.4},
}  # fmt: skip
FUNCTIONS = {
    "max": {"sum": 1.6, "min": 1.8}, "sum": {"max": 1.9}, "min": {"max": 1.4}, "exp": {"exp2": 2.0},
    "exp2": {"exp": 0.9}, "log": {"log2": 2.0, "exp": 2.4}, "log2": {"log": 1.4}, "sqrt": {"rsqrt": 1.5},
    "rsqrt": {"sqrt": 1.5}, "maximum": {"minimum": 1.6}, "minimum": {"maximum": 1.4}, "sigmoid": {"exp": 2.4},
    "cos": {"sin": 1.8}, "sin": {"cos": 1.8}, "num_programs": {"program_id": 1.6}, "program_id": {"num_programs": 2.6},
    "atomic_add": {"store": 1.8}, "store": {"atomic_add": 2.4}, "atomic_xchg": {"store": 1.8},
    "atomic_max": {"atomic_add": 1.8, "store": 2.2}, "argmax": {"max": 1.6}, "cumsum": {"sum": 1.8},
}  # fmt: skip
"""Functions of a kernel that are confused."""
_FOREIGN = ("exp sqrt sigmoid sum max abs rsqrt log erf maximum minimum where dot zeros arange cdiv exp2 sin cos")
_TYPES = {"float32": 0.9, "int32": 2.2, "uint8": 2.2, "int64": 2.2, "float16": 2.2}
_FROM = (*_TYPES, "bfloat16", "float64", "int8", "int16", "uint16", "uint32", "uint64")
AROUND: Mapping[EditKind, Mapping[str, float]] = {
    "factor": {"x * VALUE": 1.6, "x / VALUE": 1.7, "x / SIZE": 1.8, "x * SIZE": 2.6},
    "missing": {
        "x + VALUE": 2.2, "x - VALUE": 2.4, "1.0 / x": 2.2, "x * x": 2.0, "-x": 2.2, "0.5 * x": 2.2, "2.0 * x": 2.2,
        "x.to(tl.float32)": 2.2, "x + 0.5": 2.0, "tl.exp(x)": 2.2, "tl.sigmoid(x)": 2.6, "1.0 + x": 2.6,
        "x - tl.max(x, axis=0)": 2.0, "tl.sum(x, axis=0)": 2.2, "tl.maximum(x, 0.0)": 2.8, "tl.trans(x)": 2.2,
        "1.0 - x": 2.8, "tl.sqrt(x)": 1.8},
}  # fmt: skip
"""Steps around a value that a kernel stores; where it is bound to a name they are less likely."""
_SIGNS = ("+", "-", "*", "/", "//", "%", "&", "|", "<<", ">>")

ANYWHERE = (
    Rule("comparison", 0.5, "a <= b => a < b", together="same"),
    Rule("operator", {"value": 1.7}, "a + b => a - b", c.number("b")),
    Rule("operator", {"value": 2.0}, "a / b => a - b", c.number("b")),
    Rule("operator", 1.5, "-a => a"),
    # The two operands of a difference are easily confused.
    Rule("operands", {"value": 1.4, "": 2.6}, "a - b => a: b; b: a", c.name("a", "b")),
    Rule("operands", {"value": 2.0, "": 2.6}, "a {- / // % ** >> <<} b => a: b; b: a"),
    Rule("extra", 2.8, "a_pointer @ b => a"),
    Rule("extra", {"value": 2.0, "mask": 2.4, "index": 2.3, "": 2.5}, "a @ b => a", c.kept("a")),
    Rule("extra", {"value": 2.2, "mask": 2.6, "index": 2.5, "": 2.7}, "a @ b => b", c.kept("b")),
    # A number is superfluous more often than a name is.
    Rule("extra", 1.7, "a @ b => a", both(c.kept("a"), c.number("b"), neither(c.number("a")))),
    Rule("extra", 1.7, "a @ b => b", both(c.kept("b"), c.number("a"), neither(c.number("b")))),
    Rule("extra", 1.5, "a @ a => a", c.kept("a")),
    Rule("brackets", 1.5, f"{_STEPS}(x, ...) @ y => func(x @ y)", c.no_pointer),
    Rule("brackets", 1.5, f"y @ {_STEPS}(x, ...) => func(y @ x)", c.no_pointer),
    Rule("brackets", 1.7, f"{_STEPS}(x @ y, ...) => func(x) @ y"),
    Rule("brackets", 2.2, f"{_STEPS}(x @ y, ...) => x @ func(y)"),
    Rule("rounding", 2.6, "cdiv(a, b) => a // b"),
    Rule("axis", 1.1, "{program_id num_programs}(axis=a) => a: {0 1}"),
    Rule("axis", 2.4, "{program_id num_programs}(axis=a) => a: 2"),
    Rule("axis", 1.0, ("{program_id num_programs}(axis=0) => 0: 1", "{program_id num_programs}(axis=1) => 1: 0"),
         together="all"),
    *(Rule("comparison", weight + more, f"a {old} b => a {new} b", when, workaround=more > 0)
      for old, others in COMPARISONS.items() for new, weight in others.items()
      for more, when in ((0, neither(c.in_condition)), (1.5, c.in_condition))),
    *(Rule("operator", {"pointer": weight + 0.6, "size": weight + 0.6, "": weight}, f"a {old} b => a {new} b",
           always if new == "-" else c.no_address)
      for old, others in OPERATORS.items() for new, weight in others.items()),
    *(Rule("operator", weight + 0.2, f"a {old}= b => a {new}= b")
      for old, others in OPERATORS.items() for new, weight in others.items()),
    # Brackets are missing in `n + B - 1 // B`, but an offset is rightly `a * b + c`.
    *(Rule("brackets", weight, change, both(c.no_pointer_first, when))
      for one in _SIGNS for two in _SIGNS if one != two or one not in "+*&|"
      for inner, change in ((one, f"(a {one} b) {two} y => a {one} (b {two} y)"),
                            (two, f"a {one} (b {two} y) => (a {one} b) {two} y"))
      for weight, when in (
          (1.9 if one == two else {"value": 1.1, "": 0.8 if inner in ("/", "//") else 2.0}, always),
          (1.1 if one != two else {}, c.in_brackets))),
    *(Rule("brackets", 1.4, f"(a {one} b) {two} y => (a {two} y) {one} b", c.no_pointer_first)
      for one in "+-" for two in "*/"),
    *(Rule("brackets", 1.7, f"(a {two} b) {one} y => (a {one} y) {two} b", c.no_pointer_first)
      for one in "+-" for two in "*/"),
    *(Rule("type", weight - 0.6 * ("int" in old and "int" in new), f"{owner}.{old} => {owner}.{new}")
      for owner in ("tl", "torch") for old in _FROM for new, weight in _TYPES.items() if new != old),
    *(Rule("type", 1.4, tuple(f"{owner}.{old} => {owner}.float32" for old in _FROM), together="all")
      for owner in ("tl", "torch")),
)
"""Rules of kernels and host code."""

KERNEL = (
    # Operators and functions.
    Rule("operator", 0.8, "a and b => a & b"), Rule("operator", 0.8, "a or b => a | b"),
    Rule("operator", 0.8, "a and b and d => a & b & d"),
    Rule("operator", 0.7, "x ** 2 => x * x"), Rule("operator", 0.7, "x ** 3 => x * x * x"),
    Rule("function", 0.8, "x ** 0.5 => tl.sqrt(x)"),
    *(Rule("function", weight, f"o.{old}(...) => func: o.{new}")
      for old, others in FUNCTIONS.items() for new, weight in others.items()),
    # All programs store to one place.
    Rule("function", 1.2, "o.store(p_pointer, ...) => func: o.atomic_add", c.name("p")),
    *(rule for name in ("sum", "max", "min", "abs") for rule in (
        Rule("function", 0.8, f"{name}(...) => func: tl.{name}", c.bare),
        Rule("function", 1.0, f"{name}(x) => func: tl.{name}; +axis=0", c.bare))),
    *(Rule("function", 0.8, f"o.{word}(...) => func: tl.{word}", c.foreign) for word in _FOREIGN.split()),
    Rule("function", 0.8, "tanh(x) => 2.0 * tl.sigmoid(2.0 * x) - 1.0"),
    Rule("extra", 1.9, "{sqrt abs trans log exp sigmoid rsqrt sum max exp2 cdiv}(x, ...) => x"),
    Rule("function", 1.8, "abs(x) => x * x"),
    Rule("extra", 1.7, "o.trans() => o"),
    # These keep the order of the elements, where a transposition may be meant.
    Rule("function", 1.0, "tl.{reshape view}(x, ...) => tl.trans(x)"),
    Rule("function", 1.0, "o.{reshape view}(...) => tl.trans(o)", c.no_module),
    Rule("order", 1.5, "where(s, a, b) => a: b; b: a"),
    # Axes of reductions.
    Rule("axis", 1.0, f"{_REDUCTIONS}(x, axis=a) => a: {{0 1}}"),
    Rule("axis", 1.0, (f"{_REDUCTIONS}(x, axis=0) => 0: 1", f"{_REDUCTIONS}(x, axis=1) => 1: 0"), together="all"),
    Rule("axis", 1.0, "{sum max min argmax argmin}(x) => +axis={1 0}; +keep_dims=True", c.tiled),
    Rule("axis", 1.3, f"{_REDUCTIONS}(x) => +axis={{1 0}}", c.tiled),
    Rule("axis", 2.2, f"{_REDUCTIONS}(x) => +axis={{0 1}}", neither(c.tiled)),
    # Initial values.
    Rule("start", 1.4, "tl.full(s, v, ...) => v: 0.0"), Rule("start", 2.4, "tl.full(s, v, ...) => v: 1.0"),
    Rule("start", 1.3, f"tl.full(s, v, ...) => v: {_LEAST}", c.calls("max", "maximum")),
    Rule("start", 2.4, f"tl.full(s, v, ...) => v: {_LEAST}"),
    Rule("start", 1.3, f"tl.zeros(s, dtype=t) => tl.full(s, {_LEAST}, t)", c.calls("max", "maximum")),
    Rule("start", 2.4, f"tl.zeros(s, dtype=t) => tl.full(s, {_LEAST}, t)"),
    Rule("start", 2.6, "tl.zeros(s, dtype=t) => tl.full(s, 1.0, t)"),
    Rule("start", 1.8, "t = v => v: {0.0 -float('inf')}", c.initial),
    # Accumulators.
    Rule("operator", 1.8, "t @= x => t = x"), Rule("operator", 0.9, "t = x => t += x", c.bound_before),
    Rule("missing", 1.2, "t = v => v: tl.maximum(t, v)", both(c.bound_before, c.a_call("v", "max"))),
    Rule("missing", 1.2, "t = v => v: t + v", both(c.bound_before, c.a_call("v", "sum"))),
    # Types. By default tl.dot keeps ten bits of a float32's fraction.
    Rule("type", 1.7, "load(...) => it.to(tl.float32)"),
    Rule("type", 1.6, "load(...) => it.to(tl.float32)", together="all"),
    Rule("type", 2.0, "o.to(t) => o"), Rule("rounding", 1.0, "o_value.to(t) => o: o + 0.5", c.integral),
    Rule("type", 1.4, 'dot(...) => +input_precision="ieee"', c.without("allow_tf32")),
    Rule("type", 2.4, "dot(...) => -out_dtype"),
    # Ranges of indices.
    Rule("extra", 0.8, "arange(a, b, d) => tl.arange(a, b)"),
    Rule("index", 0.8, ("arange(a, b + a) => a + tl.arange(0, b)", "arange(a, a + b) => a + tl.arange(0, b)")),
    Rule("missing", 1.7, "arange(a, b) => PROGRAM * BLOCK + it", neither(c.in_operator)),
    # Steps around a value that is stored, bound or added.
    *(Rule(kind, weight + more, f"{place} => x: {step}")
      for more, place in ((0.0, "{store atomic_add}(p, x, ...)"), (0.4, "t = x_value"), (0.4, "t @= x_value"))
      for kind, steps in AROUND.items() for step, weight in steps.items()),
    *(Rule("missing", 0.9 + more, f"{place} => x: tl.sqrt(x)", c.rooted) for more, place in (
        (0.0, "{store atomic_add}(p, x, ...)"), (0.4, "t = x_value"), (0.4, "t @= x_value"))),
    # Steps in the argument of a function.
    Rule("operands", 1.1, "{exp exp2 sigmoid}(a - b) => a: b; b: a"),
    Rule("operator", 1.1, "{exp exp2 sigmoid}(x) => x: -x", c.no_difference),
    Rule("missing", 1.8, "{exp exp2 sigmoid}(x) => x: x - VALUE"),
    Rule("missing", 1.8, "{exp exp2 sigmoid}(x) => x: x - tl.max(x, axis={0 1})"),
    Rule("factor", 1.9, "{exp exp2 sigmoid}(x) => x: {2.0 1.4426950408889634 0.5} * x"),
    Rule("missing", 1.3, "sum(x, ...) => x: x * x"), Rule("missing", 2.0, "sum(x, ...) => x: tl.exp(x)"),
    Rule("factor", 1.4, "sum(...) => it / SIZE"), Rule("factor", 1.7, "{sqrt rsqrt}(x) => x: x / SIZE"),
    Rule("missing", 2.0, "{exp exp2 sigmoid sqrt rsqrt sum log}(x, ...) => x: x + VALUE"),
    Rule("factor", 2.4, "{exp exp2 sigmoid sqrt rsqrt sum log}(x, ...) => x: x * VALUE"),
    # Steps in one side of an operator.
    Rule("missing", 1.5, "a / b => b: tl.sqrt(b)"),
    Rule("missing", 2.1, "a_value * b => a: tl.sqrt(a)", neither(c.number("a"))),
    Rule("missing", 2.1, "a * b_value => b: tl.sqrt(b)", neither(c.number("b"))),
    Rule("factor", 1.9, "a + b_size_block => b: {2 3} * b", c.name("b")),
    Rule("factor", 1.9, "a_size_block + b => a: {2 3} * a", c.name("a")),
    Rule("factor", 1.9, "a_value {* +} b => a: a * a", c.name("a")),
    Rule("factor", 1.9, "a {* +} b_value => b: b * b", c.name("b")),
    # Terms of an address.
    Rule("missing", 1.7, f"{_MEMORY}(p, ...) => p: p + INDEX"),
    Rule("missing", 2.4, f"{_MEMORY}(p, ...) => p: p + INDEX * {{STRIDE SIZE BLOCK}}"),
    Rule("missing", 1.8, f"{_MEMORY}(p, ...) => p: p + {{SIZE PROGRAM}}"),
    Rule("missing", 2.2, f"{_MEMORY}(p, ...) => p: p + 2 * SIZE"),
    Rule("missing", 1.9, f"{_MEMORY}(p, ...) => p: p + PROGRAM * {{STRIDE SIZE BLOCK}}"),
    Rule("factor", 1.3, "p_pointer @= x => x: x * {STRIDE SIZE}"),
    Rule("factor", 1.3, "p_pointer @= x => x: x * ADVANCE"),
    # The spread of an index over rows and columns.
    Rule("index", 1.9, ("x[:, None] => x[None, :]", "x[None, :] => x[:, None]")),
    Rule("index", 1.5, ("x[:, None] => x[None, :]", "x[None, :] => x[:, None]"), together="spread"),
    Rule("index", 2.0, ("{sum max min}(...) => it[:, None]", "{sum max min}(...) => it[None, :]"), c.not_subscripted),
    Rule("index", 2.0, "i_index => {i[:,None] i[None,:]}", both(c.not_subscripted, c.spreads)),
    # Values of lanes that a mask switches off.
    *(rule for text, weight in (("0.0", 1.2), (_LEAST, 2.4), ("1.0", 2.6), (_LARGEST, 2.8)) for rule in (
        Rule("other", weight, f"load(p, mask=m, other=o) => o: {text}"),
        Rule("other", weight, f"load(p, mask=m) => +other={text}"))),
    *(Rule("other", 1.2, f"{change}{_LEAST}", c.calls("max", "maximum", "exp"))
      for change in ("load(p, mask=m, other=o) => o: ", "load(p, mask=m) => +other=")),
    *(Rule("other", weight, (f"load(p, mask=m, other=o) => o: {text}", f"load(p, mask=m) => +other={text}"),
           when, together="all")
      for text, weight, when in (("0.0", 1.2, always), (_LEAST, 1.2, c.calls("max", "maximum", "exp")),
                                 (_LEAST, 2.4, neither(c.calls("max", "maximum", "exp"))))),
    # Memory under an index, as Python writes it.
    *(Rule("function", 0.7, (f"a[i_index_program] => tl.load(a + i{mask})",
                            f"a[i_index_program] = d => tl.store(a + i, d{mask})"), c.in_memory)
      for mask in ("", ", mask=MASK")),
    # Block pointers: checks of all axes instead of some or none. Without padding, elements outside hold anything.
    *(Rule("mask", 0.9, (
        f"load(p, boundary_check=c) => c: {axes}", f"store(p, v, boundary_check=c) => c: {axes}",
        f"load(p) => +boundary_check={axes}; +padding_option='zero'", f"store(p, v) => +boundary_check={axes}",
        f"load(p, padding_option=o) => +boundary_check={axes}"), c.block_pointer(rank), together)
      for rank, axes in ((1, "(0,)"), (2, "(0, 1)"), (3, "(0, 1, 2)")) for together in ("one", "all")),
    # Loops.
    Rule("start", 0.9, "{range static_range}(s, e, ...) => s: 0"),
    Rule("start", 2.4, "{range static_range}(0, e, ...) => 0: BLOCK"),
    *(rule for place in ("{range static_range}(e)", "{range static_range}(s, e, ...)") for rule in (
        Rule("bound", 1.8, f"{place} => e: {{SIZE BLOCK}}", neither(c.name("e"))),
        Rule("bound", 1.8, f"{place} => e: e {{+ -}} 1"), Rule("bound", 2.2, f"{place} => e: e {{+ -}} BLOCK"))),
    Rule("bound", 1.6, "{range static_range}({e s,e}) => e: tl.cdiv(e, BLOCK)"),
    Rule("bound", 2.4, "{range static_range}(s, e, t) => e: tl.cdiv(e, BLOCK)"),
    Rule("bound", 1.4, "{range static_range}(s, e) => func(s, e, BLOCK)"),
    Rule("bound", 1.5, "{range static_range}(e) => func(0, e, BLOCK)"),
    Rule("bound", 1.6, "{range static_range}(s, e, t) => t: BLOCK", neither(c.name("t"))),
    Rule("bound", 2.0, "cdiv(a, b) => a", c.a_bound),
    Rule("rounding", 1.2, "a // b => tl.cdiv(a, b)", c.divides),
    Rule("rounding", 0.7, "a // b => tl.cdiv(a, b)", c.divides, together="statement"),
    Rule("rounding", 0.7, "a // b + 1 => tl.cdiv(a, b)", c.divides),
)
"""Rules of kernels alone."""


def _rounded_up(quotient: str, when: Condition) -> tuple[Rule, ...]:
    return (
        Rule("rounding", 0.7, f"a {{// /}} b => {quotient}", when),
        Rule("rounding", 0.7, f"a {{// /}} b => {quotient}", when, together="statement"),
        Rule("rounding", 0.7, f"{{int round floor ceil}}(a {{// /}} b) => {quotient}", when),
        Rule("rounding", 0.7, f"a {{// /}} b + 1 => {quotient}", when))


HOST = (
    # Sizes.
    Rule("name", 1.7, ("x.shape[a] => GIVEN", "{numel size nelement len stride}(...) => GIVEN")),
    Rule("name", 2.2, "n_size => GIVEN"),
    *(Rule("order", 0.7, f"{', '.join(names)} = x => {first}: {second}; {second}: {first}")
      for names in ("ab", "abd", "abde") for first, second in combinations(names, 2)),
    Rule("axis", 1.2, "o.{size stride}(a) => a: {0 1}"), Rule("axis", 2.2, "o.{size stride}(a) => a: 2"),
    *_rounded_up("triton.cdiv(a, b)", c.imported), *_rounded_up("-(-a // b)", neither(c.imported)),
    # A fast path for whole blocks needs a multiple.
    Rule("comparison", 0.5, "a {> >=} b => a % b == 0"),
    # Tensors: parts of them, and where and how they are made. Zeros matter only if kernels add to the tensor.
    Rule("index", 1.0, "t_tensor[a, b] => a: b; b: a"), Rule("index", 1.0, "t_tensor[a, b] => a: 0", c.single("a")),
    Rule("index", 1.0, "t_tensor[a, b] => b: 0", c.single("b")),
    Rule("index", 1.2, "t_tensor[a] => t[:, a]", c.single("a")),
    Rule("index", 1.0, "t_tensor[a] => a: 0", c.single("a")),
    Rule("extra", 1.4, "o.{t contiguous transpose cpu half float view reshape flatten}(...) => o"),
    Rule("place", 0.7, "t_tensor => t.cuda()", c.on_the_host),
    Rule("place", 0.6, f"torch.{_MAKERS}(...) => +device=TENSOR.device"),
    Rule("place", 0.9, f"torch.{_MAKERS}(..., device=d) => d: TENSOR.device"),
    Rule("function", 1.4, "torch.empty(...) => func: torch.zeros", c.adds),
    Rule("function", 1.4, "torch.empty_like(...) => func: torch.zeros_like", c.adds),
    Rule("function", 1.0, "return x => OUTPUT.copy_(x)"),
    Rule("function", 1.0, "t = x => OUTPUT.copy_(x)", c.an_output),
    # A sum over programs loses precision in a narrow type, where a sum within a program is kept in registers.
    *(Rule("type", weight, change, when) for weight, when in ((0.9, c.adds), (2.2, always)) for change in (
        f"torch.{_MAKERS}(...) => +dtype=torch.float32", "torch.f(..., dtype=d) => d: torch.float32")),
    Rule("type", 0.9, "torch.{empty_like zeros_like ones_like full_like}(...) => +dtype=torch.float32", c.adds),
    # Options of a launch.
    Rule("block", 0.9, "k[g](..., num_warps=w) => w: 4"),
    Rule("block", 2.4, "k[g](..., {num_stages num_ctas}=w) => w: 4"),
)
"""Rules of host code alone."""
