"""The error model of CUDA C++ as a table: each row is a kind of edit, its weight, what it matches and what it writes.

In `matches => writes`, `matches` are tokens. A small letter is a variable: it matches any token, the same one wherever
it stands again; `n_size` matches one with a role, which `roles.py` finds out. `v...` matches one token or more, up to
the first outside of brackets that what follows matches; `...` any number. `{a b}` matches one of these tokens. `writes`
takes the place of the match, or, after `n:`, of that variable or token; ` | ` stands between several. `(v)` is `v` in
brackets, if it has more than one token. SIZE, NEAR and so on make an edit for each of the texts in `WORDS`.
"""

from __future__ import annotations

from collections.abc import Mapping

from grader.languages.cuda.confined.edits import roles as c
from grader.languages.drafts import Rule, always, both, neither
from grader.plan.edits import EditKind

LEAST = 0.3
"""The least weight of an edit."""
FAR = 0.6
"""The surcharge outside of the functions that hold lines which evidence names."""
_COMPARISONS: Mapping[str, Mapping[str, float]] = {
    "<": {"<=": 2.0}, "<=": {"<": 0.6}, ">": {">=": 2.2, "<": 1.8}, ">=": {">": 1.4, "<": 1.6},
    "==": {"!=": 2.2}, "!=": {"==": 2.2}, "&&": {"||": 2.4}, "||": {"&&": 1.2},
}  # fmt: skip
_OPERATORS: Mapping[str, Mapping[str, float]] = {
    "+": {"-": 1.9, "*": 2.4}, "-": {"+": 1.4}, "*": {"/": 2.0, "+": 2.2}, "/": {"*": 1.5, "%": 1.7}, "%": {"/": 1.6},
    "+=": {"=": 2.2, "*=": 2.6}, "*=": {"+=": 2.0}, "-=": {"+=": 1.4},
}  # fmt: skip
_WORDS: Mapping[tuple[EditKind, float], Mapping[str, str]] = {
    ("function", 1.1): {
        "expf": "exp2f", "exp2f": "expf", "__expf": "exp2f", "logf": "log2f", "log2f": "logf", "sqrtf": "rsqrtf",
        "rsqrtf": "sqrtf", "fmaxf": "fminf", "fminf": "fmaxf", "sinf": "cosf", "tanhf": "tanf", "erff": "erfcf",
        "__shfl_up_sync": "__shfl_down_sync", "__shfl_down_sync": "__shfl_xor_sync",
        "cudaMemcpyDeviceToHost": "cudaMemcpyHostToDevice", "cudaMemcpyHostToDevice": "cudaMemcpyDeviceToDevice",
        "cudaMemcpyHostToHost": "cudaMemcpyDefault", "__int2float_rd": "__int2float_rn",
        "__float2int_rz": "__float2int_rn", "__float2half_rz": "__float2half_rn"},
    ("order", 0.7): {
        "row_major": "col_major", "col_major": "row_major", "mem_row_major": "mem_col_major",
        "mem_col_major": "mem_row_major"},
    # Infinity minus infinity is NaN: the largest float is not.
    ("start", 0.9): dict.fromkeys(("INFINITY", "CUDART_INF_F", "HUGE_VALF"), "3.402823466e38f"),
    ("type", 1.6): {"short": "int", "char": "int", "half": "float", "__half": "float"},
}  # fmt: skip
"""Words that are confused."""
_AXES = ("p_place .x => x: y", "p_place .y => y: x")
# Products of a grid's blocks and a block's threads, and their last token: `size_t(gridDim.x) * blockDim.x`.
_THREADS_OF_GRID = {
    **{f"gridDim.x {by} {factor}": last for by in ("*", ") *")
       for factor, last in (("n_name", "n"), ("blockDim.x", "x"))},
    "* gridDim.x": "x", "* ( gridDim.x )": ")", "* a_name ( gridDim.x )": ")"}

