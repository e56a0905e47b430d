"""A verdict is a row of one table, and a new one takes no more."""

import json
import re
from pathlib import Path
from typing import get_args

from grader.home import ROOT
from grader.results.verdicts import (
    INFRASTRUCTURE_ERROR,
    ROWS,
    UNJUDGED,
    UNTRIED,
    VERDICT_OF_KIND,
    VERDICTS,
    FailureKind,
)
from tests import copied

ROW = '''    VerdictRow(
        verdict="data_race", words="data race", shape="✶", colour=BLUE, look="striped", fault="student",
        kinds=("race",), about_answer=True, rank=65, urgency=45, points="share"),
'''
PROGRAM = '''
import json
from pathlib import Path

from grader.classroom.exports.graded import GradedSubmission
from grader.classroom.exports.platforms import gradescope
from grader.course import scoring
from grader.course.course import Course, PointsTable
from grader.results.result import CheckResult, Detail, Result, decisive
from grader.pages.findings import findings
from grader.pages.load import load_results
from grader.pages.pages import write_class, write_student
from tests.pages import samples

race = CheckResult(id="a", stage="case", outcome="failed", detail=Detail(kind="race", message="Two programs race."))
slow = CheckResult(id="b", stage="case", outcome="failed", detail=Detail(kind="time_out", message="Too slow."))
wrong = CheckResult(id="c", stage="case", outcome="failed", detail=Detail(kind="unwritten", message="Unwritten."))
right = CheckResult(id="d", stage="case", outcome="passed")
verdict = scoring.verdict_of([race, wrong, right], ["a", "c", "d"])
order = [decisive(checks)[0] for checks in ([slow, race], [race, wrong])]

made = samples.result("Ada", {"silu": "wrong_answer", "gemm": "wrong_answer"})
silu = made.assignments["silu"]
found = scoring.scored("silu", silu.model_copy(update={
    "verdict": verdict, "message": "Two programs race.",
    "correctness": silu.correctness.model_copy(update={"checks": [race, wrong, right]})}),
    Course(points=PointsTable(credit="per_case")), "cpu")
made.assignments["silu"] = found
out = Path("out")
(out / "ada").mkdir(parents=True)
(out / "ada" / "result.json").write_text(made.model_dump_json(by_alias=True))
entries = load_results(out).entries
write_class(entries, out)
page = write_student(entries[0].result, out / "ada")
export = gradescope(GradedSubmission("ada", entries[0].result, [], None), "visible")
print(json.dumps({
    "order": order, "score": found.score, "wrong": [one.name for one in findings(made)], "page": page.read_text(),
    "class": (out / "index.html").read_text(), "book": (out / "gradebook.csv").read_text(),
    "export": export["tests"][0],
    "read": Result.model_validate_json((out / "ada" / "result.json").read_text()).assignments["silu"].verdict}))
'''


def test_a_new_verdict_is_a_row(tmp_path: Path) -> None:
    copied.copy(tmp_path)
    table = "grader/results/verdicts.py"
    copied.changed(tmp_path, table, '"input_changed", "race", "undefined"),', '"input_changed", "undefined"),')
    copied.changed(tmp_path, table, 'ROWS = (\n', f"ROWS = (\n{ROW}")
    data = json.loads(copied.run(tmp_path, PROGRAM))
    assert data["order"] == ["time_limit", "data_race"] and data["read"] == "data_race"
    assert data["score"] == 20 and data["wrong"] == ["gemm", "silu"]
    assert "data race" in data["page"] and "data_race" in data["book"]
    assert ".data_race {" in data["class"] and "✶" in data["class"] and ">data race<" in data["class"]
    assert data["export"]["extra_data"] == {"verdict": "data_race"} and data["export"]["status"] == "failed"
    assert data["export"]["output"].startswith("data race\n")


def test_each_failure_gives_one_verdict_and_no_two_verdicts_look_alike() -> None:
    kinds = [kind for row in ROWS for kind in row.kinds]
    assert sorted(kinds) == sorted(get_args(FailureKind)) == sorted(VERDICT_OF_KIND)
    for what in ("verdict", "words", "shape", "rank"):
        assert len({getattr(row, what) for row in ROWS}) == len(ROWS), what
    lost = [row.urgency for row in ROWS if row.fault == "student" and row.tried]
    assert len(set(lost)) == len(lost) and min(lost) > 0
    for row in ROWS:
        assert bool(row.open_because) == bool(row.none_judged) == (row.verdict in UNJUDGED)
        assert (row.points == "none") == (row.verdict in UNTRIED or row.kinds == ("condition",))
    assert VERDICTS[INFRASTRUCTURE_ERROR].fault == "grader"


def test_the_docs_say_what_each_verdict_means() -> None:
    text = (ROOT / "docs" / "grading.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"^\| verdict \| meaning .*\n((?:\|.*\n)+)", text, re.MULTILINE)
    named = [word for row in table.splitlines() for word in re.findall(r"`(\w+)`", row.split("|")[1])]
    assert sorted(named) == sorted(VERDICTS)
