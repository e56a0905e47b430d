"""What `kernelmark --help` lists, and in which order."""

from typer.testing import CliRunner

from grader.commands.cli import ORDER, app
from grader.home import ROOT


def test_every_verb_is_listed_in_the_order_in_which_it_is_needed() -> None:
    result = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    first = [line.strip("│ ").partition(" ")[0] for line in result.output.splitlines() if line.startswith("│")]
    assert [word for word in first if not word.startswith("-")] == list(ORDER)
    assert [result.output.index(panel) for panel in ("For students", "For TAs", "For authors")] == sorted(
        result.output.index(panel) for panel in ("For students", "For TAs", "For authors"))


def test_what_grades_again_points_to_the_table_that_says_when() -> None:
    table = (ROOT / "docs" / "grading.md").read_text().partition("\n## Grading again\n")[2].partition("\n## ")[0]
    for command in ("grade", "regrade", "rescore", "diff", "apply"):
        result = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"})
        assert 'docs/grading.md, "Grading again"' in result.output and f"| `kernelmark {command}" in table, command