ANYWHERE = (
    # In host code these may launch more or larger blocks.
    *(Rule("comparison", weight, f"{old} => {new}", neither(c.in_template), workaround=True)
      for old, others in _COMPARISONS.items() for new, weight in others.items()),
    # A sign after an operand has two: `*input` and `-x` have one. The remainder of two `sizeof` is 0, and a division by
    # 0 may give anything.
    *(Rule("operator", weight, f"a_operand {old} b => {old}: {new}",
          neither(c.is_("b", "sizeof")) if new == "%" else always, workaround=True)
      for old, others in _OPERATORS.items() for new, weight in others.items()),
    Rule("constant", 1.8, "n_bit => NUMBER", workaround=True),
    Rule("constant", 1.6, "n_number => NUMBER", workaround=True),
    Rule("type", 1.2, ("n_bit / => n: FLOAT", "n_number / => n: FLOAT"), workaround=True),
    Rule("constant", 1.3, "n_constant a => n: NEAR", neither(c.is_("a", "=")), workaround=True),
    *(Rule(kind, weight, f"{old} => {new}") for (kind, weight), words in _WORDS.items() for old, new in words.items()),
    Rule("function", 1.1, "cudaMemcpyHostToDevice => cudaMemcpyDefault"),
    Rule("function", 1.1, ("max => min", "min => max"), workaround=True),
    Rule("axis", 1.5, _AXES, c.any_("axes")), Rule("axis", 1.2, _AXES, c.any_("axes"), together="spread"),
    Rule("name", 1.4, "n_size => SIZE", c.in_body),
    Rule("order", 1.7, "{( ,} a_name , b_name {) ,} => a: b | b: a", c.in_body),
    # Elements after the last whole vector.
    Rule("factor", 0.6, ("{= +} n_counted {+ ; , ) ]} => n: COUNT * n", "{( , [} n_counted + => n: COUNT * n")),
    Rule("factor", 1.2, "{( , [} n_counted {; , ) ]} => n: COUNT * n"),
)
"""Rows of kernels and host code."""

