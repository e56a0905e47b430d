"""The error model of CUDA C++: which changes it finds, how near to the front, and that each makes another file."""

import time
from typing import get_args

import pytest

from grader.languages.cuda.confined.edits import LARGEST, edits_of
from grader.languages.cuda.confined.edits.matching import Body, drafts, find_matches
from grader.languages.cuda.confined.edits.roles import ROLES, WORDS, is_
from grader.languages.cuda.source import code_words
from grader.languages.drafts import Rule, edits_in_order, neither
from grader.plan.edits import EditKind, edited
from tests.members import Member, select
from tests.rows import beside, each_row

MEMBERS = [member for member in select("accepted", "wrong_answer", "runtime_error") if member.title.startswith("cuda_")]
TRIED = 30
"""Edits of a file that there is time for."""
DATA = beside(__file__)
FILES: dict[str, str] = DATA["files"]
SUM, WALK, LANES, COUNTS = (FILES[name] for name in ("sum", "walk", "lanes", "counts"))


@each_row(("text", "right", "wrong", "line"), [
    (FILES[name], *row) for name, rows in DATA["mistakes"].items() for row in rows])
def test_a_mistake_is_mended_by_one_of_the_first_edits(text: str, right: str, wrong: str, line: int) -> None:
    assert text.count(right) == 1
    found = [edited(text.replace(right, wrong), edit) for edit in edits_of(
        text.replace(right, wrong), lines=[line]).edits[:TRIED]]
    # Spaces and brackets make no difference.
    assert any(_plain(one) == _plain(text) for one in found), found


def test_sizes_that_a_launch_exchanges_come_first_and_those_under_their_own_names_do_not() -> None:
    wrong = SUM.replace("(x, y, rows, cols);", "(x, y, cols, rows);")
    assert wrong != SUM and edited(wrong, edits_of(wrong, lines=[8]).edits[0]) == SUM
    assert edits_of(SUM, lines=[8]).edits[0].kind != "order"


@each_row(("text", "wrong", "right"), [
    (LANES, "threadIdx.x % 32 == 0", "threadIdx.x == 0"),
    (LANES, "gridDim.x * blockDim.x / 32", "gridDim.x * blockDim.x"),
    (LANES.replace("threadIdx.x % 32 == 0", "own == 0"), "own == 0", "threadIdx.x == 0"),
    (LANES.replace("threadIdx.x % 32 == 0", "lane == 0"), "lane == 0", "threadIdx.x == 0"),
    (LANES.replace("threadIdx.x % 32 == 0", "t == 0"), "t == 0", "t % 32 == 0"),
    (LANES.replace("threadIdx.x % 32 ==", "(threadIdx.x & 31) =="), "(threadIdx.x & 31) ==", "(threadIdx.x) =="),
])
def test_warps_and_blocks_may_stand_in_each_others_place(text: str, wrong: str, right: str) -> None:
    assert text.count(wrong) == 1
    found = [edited(text, edit) for edit in edits_of(text, lines=[14]).edits[:TRIED]]
    assert text.replace(wrong, right) in found


def test_bytes_and_last_numbers_stay_as_they_are() -> None:
    # What stands there counts bytes, and places are compared from the end.
    text = COUNTS.replace("if (ticket", "if (n - lane < 4 && min(n - lane, 4) && ticket")
    assert [edit for edit in edits_of(text).edits if edit.weight < 0.6 and edit.line > 7] == []


def test_what_each_round_of_a_loop_begins_with_is_set_again_there() -> None:
    text = WALK.replace(" sum = 0.0f; // {", "")
    again = [edit.spans[0].text for edit in edits_of(text).edits if edit.kind == "missing"]
    # A loop's own counter would never end, and nothing is added to `most`.
    assert again == [" sum = 0.0f;", " memset(parts, 0, sizeof(parts));",
                     " sum = 0.0f; memset(parts, 0, sizeof(parts));", " sum = 0.0f;"]
    # What is set in each round, or used behind the loop alone, is left.
    assert [edit for text in (SUM, WALK.replace("+ parts[0]", "")) for edit in edits_of(text).edits
            if edit.kind == "missing" and edit.line != 9] == []


