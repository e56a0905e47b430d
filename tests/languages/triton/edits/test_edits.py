"""The error model: which changes it finds, and that each makes another file that Python reads."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

import pytest

from grader.course.cases import shape_of
from grader.course.catalogue import assignments
from grader.languages.triton.confined.edits import edits_of
from grader.plan.edits import Edit, edited
from grader.plan.messages import Given, GivenScalar, GivenTensor
from tests.graded import FILES
from tests.members import Member, pieces, select
from tests.rows import each_row

MEMBERS = [one for one in select("accepted", "wrong_answer", "runtime_error")
           if any(file in FILES for file in one.files if file.endswith(".py"))]
# Edits of a file that there is time for; and about how many of a member are parsed, from first to last.
IN_FRONT, PARSED = 300, 25


def given_of(name: str) -> list[Given]:
    """The parameters of an assignment's function, at its smallest sizes."""
    assignment = assignments()[name]
    case = next(iter(assignment.cases))
    return [GivenScalar(name=one.name, value=1e-5) if one.kind == "scalar" else GivenTensor(
        name=one.name, shape=list(shape_of(one, case)), dtype=one.dtype, output=one.kind == "output")
        for one in assignment.parameters]


def found(submitted: str, function: str) -> list[Edit]:
    return edits_of(submitted, function, given_of(function)).edits


@pytest.mark.parametrize("some", [
    pytest.param(MEMBERS[::64], id="some"), pytest.param(MEMBERS, id="all", marks=pytest.mark.full)])
def test_every_edit_makes_another_file_that_python_reads(some: list[Member]) -> None:
    for member in some:
        for file, submitted in member.files.items():
            if file in FILES:
                _assert_others(member, submitted, FILES[file])


