"""The command `kernelmark inspect`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grader import temporary
from grader.console import COURSE, course_option, names_in
from grader.course import catalogue
from grader.course.course import read_course


def inspect(
    target: Annotated[Path, typer.Argument(metavar="FILE", help="The kernels to inspect.")],
    only: Annotated[str, typer.Option(help="The assignment, if the file has another name.")] = "",
    case: Annotated[str, typer.Option(help="The case, e.g. 5x9. Default: the first timed case.")] = "",
    program: Annotated[int | None, typer.Option(min=0, help="Draw the elements that this program touches.")] = None,
    ptx: Annotated[bool, typer.Option("--ptx", help="Show the PTX, with important instructions marked.")] = False,
    report: Annotated[bool, typer.Option("--report", help="Also write a report, and print its path.")] = False,
    out: Annotated[Path | None, typer.Option(help="The folder for the report. Default: a temporary folder.")] = None,
    keep: Annotated[bool, typer.Option(
        "--keep", help="For authors: store the figures with the assignment as those of a good kernel.")] = False,
    course: Annotated[Path, course_option("The course file: limits, and the GPU to compile for.")] = COURSE,
) -> None:
    """Show registers, memory traffic and other facts of each kernel launch, without a GPU and without grading.

    Exit status: 0 if there are facts; 1 if there are none; 2 for a usage error; 3 if the grader failed.
    """
    rules = read_course(course, frozenset(catalogue.files()))
    # Late: these are slow to import, and the other commands need none of them.
    from grader.commands import check as checking
    from grader.commands import inspecting
    from grader.grading import preflight

    workspace = checking.find(target, checking.CheckOptions(rules, only=names_in(only)))
    preflight.installed()
    preflight.temporary()
    if out is None and report:
        out = temporary.make("report")
    options = inspecting.InspectOptions(rules, case, program, ptx, out, keep)
    raise typer.Exit(inspecting.run(workspace, options))
