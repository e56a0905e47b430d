"""The error model: which changes it finds, and that each makes another file that Python reads."""

import ast
import re
from collections.abc import Callable

import pytest

from grader.course.cases import shape_of
from grader.course.catalogue import assignments
from grader.languages import drafts
from grader.languages.triton.confined.edits import edits_of
from grader.plan.edits import Edit, edited
from grader.plan.messages import Given, GivenScalar, GivenTensor
from tests.graded import FILES
from tests.members import Member, pieces, select
from tests.rows import beside, each_row

MEMBERS = [member for member in select("accepted", "wrong_answer", "runtime_error")
           if any(file in FILES for file in member.files if file.endswith(".py"))]
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


DATA = beside(__file__)
KERNELS: dict[str, str] = DATA["kernels"]
ACCEPTED = {name: Member(f"accepted/{title}").source for name, title in (
    ("gemm", "gemm_persistent"), ("rmsnorm_matrix", "rmsnorm_matrix_tile_of_rows"),
    ("transpose", "transpose_block_pointers"))}
ROUND, ZEROS = "tl.num_programs(0)):\n", "        acc = tl.zeros((BM, BN), dtype=tl.float32)\n"
HEIGHT = "min(tiles_m - first, GROUP)"
BACK, AGAIN = "    at = X + row * N + tl.arange(0, BLOCK_N)", "\n    for off"
RIGHT = {
    **{name: (name, KERNELS[name]) for name in ("softmax", "gelu", "greyscale")},
    "moving": ("gemm", KERNELS["moving"]), "tile": ("rmsnorm_matrix", ACCEPTED["rmsnorm_matrix"]),
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
    "exact": ("gemm", KERNELS["moving"].replace("tl.dot(a, b)", 'tl.dot(a, b, input_precision="ieee")')),
    **{name: (function, pieces()[name]) for name, function in (
        ("silu", "silu"), ("gemm", "gemm"), ("transpose", "transpose"), ("rmsnorm_matrix", "rmsnorm_matrix"),
        ("rmsnorm_vector_in_two", "rmsnorm_vector"), ("rmsnorm_vector", "rmsnorm_vector"))},
}


HIDING = [
    ("silu", "BLOCK=1024)", "BLOCK=triton.next_power_of_2(n))"),
    ("silu", "BLOCK=1024)", "BLOCK=2048)"),
    ("rounds", "block * rounds),)", "block * block),)"), ("rounds", "ROUNDS=rounds", "ROUNDS=block"),
]
"""A right kernel, a part of it and what would only keep faulty code there from showing."""

# Spaces, brackets and quotes, which ast writes in its own way.
OWN = re.compile(r"[\s()'\"]")


@pytest.mark.parametrize(("name", "right", "wrong", "kind"), [
    (name, *row) for name, rows in DATA["mistakes"].items() for row in rows])
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


def test_a_long_file_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sum of thousands, and thousands of statements."""
    monkeypatch.setattr(drafts, "MOST_EDITS", 300)
    more = "    y = x" + " + x" * 2_000 + "\n" + "    x = x * 1.5\n" * 5_000
    written = RIGHT["silu"][1].replace("    tl.store", f"{more}    tl.store")
    assert len(found(written, "silu")) == 300