def _assert_others(member: Member, submitted: str, function: str) -> None:
    edits = found(submitted, function)
    try:
        before = ast.dump(ast.parse(submitted))
    except SyntaxError:
        assert edits == [], member
        return
    after = [edited(submitted, edit) for edit in edits]
    assert len({submitted, *after}) == 1 + len(after), member
    assert before not in [ast.dump(ast.parse(one)) for one in after[:: 1 + len(after) // PARSED]], member
    assert all(edit.line == 1 + submitted.count("\n", 0, edit.spans[0].start) for edit in edits), member


SOFTMAX = '''import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    mask = lanes < cols
    x = tl.load(x_ptr + row * cols + lanes, mask=mask, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + lanes + row * cols, e / tl.sum(e, axis=0), mask=mask)


def softmax(x, out):
    rows, cols = x.shape
    softmax_kernel[(rows,)](x, out, cols, BLOCK=triton.next_power_of_2(cols))
'''
GELU = '''import triton
import triton.language as tl


@triton.jit
def gelu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    cube = x * x * x
    u = 0.7978845608028654 * (x + 0.044715 * cube)
    t = 2.0 * tl.sigmoid(2.0 * u) - 1.0
    tl.store(out_ptr + offs, 0.5 * (1.0 + t) * x, mask=mask)


def gelu(x, out):
    n = x.numel()
    grid = lambda meta: (triton.cdiv(n, meta["BLOCK"]),)
    gelu_kernel[grid](x, out, n, BLOCK=1024)
'''
GREYSCALE = '''import triton
import triton.language as tl

BLOCK_SIZE = 1024


@triton.jit
def grey_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    r = tl.load(x_ptr + offs, mask=mask, other=0).to(tl.float32)
    g = tl.load(x_ptr + offs + n, mask=mask, other=0).to(tl.float32)
    b = tl.load(x_ptr + 2 * n + offs, mask=mask, other=0).to(tl.float32)
    grey = 0.299 * r + 0.587 * g + 0.114 * b
    tl.store(out_ptr + offs, (grey + 0.5).to(tl.uint8), mask=mask)


def greyscale(x, out):
    n = out.numel()
    grid = (triton.cdiv(n, BLOCK_SIZE),)
    grey_kernel[grid](x, out, n, BLOCK=BLOCK_SIZE)
'''
MOVING = '''import torch
import triton
import triton.language as tl


@triton.jit
def gemm_kernel(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn,
                BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid_m = tl.program_id(axis=0)
    pid_n = tl.program_id(axis=1)
    rm = pid_m * BM + tl.arange(0, BM)
    rn = pid_n * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    a_ptrs = a_ptr + rm[:, None] * stride_am + rk[None, :] * stride_ak
    b_ptrs = b_ptr + rk[:, None] * stride_bk + rn[None, :] * stride_bn
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        a = tl.load(a_ptrs, mask=(rm[:, None] < M) & (rk[None, :] < K - k * BK), other=0.0)
        b = tl.load(b_ptrs, mask=(rk[:, None] < K - k * BK) & (rn[None, :] < N), other=0.0)
        acc += tl.dot(a, b)
        a_ptrs += BK * stride_ak
        b_ptrs += BK * stride_bk
    c_mask = (rm[:, None] < M) & (rn[None, :] < N)
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc.to(tl.float16), mask=c_mask)


def gemm(a, b, out):
    M, K = a.shape
    K, N = b.shape
    grid = (triton.cdiv(M, 32), triton.cdiv(N, 64))
    gemm_kernel[grid](a, b, out, M, N, K, a.stride(0), a.stride(1), b.stride(0), b.stride(1), BM=32, BN=64, BK=32)
'''
ACCEPTED = {name: Member(f"accepted/{title}").source for name, title in (
    ("gemm", "gemm_persistent"), ("rmsnorm_matrix", "rmsnorm_matrix_tile_of_rows"),
    ("transpose", "transpose_block_pointers"))}
ROUND, ZEROS = "tl.num_programs(0)):\n", "        acc = tl.zeros((BM, BN), dtype=tl.float32)\n"
HEIGHT = "min(tiles_m - first, GROUP)"
BACK, AGAIN = "    at = X + row * N + tl.arange(0, BLOCK_N)", "\n    for off"
RIGHT = {
    "softmax": ("softmax", SOFTMAX), "gelu": ("gelu", GELU), "greyscale": ("greyscale", GREYSCALE),
    "moving": ("gemm", MOVING), "tile": ("rmsnorm_matrix", ACCEPTED["rmsnorm_matrix"]),
    "persistent": ("gemm", ACCEPTED["gemm"].replace(ZEROS, "").replace(
        "    for tile", f"{ZEROS[4:]}    for tile").replace(ROUND, ROUND + ZEROS)),
    "pointers": ("transpose", ACCEPTED["transpose"].replace("load(src, boundary_check=(0, 1)",
                                                            'load(src, boundary_check=(0, 1), padding_option="zero"')),
    "turned": ("transpose", Member("accepted/transpose_tiles").source),
    **{name: (function, Member(member).source.replace(wrong, right))
       for name, function, member, wrong, right in (
        ("rounds", "gelu", "wrong_answer/gelu_programs_overlap", "id(0) * B", "id(0) * ROUNDS * B"),
        ("height", "transpose", "wrong_answer/transpose_height_of_the_last_group", "= GROUP\n", f"= {HEIGHT}\n"),
        ("set back", "rmsnorm_matrix", "runtime_error/rmsnorm_matrix_pointers_not_set_back", f" eps){AGAIN}",
         f" eps)\n{BACK}{AGAIN}"),
        ("online", "softmax", "wrong_answer/softmax_sum_not_rescaled", "l = l +", "l = l * tl.exp(m - m_new) +"),
        ("ahead", "gemm", "runtime_error/gemm_mask_of_the_round_before", "K - k0)", "K - k0 - BK)"),
        ("split", "gemm", "accepted/gemm_tuned_split_k", "", ""))},
    "warps": ("silu", pieces()["silu"].replace("BLOCK=1024)", "BLOCK=1024, num_warps=4)")),
    "exact": ("gemm", MOVING.replace("tl.dot(a, b)", 'tl.dot(a, b, input_precision="ieee")')),
    **{name: (function, pieces()[name]) for name, function in (
        ("silu", "silu"), ("gemm", "gemm"), ("transpose", "transpose"), ("rmsnorm_matrix", "rmsnorm_matrix"),
        ("rmsnorm_vector_in_two", "rmsnorm_vector"), ("rmsnorm_vector", "rmsnorm_vector"))},
}
MISTAKES = [
    ("silu", "x / (1.0 + tl.exp(-x))", "x / 1.0 + tl.exp(-x)", "brackets"),
    ("silu", "x / (1.0 + tl.exp(-x))", "x / (1.0 + tl.exp(x))", "operator"),
    ("silu", "x / (1.0 + tl.exp(-x))", "x / (1.0 - tl.exp(-x))", "operator"),
    ("silu", "x / (1.0 + tl.exp(-x))", "x * (1.0 + tl.exp(-x))", "operator"),
    ("silu", "x / (1.0 + tl.exp(-x))", "1.0 / (1.0 + tl.exp(-x))", "constant"),
    ("silu", "tl.exp(-x)", "tl.exp2(-x)", "function"),
    ("silu", "mask=offs < n)\n\n", "mask=offs <= n)\n\n", "comparison"),
    ("silu", "x_ptr + offs, mask=offs < n)", "x_ptr + offs)", "mask"),
    ("rmsnorm_matrix", "cols < n_cols", "cols <= n_cols", "comparison"),
    ("silu", "* BLOCK + tl", "+ tl", "factor"),
    ("silu", "tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)", "tl.arange(0, BLOCK)", "missing"),
    ("silu", "triton.cdiv(n, 1024)", "n // 1024", "rounding"),
    ("silu", "triton.cdiv(n, 1024)", "(n + 1023) // 1024 - 1", "grid"),
    ("silu", "triton.cdiv(n, 1024)", "triton.cdiv(n, 2048)", "grid"),
    ("silu", "x.numel()", "x.shape[0]", "name"),
    ("silu", "(triton.cdiv(n, 1024),)", "(triton.cdiv(n, 1024))", "grid"),
    ("silu", "(x, out, n, ", "(out, x, n, ", "order"),
    ("silu", "BLOCK: tl.constexpr", "BLOCK", "type"),
    ("silu", "(0, BLOCK)", "(0, BLOCK, 1)", "extra"),
    ("silu", "out_ptr + offs, x", "x_ptr + offs, x", "name"),
    ("silu", "tl.load(x_ptr + offs, mask=offs < n)", "tl.load(x_ptr, mask=offs < n)", "index"),
    ("silu", "BLOCK=1024)", "BLOCK=1000)", "block"), ("warps", "num_warps=4", "num_warps=3", "block"),
    ("silu", "tl.load(x_ptr + offs, mask=offs < n)", "x_ptr[offs]", "function"),
    ("silu", "out_ptr + offs, x", "output_ptr + offs, x", "name"),
    ("silu", "BLOCK=1024)", "BLOK=1024)", "name"),
    ("silu", ", BLOCK=1024)", ")", "block"),
    ("silu", "[(triton.cdiv(n, 1024),)]", "", "grid"),
    ("silu", "tl.exp(-x)", "tl.expp(-x)", "function"),
    ("silu", "tl.exp(-x)", "math.exp(-x)", "function"),
    ("silu", "offs < n)\n    tl", "offs < n).to(tl.float16)\n    tl", "type"),
    ("gelu", "0.044715", "0.44715", "constant"),
    ("gelu", "x * x * x", "x ** 3", "operator"),
    ("gelu", "x * x * x", "x * x", "factor"),
    ("gelu", "0.7978845608028654", "0.7071067811865476", "constant"),
    ("gelu", "(x + 0.044715 * cube)", "x + 0.044715 * cube", "brackets"),
    ("gelu", "(1.0 + t) * x", "(1.0 + t)", "factor"),
    ("gelu", "tl.sigmoid(2.0 * u)", "tl.sigmoid(u)", "factor"),
    ("gelu", "(2.0 * u) - 1.0", "(2.0 * u) + 1.0", "operator"),
    ("softmax", 'other=-float("inf")', "other=0.0", "other"), ("softmax", ', other=-float("inf")', "", "other"),
    ("softmax", "x - tl.max(x, axis=0)", "x", "missing"),
    ("softmax", "x - tl.max(x, axis=0)", "tl.max(x, axis=0) - x", "operands"),
    ("online", "m - m_new", "m_new - m", "operands"),
    ("online", "        l = l", "        m = tl.maximum(m, tl.max(v, axis=0))\n        l = l", "extra"),
    ("softmax", "tl.max(x", "tl.min(x", "function"), ("softmax", "tl.sum(e", "tl.sum(x", "name"),
    ("softmax", "tl.sum(e", "tl.max(e", "function"),
    ("softmax", "tl.sum(e, axis=0)", "sum(e)", "function"),
    ("softmax", "x_ptr + row * cols + lanes", "x_ptr + row + lanes", "factor"),
    ("softmax", "out_ptr + lanes + row * cols", "out_ptr + lanes", "missing"),
    ("softmax", "triton.next_power_of_2(cols)", "cols", "block"),
    ("softmax", "triton.next_power_of_2(cols)", "triton.next_power_of_2(rows)", "name"),
    ("softmax", "[(rows,)]", "[(cols,)]", "name"),
    ("softmax", "[(rows,)]", "[(1,)]", "grid"),
    ("greyscale", "0.587 * g + 0.114 * b", "0.114 * g + 0.587 * b", "constant"),
    ("greyscale", "0.587 *", "0.857 *", "constant"),
    ("greyscale", "(grey + 0.5).to", "grey.to", "rounding"),
    ("greyscale", "2 * n", "n", "factor"),
    ("greyscale", "x_ptr + offs + n", "x_ptr + offs", "missing"),
    ("greyscale", "tl.uint8)", "tl.int8)", "type"),
    ("greyscale", "(x, out, n, BLOCK=BLOCK_SIZE)", "(x, out, n, BLOCK=512)", "block"),
    ("rmsnorm_matrix", "tl.sqrt(tl.sum(x * x, axis=0) / n_cols + eps)", "tl.sqrt(tl.sum(x * x, axis=0) / n_cols) + eps",
     "brackets"),
    ("rmsnorm_matrix", "tl.sqrt(tl.sum(x * x, axis=0) / n_cols + eps)", "tl.sum(x * x, axis=0) / n_cols + eps",
     "missing"),
    ("rmsnorm_matrix", "x * x", "x", "missing"),
    ("rmsnorm_matrix", " / n_cols + eps", " + eps", "factor"),
    ("rmsnorm_matrix", " / n_cols + eps", " / n_cols", "missing"),
    ("rmsnorm_matrix", " / n_cols + eps", " / BLOCK + eps", "name"),
    ("rmsnorm_matrix", "x / rms * w", "x / rms", "factor"),
    ("rmsnorm_matrix", "x / rms * w", "x / (rms * w)", "brackets"),
    ("rmsnorm_matrix", "x / rms * w", "x * rms * w", "operator"),
    ("rmsnorm_matrix", "tl.sqrt", "tl.rsqrt", "function"),
    ("rmsnorm_matrix", "w_ptr + cols", "w_ptr + row", "index"),
    ("rmsnorm_matrix", "rows, cols =", "cols, rows =", "order"),
    ("rmsnorm_matrix", "out, cols, eps", "out, rows, eps", "name"),
    ("rmsnorm_vector", "total += tl", "total = tl", "operator"),
    ("rmsnorm_vector", "range(0, n, BLOCK):\n        offs = start + tl.arange(0, BLOCK)\n        x",
     "range(BLOCK, n, BLOCK):\n        offs = start + tl.arange(0, BLOCK)\n        x", "start"),
    ("rmsnorm_vector", "range(0, n, BLOCK):\n        offs = start + tl.arange(0, BLOCK)\n        x",
     "range(0, n - 1, BLOCK):\n        offs = start + tl.arange(0, BLOCK)\n        x", "extra"),
    ("rmsnorm_vector_in_two", "tl.atomic_add(total", "tl.store(total", "function"),
    ("rmsnorm_vector_in_two", "torch.zeros(1, device", "torch.empty(1, device", "function"),
    ("rmsnorm_vector_in_two", "torch.zeros(1, device=x.device)", "torch.zeros(1)", "place"),
    ("transpose", "(m[:, None] < M) & (n", "(m[:, None] < M) | (n", "operator"),
    ("transpose", "(m[:, None] < M) & (n[None, :] < N)", "m[:, None] < M", "mask"),
    ("transpose", "n[None, :] * M + m[:, None]", "n[None, :] * N + m[:, None]", "name"),
    ("transpose", "n[None, :] * M + m[:, None]", "n[:, None] * M + m[None, :]", "index"),
    ("transpose", "program_id(1)", "program_id(0)", "axis"),
    ("transpose", "(triton.cdiv(M, 32), triton.cdiv(N, 32))", "(triton.cdiv(N, 32), triton.cdiv(M, 32))", "grid"),
    ("transpose", "M, N = x.shape", "N, M = x.shape", "order"),
    ("gemm", "acc += tl", "acc = tl", "operator"),
    ("gemm", "dtype=tl.float32", "dtype=tl.float16", "type"),
    ("gemm", "range(0, K, BK)", "range(0, K)", "bound"),
    ("gemm", "range(0, K, BK)", "range(0, N, BK)", "name"),
    ("gemm", "(rm[:, None] < M) & (rk[None, :] < K), other=0.0", "rm[:, None] < M, other=0.0", "mask"),
    ("gemm", "out, M, N, K", "out, M, K, N", "order"),
    ("gemm", "acc.to(tl.float16), mask=(rm[:, None] < M) & (rn[None, :] < N))", "acc.to(tl.float16))", "mask"),
    ("moving", "        b_ptrs += BK * stride_bk\n", "", "missing"),
    ("moving", "a_ptrs += BK * stride_ak", "a_ptrs += BK * stride_am", "name"),
    ("moving", "a_ptrs += BK * stride_ak", "a_ptrs += BK", "factor"),
    ("moving", "        b_ptrs += BK", "    b_ptrs += BK", "moved"),
    ("moving", "tl.cdiv(K, BK)", "K // BK", "rounding"),
    ("moving", "rm[:, None] * stride_am + rk[None, :] * stride_ak", "rm[:, None] * stride_ak + rk[None, :] * stride_am",
     "exchanged"),
    ("moving", "rm[:, None] * stride_am + rk[None, :] * stride_ak", "rm[None, :] * stride_am + rk[:, None] * stride_ak",
     "index"),
    ("moving", "rk[None, :] < K - k * BK", "rk[None, :] < K", "mask"),
    ("split", "k * BK * SPLIT_K + rk", "k * BK + rk", "factor"),
    ("moving", "a.stride(0), a.stride(1), b", "a.stride(1), a.stride(0), b", "order"),
    ("moving", "BM=32, BN=64", "BM=64, BN=32", "order"),
    ("persistent", ROUND + ZEROS, ROUND, "missing"),
    ("turned", "tl.trans(tile)", "tl.reshape(tile, (TILE, TILE))", "function"),
    ("turned", "tl.trans(tile)", "tile.view(TILE, TILE)", "function"),
    ("rounds", "tl.program_id(0) * ROUNDS", "tl.program_id(0)", "factor"),
    ("height", HEIGHT, "min(tiles_m, GROUP)", "end"),
    ("height", HEIGHT, "tl.minimum(GROUP, tiles_m)", "end"),
    ("set back", f"{BACK}{AGAIN}", AGAIN[1:], "missing"),
    ("exact", ', input_precision="ieee")', ")", "type"),
    ("ahead", "K - k0 - BK", "K - k0", "mask"),
    ("ahead", "at = k0 + rk + BK", "at = k0 + rk", "missing"),
    ("tile", "x * x, axis=1, keep_dims=True", "x * x", "axis"),
    ("pointers", "boundary_check=(0, 1))\n", "boundary_check=(0,))\n", "mask"),
    ("pointers", "boundary_check=(0, 1))\n", "boundary_check=[1])\n", "mask"),
    ("pointers", ", boundary_check=(0, 1))\n", ")\n", "mask"),
    ("pointers", ', boundary_check=(0, 1), padding_option="zero"), boundary_check=(0, 1))', "))", "mask"),
]
"""A right kernel, a part of it, what stands there instead, and the kind of the edit that mends it."""


HIDING = [
    ("silu", "BLOCK=1024)", "BLOCK=triton.next_power_of_2(n))"),
    ("silu", "BLOCK=1024)", "BLOCK=2048)"),
    ("rounds", "block * rounds),)", "block * block),)"), ("rounds", "ROUNDS=rounds", "ROUNDS=block"),
]
"""A right kernel, a part of it and what would only keep faulty code there from showing."""

# Spaces, brackets and quotes, which ast writes in its own way.
OWN = re.compile(r"[\s()'\"]")


@pytest.mark.parametrize(("name", "right", "wrong", "kind"), MISTAKES)
def test_a_mistake_is_mended(name: str, right: str, wrong: str, kind: str) -> None:
    function, whole_text = RIGHT[name]
    assert right in whole_text
    mistaken = whole_text.replace(right, wrong, 1)
    wanted, tree = OWN.sub("", whole_text), ast.dump(ast.parse(whole_text))
    mending = [edit.kind for edit in found(mistaken, function)[:IN_FRONT]
               if OWN.sub("", after := edited(mistaken, edit)) == wanted and ast.dump(ast.parse(after)) == tree]
    assert mending == [kind]


@pytest.mark.parametrize(("name", "before", "after"), HIDING)
def test_a_larger_block_or_grid_hides_a_mistake_and_is_not_tried(name: str, before: str, after: str) -> None:
    function, right = RIGHT[name]
    hidden = right.replace(before, after, 1)
    assert hidden != right
    assert hidden not in [edited(right, edit) for edit in found(right, function)]


def test_a_statement_that_is_taken_away_may_only_hide_a_mistake() -> None:
    function, right = RIGHT["moving"]
    wanted = right.replace("        acc += tl.dot(a, b)\n", "", 1)
    assert [edit.workaround for edit in found(right, function) if edited(right, edit) == wanted] == [True]


@pytest.mark.parametrize(("stores", "tried"), [("tl.atomic_add(total", True), ("tl.store(total", False)])
def test_zeros_hide_that_nothing_is_written_where_nothing_is_added(stores: str, tried: bool) -> None:
    function, right = RIGHT["rmsnorm_vector_in_two"]
    wanted = right.replace("tl.atomic_add(total", stores)
    wrong = wanted.replace("torch.zeros(1, device", "torch.empty(1, device")
    assert wrong != wanted
    assert (wanted in [edited(wrong, edit) for edit in found(wrong, function)]) == tried


@pytest.mark.parametrize("name", ["moving", "gemm", "rmsnorm_vector", "pointers"])
def test_what_a_whole_loop_adds_up_is_not_set_again(name: str) -> None:
    function, right = RIGHT[name]
    assert not [edit for edit in found(right, function) if edit.kind == "missing" and edit.spans[0].text[-1] == "\n"]


SPELLINGS: dict[str, Callable[[str], str]] = {
    "windows": lambda written: written.replace("\n", "\r\n"),
    "a mark in front": lambda written: "\ufeff" + written,
    "other letters": lambda written: written.replace("x = ", "é = 'ü' and ").replace("x /", "é /").replace("-x", "-é"),
    "a page": lambda written: "\f\n" + written,
    "tabs": lambda written: written.replace("    ", "\t"),
    "comments": lambda written: written.replace(", mask", ",  # (a, b\n                mask"),
    "brackets": lambda written: written.replace("offs < n", "((offs) < (n))").replace("x / ", "((x)) /"),
    "one line": lambda written: written.replace("\n    x = ", "; x = "),
}


@each_row("spelling", SPELLINGS)
def test_however_a_file_is_spelt(spelling: str) -> None:
    """Columns are counted in bytes by ast and in characters here."""
    written = SPELLINGS[spelling](RIGHT["silu"][1])
    edits = found(written, "silu")
    assert len(edits) > 100 and found(written, "silu") == edits
    line = 1 + written[: written.index("tl.exp(")].count("\n")
    assert [edit.line for edit in edits if "tl.exp2(" in edited(written, edit)] == [line]
    for edit in edits:
        ast.parse(edited(written, edit).removeprefix("\ufeff"))


def test_what_is_no_file_of_the_function_has_no_edits() -> None:
    assert found("def silu(x, out:", "silu") == found("", "silu") == found("def relu(x, out): pass", "silu") == []


def test_no_more_edits_than_wanted() -> None:
    written = RIGHT["gemm"][1]
    assert edits_of(written, "gemm", given_of("gemm"), 10).edits == found(written, "gemm")[:10]


def test_a_long_file_is_read() -> None:
    """A sum of thousands, and thousands of statements."""
    more = "    y = x" + " + x" * 2_000 + "\n" + "    x = x * 1.5\n" * 5_000
    written = RIGHT["silu"][1].replace("    tl.store", f"{more}    tl.store")
    assert len(edits_of(written, "silu", given_of("silu"), 300).edits) == 300