@pytest.mark.parametrize(("wrong", "right"), [
    ("x > w || y > h", "x >= w || y >= h"), ("x <= w && y <= h && x > 0", "x < w && y < h && x > 0")])
def test_all_sides_of_a_condition_are_changed_together(wrong: str, right: str) -> None:
    text = "__global__ void f(float *a, int w, int h) {{ int x = threadIdx.x, y = threadIdx.y; if ({}) a[y * w] = x; }}"
    found = [edited(text.format(wrong), edit) for edit in edits_of(text.format(wrong)).edits[:TRIED]]
    assert text.format(right) in found


def test_a_name_is_set_behind_the_statement_that_uses_its_old_value() -> None:
    body = "d = d * expf(m - new_m) + e; m = new_m;"
    text = "__global__ void f(float *x) {{ float m = 0.0f, d = 0.0f, e = x[0], new_m = fmaxf(m, e); {} x[0] = d; }}"
    wrong = text.format("m = new_m; d = d * expf(m - new_m) + e;")
    right = [edit for edit in edits_of(wrong).edits if _plain(edited(wrong, edit)) == _plain(text.format(body))]
    assert [edit.kind for edit in right] == ["order"]
    # What the next statement does not use, or sets, may stay.
    for other in (body, "m = new_m; d = d * expf(e - new_m);", "m = new_m; m = m + new_m;", "m = 2.0f * e; d = m - e;"):
        assert [edit for edit in edits_of(text.format(other)).edits if "m = " in edit.spans[-1].text] == []


@each_row(("pattern", "code", "parts"), [
    ("a / b", "x = n / 2;", {"a": "n", "b": "2"}),
    ("a_number / b", "x = n / 2 / 3;", {"a": "2", "b": "3"}),
    ("a * a", "y = a * b * b;", {"a": "b"}),
    ("n_size < {m n}", "void f(int k, int l) { k < l; l < n; }", {"n": "l"}),
    ("f ( a... , b... )", "fg(g(x, y), (z), w);", {"f": "fg", "a": "g(x, y)", "b": "(z), w"}),
    ("threadIdx.x ... ;", "int i = threadIdx.x; int j = 2;", {"x": "x"}),
    ("a_shared [ i... ] = 0", "__shared__ int s[2]; t[0] = 0; s[t[i + 1]] = 0;", {"a": "s", "i": "t[i + 1]"}),
    # No more than a statement, none of a role that no token has, and not in front of the first token.
    ("f ( a... )", "f(x; y)", None), ("a_counted b", "n / 4", None), ("a b ;", ";;", None), ("a...  }", "{ }", None),
])
def test_a_pattern_matches_tokens(pattern: str, code: str, parts: dict[str, str] | None) -> None:
    match = next(find_matches(pattern, Body(code_words(code), code, ROLES)), None)
    assert (match and {part: match.source(part) for part in parts or {}}) == parts


@each_row(("row", "code", "after"), [
    (Rule("name", 1, "a + b => b - a"), "y = x + 2 * z;", ["y = 2 - x * z;"]),
    (Rule("name", 1, "max ( a... , b... ) => a: b | b: a"), "max(g(x, y), z);", ["max(z, g(x, y));"]),
    (Rule("name", 1, "= v... ; => v: (v) * 2"), "x = y + 1;", ["x = (y + 1) * 2;"]),
    (Rule("name", 1, "= v... ; => v: (v) * 2"), "x = y;", ["x = y * 2;"]),
    (Rule("name", 1, "/ b => /: | b:"), "x = y / 2;", ["x = y;"]),
    (Rule("name", 1, "< => <=", together="statement"), "a < b && b < c; a < 1;", ["a <= b && b <= c; a < 1;"]),
    (Rule("name", 1, "< n_size => n: SIZE"), "void f(int k, int l) { k < l; }", ["void f(int k, int l) { k < k; }"]),
    (Rule("name", 1, "a + b => a - b", neither(is_("b", "1"))), "x + 1; x + 2;", ["x + 1; x - 2;"]),
])
def test_a_row_writes_what_it_says(row: Rule, code: str, after: list[str]) -> None:
    edits = edits_in_order(code, drafts((row,), WORDS, Body(code_words(code), code, ROLES)), lambda place: 1)
    assert [edited(code, edit) for edit in edits.edits] == after


