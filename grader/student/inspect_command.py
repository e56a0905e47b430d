"""The command line of `kernelmark inspect`."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from grader.console import console, errors, names_in, usage
from grader.model import catalogue
from grader.model.catalogue import COURSE
from grader.model.course import CourseError, read_course


def inspect(
    target: Annotated[Path, typer.Argument(metavar="FILE", help="The kernels to look at.")],
    only: Annotated[str, typer.Option(help="The assignment, where the file's name does not say it.")] = "",
    case: Annotated[str, typer.Option(help="The case, e.g. 5x9. Default: the first that is timed.")] = "",
    program: Annotated[int | None, typer.Option(min=0, help="Draw the elements that this program touches.")] = None,
    ptx: Annotated[bool, typer.Option("--ptx", help="Show the PTX, what matters marked.")] = False,
    report: Annotated[bool, typer.Option("--report", help="Write a page, too, and name it.")] = False,
    out: Annotated[Path | None, typer.Option(help="Where the page goes. Default: a temporary folder.")] = None,
    keep: Annotated[bool, typer.Option(
        "--keep", help="Keep the figures with the assignment, as a good kernel's (for authors).")] = False,
    course: Annotated[Path, typer.Option(help="Limits, and the GPU to compile for.")] = COURSE,
) -> None:
    """Show what the compiler and the memory system see of each launch, without a GPU: facts, and no grading.

    Exit status: 0 when there are facts; 1 when there are none; 2 for a usage error; 3 when something of ours failed.
    """
    try:
        rules = read_course(course, frozenset(catalogue.files()))
    except CourseError as error:
        usage(str(error))
    from grader.model.desk import DeskError
    from grader.run import preflight
    from grader.student import check as checking
    from grader.student import inspecting

    try:
        found = checking.find(target, checking.Options(rules, only=names_in(only)))
        preflight.installed()
        preflight.temporary()
        if out is None and report:
            out = Path(tempfile.mkdtemp(prefix="kernelmark-report-"))
        options = inspecting.Options(rules, case, program, ptx, out, keep)
        status = inspecting.run(found, options, console, errors)
    except (DeskError, preflight.PlanError, catalogue.CatalogueError, inspecting.NoCase) as error:
        usage(str(error))
    raise typer.Exit(status)
