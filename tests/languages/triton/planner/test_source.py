"""A file's import: what is left out and told, and what makes it unusable."""

import pytest

from grader.plan.messages import AbsentName, Failed, Loaded, Planned, Refused
from grader.plan.plan import Plan
from tests.languages.triton.planner.harness import CASE, SILU, Kind, Planner, answer, given_of
from tests.languages.triton.planner.test_idioms import KERNEL
from tests.rows import beside, each_row

DATA = beside(__file__)
FUNCTION = "def silu(x, out): launch(x, out)\n"
# Where the text after KERNEL begins.
FIRST = KERNEL.count("\n") + 1


def loaded(kind: type[Kind], source: str) -> Kind:
    with Planner() as planner:
        found = planner.load(source.encode(), "silu.py", "silu", given_of(SILU, CASE))
    assert isinstance(found, kind), found
    return found


@pytest.mark.parametrize(("statement", "why"), DATA["skipped"].values(), ids=DATA["skipped"])
def test_a_statement_that_cannot_be_run_is_left_out_and_told(statement: str, why: str) -> None:
    reply = loaded(Loaded, KERNEL + FUNCTION + statement)
    (skipped,) = reply.skipped
    assert (skipped.why, skipped.line) == (why, FIRST + 1 + statement.count("\n"))
    assert bool(skipped.text) == (why != "benchmark")
    answer(Plan, KERNEL + FUNCTION + statement)


def test_what_follows_from_a_statement_left_out_is_left_out_for_the_same_reason() -> None:
    reply = loaded(Loaded, KERNEL + FUNCTION + "x = torch.randn(4)\ny = x\nprint(y)\nz = 1\n")
    assert [(one.line - FIRST, one.why) for one in reply.skipped] == [(1, "numbers"), (2, "numbers"), (3, "numbers")]


@each_row("statement", DATA["run"])
def test_what_needs_no_numbers_is_run(statement: str) -> None:
    reply = loaded(Loaded, KERNEL + FUNCTION + statement)
    assert reply.skipped == []


def test_a_file_that_ends_itself_before_the_function_is_no_submission() -> None:
    for statement in ("import sys; sys.exit(3)", "raise RuntimeError('a GPU, please')"):
        failed = loaded(Failed, f"{KERNEL}{statement}\n{FUNCTION}")
        assert (failed.failure, failed.line) == ("import_error", FIRST)


def test_nothing_after_an_exit_is_run() -> None:
    reply = loaded(Loaded, f"{KERNEL}{FUNCTION}import sys\nsys.exit(0)\nprint(torch.randn(3))\n")
    assert [statement.line for statement in reply.skipped] == [FIRST + 2]


@pytest.mark.parametrize(("before", "use"), DATA["unbound"])
def test_a_name_that_the_import_failed_to_bind_is_told_by_its_import(before: str, use: str) -> None:
    absent = answer(AbsentName, f"{KERNEL}{before}\ndef silu(x, out): {use}\n")
    last = FIRST + before.count("\n")
    assert (absent.skipped.why, absent.skipped.text, absent.skipped.line) == ("module", "nowhere", last)


@pytest.mark.parametrize(("source", "name", "why", "text"), DATA["absent"].values(), ids=DATA["absent"])
def test_what_a_line_left_out_would_make_is_absent_and_nothing_is_refused(
    source: str, name: str, why: str, text: str
) -> None:
    absent = answer(AbsentName, KERNEL + source)
    statement = absent.skipped
    assert (absent.name, statement.why, statement.text, statement.line) == (name, why, text, FIRST)
    assert absent.line > FIRST


@each_row("line", DATA["shown"])
def test_a_line_that_shows_or_checks_numbers_is_left_out_and_told(line: str) -> None:
    source = f"{KERNEL}import logging\nlog = logging.getLogger()\ndef silu(x, out):\n    launch(x, out)\n    {line}\n"
    with Planner() as planner:
        assert isinstance(planner.load(source.encode(), "silu.py", "silu", given_of(SILU, CASE)), Loaded)
        reply, _ = planner.planned(given_of(SILU, CASE))
    assert isinstance(reply, Planned)
    assert [(statement.why, statement.line) for statement in reply.skipped] == [("print", FIRST + 4)]


