"""Wrong files mended by trial: which change is found, and what a file made for it can do to the search."""

import random
import subprocess
import sys
import time

import pytest

from grader.course.cases import cases
from grader.course.catalogue import assignments
from grader.course.course import Course, HintsTable, read_course
from grader.course.submission import Source
from grader.home import ROOT
from grader.judging.checks import case_check
from grader.judging.explain.wording import say
from grader.judging.judgement import Judgement
from grader.judging.prepared import PreparedTask, Task
from grader.judging.repair import repaired, search
from grader.judging.repair.proof import fresh, proved
from grader.judging.repair.search import failed_case
from grader.judging.repair.trial import Trial
from grader.judging.repair.words import change_fact
from grader.languages.cuda.toolkit import problem
from grader.plan.edits import Edit, EditKind, Span
from grader.results.result import CheckResult, Detail, Repair
from grader.results.verdicts import FailureKind
from grader.sandbox.confine.processes import processor_seconds
from tests.judging.contract import STRIDED
from tests.rows import beside, each_row

DATA = beside(__file__)
COURSE = read_course(ROOT / "course.toml", frozenset(assignments()))
SILU: str = DATA["silu"]
WRONG = "x * (1 + tl.exp(-x))"
HOST = "    BLOCK = 256\n"
FEW = HintsTable(tries=60)


def silu(*changes: tuple[str, str]) -> str:
    text = SILU
    for before, after in changes:
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    return text


def prepared(text: str, course: Course = COURSE) -> PreparedTask:
    return PreparedTask(Task(assignments()["silu"], Source(content=text.encode()), course, b"seed", "cpu"))


def mended(text: str, hints: HintsTable | None = None) -> Repair | None:
    task = prepared(text, COURSE.model_copy(update={"hints": hints or HintsTable()}))
    judgement = Judgement(task)
    return repaired(task, judgement.take_all())


def _said(text: str, edits: list[Edit]) -> str:
    return say(assignments()["silu"].front_end.phrases, change_fact(text, edits, "kind"))


def line_of(text: str, words: str) -> int:
    return text[:text.index(words)].count("\n") + 1


@pytest.mark.parametrize(("before", "after", "kind"), [
    ("i < n", "i <= n", "comparison"),
    ("x / (1 + tl.exp(-x))", WRONG, "operator"),
    ("1 + tl.exp", "2 + tl.exp", "constant"),
    # Of one that does not compile.
    ("tl.arange(0, BLOCK)", "tl.arange(1, BLOCK)", "constant"),
])
def test_one_change_is_found_and_proved(before: str, after: str, kind: str) -> None:
    text = silu((before, after))
    repair = mended(text)
    assert repair is not None and (repair.line, repair.kind) == (line_of(text, after), kind)
    # At the public sizes, three small ones and two long ones.
    assert repair.cases == sum(case.needs == "any" for case in assignments()["silu"].cases) + 5
    assert f"line {repair.line}" in repair.told and repair.diff.splitlines()[1].count(before) == 1


@pytest.mark.skipif(problem() != "", reason=f"no nvcc: {problem()}")
@pytest.mark.parametrize("space", ["", pytest.param("::", marks=pytest.mark.full)], ids=["together", "one by one"])
def test_a_file_that_has_to_be_built_is_mended_too(space: str) -> None:
    text = DATA["cuda"].replace("i < n", "i <= n").replace("    silu_kernel<<<", f"    {space}silu_kernel<<<")
    assignment = assignments()["silu"].model_copy(update={"suffix": ".cu"})
    task = PreparedTask(Task(assignment, Source(content=text.encode(), file="silu.cu"), COURSE, b"seed", "cpu"))
    repair = repaired(task, Judgement(task).take_all())
    assert repair is not None and (repair.line, repair.kind) == (line_of(text, "i <= n"), "comparison")
    assert repair.tried <= 30 and repair.diff.splitlines()[1].count("i < n") == 1


def test_a_search_ends_with_its_processor_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "PROCESSOR_SECONDS", 0)
    assert mended(silu(("i < n", "i <= n"))) is None


def test_a_search_counts_the_time_of_workers_that_it_has_ended() -> None:
    wrong = silu(("i < n", "i <= n"))
    # The first search starts the fork server, too.
    assert mended(wrong) is not None
    before = processor_seconds()
    assert mended(wrong) is not None
    # Thirty files are planned and run, and the right one is judged, each by a worker that is killed in the end.
    assert processor_seconds() - before > 0.5


