"""What GitHub shows of a result: what a submission wrote cannot end a command, a table's cell or a piece of code."""

from grader.pages import actions
from tests.pages.samples import every_verdict, hostile, result


def test_a_command_for_each_kernel_that_is_tried_and_not_right() -> None:
    made = every_verdict()
    lines = actions.annotated(made, {name: f"kernels/{name}.py" for name in made.assignments})
    assert len([line for line in lines if ": found by trying::" in line.replace("%3A", ":")]) == 1
    level = {line.partition(" file=kernels/")[2].partition(".py")[0]: line.split()[0]
             for line in lines if "found by trying" not in line}
    assert level == {
        name: "::warning" if a.ours else "::error" if a.judged else "::notice"
        for name, a in made.assignments.items() if not a.right and a.tried}
    assert {"::warning", "::error"} <= set(level.values())


def test_text_that_means_harm_stays_text() -> None:
    made = hostile()
    files = dict.fromkeys(made.assignments, "a`b|c,d:e\n.py")
    lines = actions.annotated(made, files)
    assert lines and not any("\n" in line or "\r" in line for line in lines)
    assert all(line.split("::")[1].count(",") <= 2 for line in lines)
    shown = actions.summary(made, files)
    _, _, *rows = (line for line in shown.splitlines() if line.startswith("| "))
    assert len(rows) == len(made.assignments)
    assert all(row.count("|") == 5 and "`a?b?c,d:e?.py`" in row for row in rows)
    outside = "".join(part for at, part in enumerate(shown.split("```")) if at % 2 == 0)
    assert "<script" not in outside.replace("\\<", "")


def test_right_kernels_need_no_command() -> None:
    made = result("ada", {})
    files = {name: f"{name}.py" for name in made.assignments}
    assert actions.annotated(made, files) == []
    assert "All six kernels are right" in actions.summary(made, files)