def _plain(text: str) -> str:
    return "".join(text.replace(" = 0;", " = 0.0f;").split())


@each_row("member", MEMBERS, ids=lambda one: one.name)
def test_every_edit_makes_another_file(member: Member) -> None:
    text = member.source
    edits = edits_of(text, lines=[5, 12]).edits
    after = [edited(text, edit) for edit in edits]
    assert len({text, *after}) == 1 + len(after)
    assert all(edit.line == 1 + text.count("\n", 0, edit.spans[0].start) for edit in edits)
    assert [edit.weight for edit in edits] == sorted(edit.weight for edit in edits)


def test_every_kind_has_words() -> None:
    kinds = {edit.kind for member in MEMBERS for edit in edits_of(member.source).edits}
    assert len(kinds) > 15 and kinds <= set(get_args(EditKind))


def test_comments_strings_and_macros_stay_as_they_are() -> None:
    text = '// a < b\n#define LESS(a, b) ((a) < (b))\nvoid f(int n) { g("1 < 2", n); /* i <= n */ }\n'
    assert edits_of(text).edits == []


@pytest.mark.full
@pytest.mark.parametrize("text", [
    "void f() {" * 6_000, "a < b;" * 10_000, "}" * LARGEST, "dim3 g(" * 9_000, "float acc[" * 6_000,
    "__global__ void k() { " + "threadIdx.x + threadIdx.y; " * 2_000 + "}",
    "void f(int a, int b) { a" + " + a" * 16_000 + "; }", "void f(int a, int b) { " + "a(a, b);" * 8_000 + "}",
    "x" * (LARGEST + 1), "__global__ void k() { int a = 0; " + "while (1) { a += a; b = a; " * 2_000 + "}" * 2_001,
    "__global__ void k() { int a = 0; while (1) { " + "a += a + a; " * 5_000 + "} }",
    "__global__ void k() { " + "float a = 0; a[" * 3_000 + "while (1) { " * 500,
    "__global__ void k(int n) { " + "a = n + a; a < " * 4_000 + "}",
    "__global__ void k(int n, int m) { " + "a < n && a < m; " * 3_000,
    "__global__ void k(int n) { float4 a; " + "q = n / 4, r = q + 1; " * 2_500 + "}",
    "__global__ void k() { " + "__shared__ half a[2][8]; a[t / 2][t % 2] = " * 1_500,
    "__global__ void k() { int b = threadIdx.x, c = threadIdx.y; __shared__ int a[2][2]; " + "a[b][c" * 8_000,
    "void f() { __shfl_sync(); } void g(int n) { " + "k<<<1, n " * 6_000 + "load_matrix_sync(a * b" * 200,
    "__global__ void k(int n) { " + "gridDim.x * blockDim.x / 32; " * 2_000 + "}",
    "".join(f"#define A{number} 1\n" for number in range(2_000)) + "__global__ void k(int n) { " + "".join(
        f"A{number} / n % A{number}; a = n - b + blockIdx.x * " for number in range(900)),
    "__global__ void k() { for (int k = 0; k < 4; k++) " + "a == atomicInc((k + b, " * 2_500,
    "void f() { " + "cudaMemset(a[(" * 4_000, "void f() { " + "a = cudaMalloc(a, a) == " * 2_500,
], ids=lambda text: text[:24])
def test_a_file_made_to_be_slow_is_not(text: str) -> None:
    began = time.process_time()
    assert len(edits_of(text, lines=[1]).edits) <= 4096
    assert time.process_time() - began < 10