def test_processor_time_is_that_of_processes_that_live_and_of_those_that_ended() -> None:
    works = f"import subprocess, sys; subprocess.run([sys.executable, '-c', '{'for i in range(10**7): pass'}'])"
    before = processor_seconds()
    subprocess.run([sys.executable, "-c", works], check=True)
    ended = processor_seconds()
    assert ended - before > 0.1
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        try:
            deadline = time.monotonic() + 30
            while processor_seconds() - ended < 0.1:
                assert time.monotonic() < deadline
        finally:
            process.kill()


def test_a_change_that_only_adds_idle_work_is_none(text: str) -> None:
    task = prepared(text)
    case = next(case for case in task.task.assignment.cases_for("cpu") if case.name == "67x127-extreme")
    trial = Trial(task, case)
    try:
        assert [*trial.right([text, text.replace("n // 2", "n * 64"), text.replace("n // 2", "n")])] == [
            False, False, True]
    finally:
        trial.end()


def test_the_same_file_and_seed_get_the_same_hint() -> None:
    first, second = (mended(silu(("i < n", "i <= n"))) for _ in range(2))
    assert first == second is not None


@pytest.mark.parametrize(("places", "says"), [
    ([["a"]], "One change in line 1 makes every case right: a different variable."),
    ([["b", "d"]], "One change in lines 2 and 4 together makes every case right: a different variable."),
    ([["c"], ["a", "b", "d"]],
     "One change in lines 1, 2 and 4 together or line 3 makes every case right: a different variable."),
    ([["a"], ["b"], ["b", "c"]], "Changes in several lines make every case right"),
])
def test_each_line_of_a_change_is_told(places: list[list[str]], says: str) -> None:
    text = "a = 1\nb = 2\nc = 3\nd = 4\n"
    edits = [Edit(kind="name", line=1 + text[:text.index(names[0])].count("\n"), weight=1, spans=[
        Span(start=text.index(name), end=text.index(name) + 1, text="e") for name in names]) for names in places]
    assert _said(text, edits).startswith(says)


@pytest.mark.parametrize(("kind", "says"), [
    ("extra", "If you delete line 2, every case is right. What was it meant to do?"),
    ("comparison", "With one change in line 2 the failure disappears, but it may only be hidden"),
])
def test_what_may_only_hide_a_mistake_is_told_so(kind: EditKind, says: str) -> None:
    edit = Edit(kind=kind, line=2, weight=1, workaround=True, spans=[Span(start=6, end=11, text="")])
    assert _said("a = 1\nb = 2\nc = 3\n", [edit]).startswith(says)


@pytest.mark.parametrize(("added", "says"), [
    ([(6, "x\n", "barrier")], "One more line before line 2 makes every case right: a barrier."),
    ([(5, "\nx", "barrier")], "One more line after line 1 makes every case right: a barrier."),
    ([(6, "x\n", "missing")], "A statement is missing before line 2: with it, every case is right."),
    ([(6, "x", "missing")], "One change in line 2 makes every case right: a missing part added."),
    ([(12, "x\n", "missing"), (4, "3", "constant")],
     "One change makes every case right: a different number in line 1, or a missing part added before line 3."),
])
def test_a_line_that_is_added_is_told_with_its_place(
    added: list[tuple[int, str, EditKind]], says: str
) -> None:
    text = "a = 1\nb = 2\nc = 3\n"
    edits = [Edit(kind=kind, line=1 + text[:at].count("\n"), weight=1, spans=[Span(start=at, end=at, text=put)])
             for at, put, kind in added]
    assert _said(text, edits) == says


@pytest.mark.parametrize(("level", "said", "unsaid"), [
    ("place", "line 12", "operator"), ("kind", "operator", "x / (1"), ("edit", "operator", "x / (1")])
def test_a_level_says_so_much_and_no_more(level: str, said: str, unsaid: str) -> None:
    repair = mended(silu(("x / (1 + tl.exp(-x))", WRONG)), HintsTable.model_validate({"level": level}))
    assert repair is not None and said in repair.told and unsaid not in repair.told
    assert "x / (1" in repair.diff, "who grades sees the change at every level"


@pytest.mark.parametrize(("text", "hints"), [
    (SILU, HintsTable()),
    (silu(("i < n", "i <= n")), HintsTable(level="off")),
    (silu(("1 + tl.exp", "2 + tl.exp")), HintsTable(tries=1)),
    # Host code that breaks a rule, and one that has no kernel's mistake.
    (silu((HOST, HOST + "    out.copy_(x * torch.sigmoid(x))\n")), HintsTable()),
    ("raise ValueError\n" + SILU, HintsTable()),
    # Says by every pipe that it holds that all is planned.
    (silu((HOST, f"{HOST}    for pipe in range(3, 64):\n        try: os.write(pipe, b'100\\n' * 20)\n"
                 "        except OSError: pass\n")), FEW),
    # Two mistakes.
    (silu(("i < n", "i <= n"), ("1 + tl.exp", "2 + tl.exp")), FEW),
])
def test_nothing_is_told_of_what_no_single_change_mends(text: str, hints: HintsTable) -> None:
    assert mended(text, hints) is None