KERNEL = (
    # All sides of a condition.
    *(Rule("comparison", 0.8, f"{old} b => {old}: {new}", neither(c.is_("b", "(")), together="statement")
      for old, new in (("<=", "<"), (">", ">="))),
    Rule("factor", 1.0, "return v... ; => v: (v) * LAST"), Rule("factor", 1.2, "return v... ; => v: (v) / LAST"),
    # The bound of a kernel that takes vectors.
    Rule("factor", 0.9, "{( ; &&} a < n_size {) ; &&} => n: n / WIDTH", c.any_("wide")),
    # Barriers: a last one is for the next iteration of a loop.
    Rule("barrier", 2.2, "__syncthreads(); => ;"), Rule("barrier", 1.6, "} => __syncthreads(); }", c.any_("shared")),
    Rule("barrier", 1.0, "a_shared ... {= += -=} ... ; => ;: ; __syncthreads();", c.stores),
    Rule("extra", 1.8, "return; => ;", c.any_("shared")),
    Rule("start", 1.0, "{; { }} {float half int double} a... ; => ;:  = 0;", neither(c.has("a", "=", "["))),
    Rule("start", 1.0, "{; { }} {float half int double} a... ; => ;:  = {};",
        both(c.has("a", "["), neither(c.has("a", "=")))),
    Rule("function", 1.8, "{; { ) }} n_name ... += ... ; => n: atomicAdd(&n | +=: , | ;: );", c.in_memory),
    Rule("name", 0.6, "{load_matrix_sync store_matrix_sync} ( a... , b... , l_word {) ,} => l: LENGTH"),
    # `m = new;` is moved after the next statement, which may need the old value.
    Rule("order", 0.9, "{; { }} m_name = n_name ; d_name = v... ; => m: d | n: v | d: m | v: n", c.updated_early),
    # Reductions: by trees, and over warps.
    Rule("comparison", 0.4, "n_halved > b {; )} => >: >=", neither(c.is_("b", "0"))),
    *(Rule("function", 0.4, "__shfl_down_sync => __shfl_xor_sync", c.any_("shuffles"), together=all_)
      for all_ in ("one", "all")),
    Rule("extra", 0.5, ("% w_warp == 0 => == 0", "% w_warp ) == 0 => ) == 0", "& {31 31u} ) == 0 => ) == 0"),
        c.any_("reduces")),
    Rule("missing", 0.5, ("threadIdx.x == 0 => threadIdx.x % 32 == 0", "n_thread == 0 => n: n % 32"),
        c.any_("reduces")),
    Rule("name", 0.5, "n_lane == 0 => n: threadIdx.x", c.any_("reduces")),
    # Steps of loops: they count warps or threads.
    *(Rule("extra", 0.7, (f"{threads} / w_warp => /: | w:", f"{threads} >> 5 => >>: | 5:"))
      for threads in _THREADS_OF_GRID),
    *(Rule("factor", 0.6, f"{threads} {{; , )}} => {last}: {last} / 32", c.any_("step"))
      for threads, last in _THREADS_OF_GRID.items()),
    Rule("missing", 0.7, "+= gridDim.x {; , )} => x: x * BLOCK"),
    # Counts.
    Rule("factor", 0.7, ("+ n_counter {; ] ) ,} => n: n * FACTOR", "{= [ ( ,} n_counter + => n: n * FACTOR")),
    Rule("missing", 0.4, "a_count == b... {; ) , && || ? -} => b: b - 1", c.is_total),
    Rule("missing", 0.4, "a_atomic ( d... ) == b... {; ) , && || ? -} => b: b - 1", c.is_total),
    Rule("missing", 0.6, "atomicInc ( a... , b... ) => b: b - 1", neither(c.last("b", "1"))),
    # `n - i` is past the last element for an i of 0.
    Rule("missing", 0.5, ("{= [ +} n_total - i_name => n: n - 1", "{= [ +} blockDim.x - i_name => x: x - 1"),
        neither(c.compared)),
    Rule("missing", 0.5, ("a ( n_total - i_name => n: n - 1", "a ( blockDim.x - i_name => x: x - 1"),
        neither(c.compared, c.called)),
)

HOST = (
    Rule("rounding", 0.9, "a_name / b_word => a: (a + b - 1)"),
    # A path of whole vectors: a file may take it for sizes that are large enough, but not multiples of the vector's.
    *(Rule("comparison", 1.0, f"{{( &&}} a {sign} b {{) &&}} => {sign}: % | b: b == 0") for sign in (">", ">=")),
    Rule("grid", 0.4, ("dim3 ( a... , b... {, )} => a: b | b: a", "dim3 n_name ( a... , b... {, )} => a: b | b: a")),
    # Launches: sizes exchanged, whole warps, and the bound of a kernel that takes vectors.
    Rule("order", LEAST - FAR, "<<< a... , b... {, >>>} => a: b | b: a", c.block_first),
    Rule("order", LEAST - FAR + 1.6, "<<< a... , b... {, >>>} => a: b | b: a", neither(c.block_first)),
    Rule("block", 0.4, "<<< a... , b... {, >>>} => b: (b + 31) / 32 * 32", c.variable_block),
    Rule("factor", 0.9, "{, (} n_size {, )} => n: n / WIDTH", c.launched),
    Rule("operator", 0.4, "+= w_warp => +=: *= | w: 2", c.trees),
    # CUDA's calls count bytes.
    Rule("factor", 0.5, "{cudaMalloc cudaMallocManaged cudaMallocHost cudaMallocAsync} ( t... , b... {, )} => "
        "b: (b) * sizeof(*POINTER)", c.counts_elements),
    Rule("factor", 0.5, "{cudaMemset cudaMemsetAsync cudaMemcpy cudaMemcpyAsync} ( t... , a... , b... {, )} => "
        "b: (b) * sizeof(*(t))", c.counts_elements),
)
