"""The command `kernelmark bench`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.console import COURSE, INFRASTRUCTURE_ERROR, console, course_option, errors, names_in, usage
from grader.course import catalogue
from grader.course.course import Course, CourseError, read_course
from grader.course.submission import Source, read_source_file
from grader.course.workspace import WorkspaceError
from grader.pages.text import percent

if TYPE_CHECKING:
    from grader.course.assignment import Assignment


def bench(
    target: Annotated[Path, typer.Argument(metavar="FILE or FOLDER", help="The kernels to measure.")] = Path(),
    only: Annotated[str, typer.Option(help="Assignments to measure, e.g. silu,gemm. Default: the course's.")] = "",
    out: Annotated[Path, typer.Option(help="The folder for charts and tables; made if missing.")] = Path("bench"),
    profile: Annotated[bool, typer.Option(
        "--profile", help="Also run ncu and compute-sanitizer, if installed: half a minute more.")] = False,
    course: Annotated[Path, course_option("The course file, for its limits.")] = COURSE,
) -> None:
    """Measure kernels at many sizes on this machine's GPU, beside eager and compiled PyTorch and the course's own.

    Writes a chart (SVG) and a table (CSV) for each. Every answer is checked; nothing is graded. About half a minute a
    kernel. Exit status: 0 if all could be measured; 1 if a kernel is wrong at some size; 2 for a usage error; 3 if the
    grader failed.
    """
    try:
        rules = read_course(course, frozenset(catalogue.files()))
    except CourseError as error:
        usage(str(error))
    # Late, as below: these are slow to import, and the other commands need none of them.
    from grader.commands import check as checking
    from grader.grading import preflight

    try:
        workspace = checking.find(target, checking.CheckOptions(rules, only=names_in(only)))
        preflight.installed()
        preflight.temporary()
    except (WorkspaceError, preflight.PlanError, catalogue.CatalogueError) as error:
        usage(str(error))
    from grader.judging.running.device import no_gpu

    if trouble := no_gpu():
        usage(f"bench: {trouble}; run it on a machine with a GPU")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        usage(f"--out {out}: {error.strerror}; choose a writable folder")
    from grader.judging.running.lane import LANE
    from grader.sandbox.forkserver.handle import InfrastructureError

    wrong = False
    try:
        LANE.open(gpu=True)
        for name, path in workspace.files.items():
            source = read_source_file(path.parent, path.name, rules.source_bytes)
            wrong = _measure(catalogue.assignments()[name], source, rules, out, profile=profile) or wrong
    except InfrastructureError as error:
        errors.print(f"kernelmark: {error}; kernelmark doctor says what this machine lacks", markup=False)
        raise typer.Exit(INFRASTRUCTURE_ERROR) from None
    except OSError as error:
        usage(f"{error.filename}: {error.strerror}; check that it can be written")
    finally:
        LANE.close()
    raise typer.Exit(1 if wrong else 0)


def _measure(assignment: Assignment, source: Source, course: Course, out: Path, *, profile: bool) -> bool:
    """Measure one kernel, print the results, and return whether it is wrong at some size."""
    # Late, see bench.
    from grader.grading import sweep as sweeping
    from grader.pages import curve

    cases = sweeping.cases(assignment)
    if not cases:
        console.print(f"{assignment.title}: has no timed case, so there is nothing to measure", markup=False)
        return False
    console.print(f"\n[bold]{assignment.title}[/bold]")
    with console.status("measuring") as status:
        swept = sweeping.sweep(
            assignment, source, course, lambda case: status.update(f"measuring {assignment.name} {case}"))
    console.print(curve.table(swept))
    for line in curve.sentences(swept):
        console.print(line, markup=False, soft_wrap=True)
    troubles = {point.trouble: curve.name(point) for point in swept.points if point.trouble}
    for trouble, size in troubles.items():
        console.print(f"At {size}: {trouble}", style="red", markup=False, soft_wrap=True)
    (out / f"{assignment.name}.csv").write_text(curve.as_csv(swept), encoding="utf-8")
    (out / f"{assignment.name}.svg").write_text(curve.alone(swept, assignment.title), encoding="utf-8")
    _launches(assignment, cases[-1].name)
    if profile and not troubles:
        _profiled(assignment, source, course)
    console.print(f"Written: {out / assignment.name}.svg and .csv", markup=False, soft_wrap=True)
    return bool(troubles)


def _launches(assignment: Assignment, name: str) -> None:
    """Print the kernels that PyTorch launches for the same work."""
    # Late, see bench.
    from grader.grading.replaced import launched
    from grader.grading.sweep import cases
    from grader.judging.speed.baselines import COMPILED, EAGER

    case = next(case for case in cases(assignment) if case.name == name)
    for function, name_ in ((EAGER, assignment.baseline.name), (COMPILED, assignment.baseline.compiled)):
        kernels = launched(assignment, case, function)
        shown = ", ".join(
            f"{kernel.name} {percent(kernel.share)}" + (f" ({kernel.count:g} launches)" if kernel.count > 1 else "")
            for kernel in kernels[:6])
        console.print(f"{name_} launches: {shown or 'nothing on the device'}", markup=False, soft_wrap=True)


def _profiled(assignment: Assignment, source: Source, course: Course) -> None:
    """Print what NVIDIA's tools report on the largest timed case, and on the largest public case for any device."""
    # Late, see bench.
    from grader.grading import profilers, sweep
    from grader.pages import profile

    assert assignment.work is not None
    largest = sweep.cases(assignment)[-1]
    needed = assignment.work(largest).bytes
    with console.status("asking ncu"), profilers.recorded(assignment, largest, source, course) as path:
        counted = path if isinstance(path, profilers.ToolFailure) else profilers.counters(path)
    if isinstance(counted, profilers.ToolFailure):
        console.print(counted.message, markup=False, soft_wrap=True)
    else:
        for launch in counted:
            cached = " (the rest is still in the cache)" if launch.moved and launch.moved < needed else ""
            console.print(f"{launch.kernel} at {largest.name}: {profile.words(launch)}, where {needed / 1e6:,.0f} MB "
                          f"are needed{cached}", markup=False, soft_wrap=True)
    public = [case for case in assignment.cases if not case.hidden and case.needs == "any"]
    odd = max(public, key=lambda case: math.prod(case.sizes.values()))
    with console.status("asking compute-sanitizer"), profilers.recorded(assignment, odd, source, course) as path:
        problems = path if isinstance(path, profilers.ToolFailure) else profilers.findings(path)
    if isinstance(problems, profilers.ToolFailure):
        console.print(problems.message, markup=False, soft_wrap=True)
    else:
        console.print(f"compute-sanitizer at {odd.name}: {'; '.join(problems) or 'no access outside of memory'}",
                      markup=False, soft_wrap=True)
