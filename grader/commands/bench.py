"""The command `kernelmark bench`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.console import COURSE, INFRASTRUCTURE_ERROR, complain, console, course_option, names_in, say, usage
from grader.course import catalogue
from grader.course.course import Course, read_course
from grader.course.submission import Source, read_source_file
from grader.errors import advised
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
    rules = read_course(course, frozenset(catalogue.files()))
    # Late, as below: these are slow to import, and the other commands need none of them.
    from grader.commands import check as checking
    from grader.grading import preflight

    workspace = checking.find(target, checking.CheckOptions(rules, only=names_in(only)))
    preflight.installed()
    preflight.temporary()
    from grader.judging.running.device import no_gpu

    if trouble := no_gpu():
        usage(f"bench: {trouble}; run it on a machine with a GPU")
    with advised("choose a writable folder", f"--out {out}"):
        out.mkdir(parents=True, exist_ok=True)
    from grader.errors import InfrastructureError
    from grader.judging.running.lane import LANE

    wrong = False
    try:
        with advised("check that it can be written"):
            LANE.open(gpu=True)
            for name, path in workspace.files.items():
                source = read_source_file(path.parent, path.name, rules.source_bytes)
                wrong = _measure(catalogue.assignments()[name], source, rules, out, profile=profile) or wrong
    except InfrastructureError as error:
        complain(f"{error}; kernelmark doctor says what this machine lacks")
        raise typer.Exit(INFRASTRUCTURE_ERROR) from None
    finally:
        LANE.close()
    raise typer.Exit(1 if wrong else 0)


def _measure(assignment: Assignment, source: Source, course: Course, out: Path, *, profile: bool) -> bool:
    """Measure one kernel, print the results, and return whether it is wrong at some size."""
    # Late, see bench.
    from grader.grading import sweep as sweeps
    from grader.pages import curve

    cases = sweeps.cases(assignment)
    if not cases:
        say(f"{assignment.title}: has no timed case, so there is nothing to measure")
        return False
    console.print(f"\n[bold]{assignment.title}[/bold]")
    with console.status("measuring") as status:
        swept = sweeps.sweep(
            assignment, source, course, lambda case: status.update(f"measuring {assignment.name} {case}"))
    console.print(curve.table(swept))
    for line in curve.sentences(swept):
        say(line)
    troubles = {point.trouble: curve.name(point) for point in swept.points if point.trouble}
    for trouble, size in troubles.items():
        console.print(f"At {size}: {trouble}", style="red", markup=False, soft_wrap=True)
    (out / f"{assignment.name}.csv").write_text(curve.as_csv(swept), encoding="utf-8")
    (out / f"{assignment.name}.svg").write_text(curve.standalone(swept, assignment.title), encoding="utf-8")
    _launches(assignment, cases[-1].name)
    if profile and not troubles:
        _profiled(assignment, source, course)
    say(f"Written: {out / assignment.name}.svg and .csv")
    return bool(troubles)


def _launches(assignment: Assignment, name: str) -> None:
    """Print the kernels that PyTorch launches for the same work."""
    # Late, see bench.
    from grader.grading.sweep import cases, launched_kernels
    from grader.judging.speed.baselines import COMPILED, EAGER

    case = next(case for case in cases(assignment) if case.name == name)
    for function, name_ in ((EAGER, assignment.baseline.name), (COMPILED, assignment.baseline.compiled)):
        kernels = launched_kernels(assignment, case, function)
        shown = ", ".join(
            f"{kernel.name} {percent(kernel.share)}" + (f" ({kernel.count:g} launches)" if kernel.count > 1 else "")
            for kernel in kernels[:6])
        say(f"{name_} launches: {shown or 'nothing on the device'}")


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
        say(counted.message)
    else:
        for launch in counted:
            cached = " (the rest is still in the cache)" if launch.moved and launch.moved < needed else ""
            say(f"{launch.kernel} at {largest.name}: {profile.words(launch)}, where {needed / 1e6:,.0f} MB "
                f"are needed{cached}")
    public = [case for case in assignment.cases if not case.hidden and case.needs == "any"]
    odd = max(public, key=lambda case: math.prod(case.sizes.values()))
    with console.status("asking compute-sanitizer"), profilers.recorded(assignment, odd, source, course) as path:
        problems = path if isinstance(path, profilers.ToolFailure) else profilers.findings(path)
    if isinstance(problems, profilers.ToolFailure):
        say(problems.message)
    else:
        say(f"compute-sanitizer at {odd.name}: {'; '.join(problems) or 'no access outside of memory'}")
