"""What `kernelmark --help` lists, and in which order."""

from __future__ import annotations

from typer.testing import CliRunner

from grader.cli import ORDER, app


def test_every_verb_is_listed_in_the_order_in_which_it_is_needed() -> None:
    done = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    first = [line.strip("│ ").partition(" ")[0] for line in done.output.splitlines() if line.startswith("│")]
    assert [word for word in first if not word.startswith("-")] == list(ORDER)
    assert [done.output.index(panel) for panel in ("For students", "For TAs", "For authors")] == sorted(
        done.output.index(panel) for panel in ("For students", "For TAs", "For authors"))