# Each file is wrong in the line of the exponential, and does harm in the first line of the host function.
@pytest.mark.parametrize("harm", [
    "while BLOCK != 256: pass",
    "if BLOCK != 256: os._exit(0)",
    "if BLOCK != 256: os.kill(os.getpid(), 9)",
    "if BLOCK != 256: print('x' * 1_000_000_000)",
])
def test_an_edited_file_does_no_harm_to_others(harm: str) -> None:
    text = silu((HOST, f"{HOST}    {harm}\n"), ("x / (1 + tl.exp(-x))", WRONG))
    repair = mended(text)
    assert repair is not None and repair.line == line_of(text, WRONG)


@pytest.mark.parametrize(("before", "trick"), [
    # It knows its own text.
    ("", "n = n if '+'.join(map(str, (1, 2, 3, 4))) != '1+2+3+4' else n // 2"),
    # It knows that another was loaded before it.
    ("import sys\nsys.loads = getattr(sys, 'loads', 0) + 1", "n = n if sys.loads > 1 else n // 2"),
])
def test_a_file_that_plays_with_the_search_hears_of_its_trick_alone(before: str, trick: str) -> None:
    text = f"{before}\n{silu((HOST, f'{HOST}    {trick}{chr(10)}'))}"
    repair = mended(text)
    lines = {line_of(text, trick), line_of(text, before or trick), line_of(text, "sys.loads") if before else 0}
    assert repair is None or "several lines" in repair.told or repair.line in lines


def outcome(name: str, kind: FailureKind | None) -> CheckResult:
    case = next(case for case in assignments()["silu"].cases if case.name == name)
    detail = None if kind is None else Detail(kind=kind, message="")
    return case_check(case).model_copy(update={"outcome": "failed" if kind else "passed", "detail": detail})


@each_row(("failed", "tried"), [
    ({"5x9": "wrong_values", "1x1": "wrong_values"}, "5x9"),
    ({"1x1": "wrong_values"}, "1x1"),
    ({"64x64": "wrong_values", "5x9": None}, "64x64"),
    ({"5x9": "time_out"}, ""),
    ({"5x9": "policy"}, ""),
    ({}, ""),
])
def test_the_smallest_case_that_shows_most_is_tried(failed: dict[str, FailureKind | None], tried: str) -> None:
    case = failed_case(prepared(SILU), [outcome(name, kind) for name, kind in failed.items()])
    assert (case.name if case else "") == tried


def test_a_hidden_case_is_never_tried() -> None:
    task = prepared(SILU).task
    hidden = task.assignment.cases[1].model_copy(update={"visibility": "hidden"})
    cases = (task.assignment.cases[0], hidden)
    assignment = task.assignment.model_copy(update={"cases": cases})
    failed = outcome(hidden.name, "wrong_values").model_copy(update={"hidden": True})
    assert failed_case(PreparedTask(Task(assignment, task.source, COURSE, b"seed", "cpu")), [failed]) is None


def test_fresh_sizes_keep_to_choices_and_fit_each_other() -> None:
    topk = assignments(ROOT / "examples" / "llm")["topk"]
    found = [case.sizes for seed in range(20) for case in fresh(topk, topk.cases[0], random.Random(seed))]
    assert found and all(one["k"] in topk.choices["k"] and one["k"] <= one["N"] for one in found)
    assert {one["k"] for one in found} == set(topk.choices["k"])


def test_fresh_sizes_keep_the_elements_of_a_tensor_apart() -> None:
    case = cases("M N", "5x9", strides={"x": (16, 1)})[0]
    found = [one for seed in range(20) for one in fresh(STRIDED, case, random.Random(seed))]
    assert found and all(case.sizes["N"] <= 16 or case.sizes["M"] == 1 for case in found)


@pytest.mark.parametrize(("most", "right"), [(1 << 30, True), (10_000_000, False)])
def test_a_file_that_is_wrong_at_sizes_for_a_gpu_alone_is_not_proved(most: int, right: bool) -> None:
    silu = assignments()["silu"]
    text, formula = (ROOT / "reference" / "silu.py").read_text(encoding="utf-8"), "x / (1 + tl.exp(-x))"
    assert text.count(formula) == 2
    prepared = PreparedTask(Task(silu, Source(content=b"", file=silu.file), Course(), b"seed", "cpu"))
    proof = proved(prepared, silu.cases[1], text.replace(formula, f"{formula} + (n > {most})"))
    assert (proof is not None) == right and (proof is None or proof.whole)