@pytest.mark.parametrize(("lines", "left"), DATA["worked_out"])
def test_what_is_worked_out_only_to_be_shown_is_left_out_and_told(lines: str, left: list[int]) -> None:
    source = f"{KERNEL}def silu(x, out):\n    launch(x, out)\n    {lines}\n"
    with Planner() as planner:
        assert isinstance(planner.load(source.encode(), "silu.py", "silu", given_of(SILU, CASE)), Loaded)
        reply, plan = planner.planned(given_of(SILU, CASE))
    assert isinstance(reply, Planned) and plan is not None and len(plan.first) == 1
    assert [(one.why, one.line - FIRST + 2) for one in reply.skipped] == [("print", line) for line in left]


@pytest.mark.parametrize("line", DATA["refused"])
def test_what_is_not_shown_or_checked_alone_is_refused_all_the_same(line: str) -> None:
    source = (f"{KERNEL}def suppressed(x):\n    try: return x * 2\n    except Exception: return 0\n"
              f"def silu(x, out):\n    launch(x, out)\n    {line}\n")
    answer(Refused, source)


def test_a_function_that_is_not_there_is_missing() -> None:
    nested = "def main():\n    def silu(x, out): pass\n"
    for source in ("", "# nothing\n", "def sliu(x, out): pass\n", "silu = 3\n", nested):
        failed = loaded(Failed, source)
        assert failed.failure == "missing_function"


def test_a_function_that_could_not_be_made_is_told_by_its_reason() -> None:
    absent = loaded(AbsentName, "import nowhere\n@nowhere.traced\ndef silu(x, out): pass\n")
    assert (absent.name, absent.line, absent.skipped.why, absent.skipped.line) == ("silu", 0, "module", 3)


@pytest.mark.parametrize("signature", ["x", "x, out, n", "*, x, out"])
def test_a_function_of_other_parameters_has_the_wrong_signature(signature: str) -> None:
    failed = loaded(Failed, f"import torch\n\ndef silu({signature}): pass\n")
    assert (failed.failure, failed.message, failed.line) == ("wrong_signature", f"silu({signature})", 3)


def test_a_function_that_takes_its_parameters_in_another_order_is_told_which() -> None:
    failed = loaded(Failed, "import torch\n\ndef silu(out: torch.Tensor, x=None): pass\n")
    assert (failed.failure, failed.message) == ("wrong_signature", "silu(out, x), which takes out before x")


@pytest.mark.parametrize("signature", ["x, out", "a, b, c=3", "*args", "x: float, out: float"])
def test_a_function_that_can_be_called_may_name_its_parameters(signature: str) -> None:
    loaded(Loaded, f"def silu({signature}): pass\n")


@each_row(("source", "line"), [
    ("def silu(x, out)\n    pass\n", 1), ("\n\nx = (1,\n", 3), ("return 3\n", 1), ("x = 1\n\ty = 2\n", 2),
    ("(" * 100_000, 1), ("a = '\\x'\n", 1), ("x = 1\0\n", 0)])
def test_text_that_is_no_python_is_a_syntax_error(source: str, line: int) -> None:
    failed = loaded(Failed, source)
    assert (failed.failure, failed.line) == ("syntax_error", line)


@each_row("coding", ["rot13", "nowhere"])
def test_a_file_in_another_encoding_is_not_read(coding: str) -> None:
    failed = loaded(Failed, f"# coding: {coding}\n{FUNCTION}")
    assert failed.failure == "unreadable_source"


def test_a_long_chain_of_branches_is_planned() -> None:
    chain = "".join(f"    elif x.numel() == {number}: pass\n" for number in range(1_000_000, 1_000_700))
    source = f"{KERNEL}def silu(x, out):\n    if not x.numel(): pass\n{chain}    launch(x, out)\n"
    answer(Plan, source)


def test_future_imports_hold_for_the_whole_file() -> None:
    source = f"from __future__ import annotations\n{KERNEL}def silu(x: nowhere, out: nowhere): launch(x, out)\n"
    answer(Plan, source)


@pytest.mark.parametrize("ending", ["\r\n", "\r", "\n\f\n"])
def test_lines_are_counted_as_python_counts_them(ending: str) -> None:
    source = (KERNEL + "def silu(x, out):\n    launch(x, out)\n    x * 2\n").replace("\n", ending)
    refused = answer(Refused, source)
    assert refused.line == ((FIRST + 2) * 2 - 1 if "\f" in ending else FIRST + 2)
