"""The command line of `kernelmark bench`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.console import INFRASTRUCTURE_ERROR, console, errors, names_in, usage
from grader.model import catalogue
from grader.model.catalogue import COURSE
from grader.model.course import Course, CourseError, read_course

if TYPE_CHECKING:
    from grader.model.assignment import Assignment
    from grader.model.submission import Source


def bench(
    target: Annotated[Path, typer.Argument(metavar="FILE or FOLDER", help="The kernels to measure.")] = Path(),
    only: Annotated[str, typer.Option(help="Assignments to measure, e.g. silu,gemm. Default: the course's.")] = "",
    out: Annotated[Path, typer.Option(help="Where charts and tables go; made if missing.")] = Path("bench"),
    profile: Annotated[bool, typer.Option(
        "--profile", help="Ask ncu and compute-sanitizer as well, where there are these: half a minute more.")] = False,
    course: Annotated[Path, typer.Option(help="Limits to measure under.")] = COURSE,
) -> None:
    """Measure kernels at many sizes on this machine's GPU, beside eager and compiled PyTorch and the course's own.

    Writes a chart (SVG) and a table (CSV) for each. Every answer is checked; nothing is graded. About half a minute a
    kernel. Exit status: 0 when all could be measured; 1 when a kernel is wrong at some size; 2 for a usage error; 3
    when something of ours failed.
    """
    try:
        rules = read_course(course, frozenset(catalogue.files()))
    except CourseError as error:
        usage(str(error))
    from grader.model.desk import DeskError
    from grader.run import preflight
    from grader.student import check as checking

    try:
        found = checking.find(target, checking.Options(rules, only=names_in(only)))
        preflight.installed()
        preflight.temporary()
    except (DeskError, preflight.PlanError, catalogue.CatalogueError) as error:
        usage(str(error))
    from grader.judge.device import no_gpu

    if trouble := no_gpu():
        usage(f"bench: {trouble}")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        usage(f"--out {out}: {error.strerror}; a folder that can be written to expected")
    from grader.engine.forkserver.handle import InfrastructureError
    from grader.judge.lane import close_lane, open_lane
    from grader.model.submission import read_source_file

    wrong = False
    try:
        open_lane()
        for name, path in found.files.items():
            source = read_source_file(path.parent, path.name, rules.source_bytes)
            wrong = _one(catalogue.assignments()[name], source, rules, out, profile=profile) or wrong
    except InfrastructureError as error:
        errors.print(f"kernelmark: {error}; kernelmark doctor says what this machine lacks", markup=False)
        raise typer.Exit(INFRASTRUCTURE_ERROR) from None
    except OSError as error:
        usage(f"{error.filename}: {error.strerror}; a file that can be written expected")
    finally:
        close_lane()
    raise typer.Exit(1 if wrong else 0)


def _one(assignment: Assignment, source: Source, course: Course, out: Path, *, profile: bool) -> bool:
    """Measures one kernel, and says what came of it. Returns whether it is wrong at some size."""
    from grader.report import curve
    from grader.run import sweep as sweeping

    found = sweeping.cases(assignment)
    if not found:
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
    _launches(assignment, found[-1].name)
    if profile and not troubles:
        _profiled(assignment, source, course)
    console.print(f"Written: {out / assignment.name}.svg and .csv", markup=False, soft_wrap=True)
    return bool(troubles)


def _launches(assignment: Assignment, name: str) -> None:
    """Says what PyTorch launches where the kernel is launched."""
    from grader.bench.launched import launched
    from grader.judge.timing.baselines import COMPILED, EAGER
    from grader.report.text import percent
    from grader.run.sweep import cases

    case = next(case for case in cases(assignment) if case.name == name)
    for function, said in ((EAGER, assignment.baseline.name), (COMPILED, assignment.baseline.compiled)):
        found = launched(assignment, case, function)
        shown = ", ".join(f"{one.name} {percent(one.share)}" + (f" ({one.count:g} launches)" if one.count > 1 else "")
                          for one in found[:6])
        console.print(f"{said} launches: {shown or 'nothing on the device'}", markup=False, soft_wrap=True)


def _profiled(assignment: Assignment, source: Source, course: Course) -> None:
    """Says what NVIDIA's tools see of the largest timed case, and of the largest that has odd sizes."""
    from grader.bench import profilers
    from grader.report.text import figure
    from grader.run import sweep

    assert assignment.work is not None
    largest = sweep.cases(assignment)[-1]
    needed = assignment.work(largest.sizes).bytes
    with console.status("asking ncu"), profilers.recorded(assignment, largest, source, course) as path:
        told = path if isinstance(path, profilers.Trouble) else profilers.counters(path)
    if isinstance(told, profilers.Trouble):
        console.print(told.message, markup=False, soft_wrap=True)
    else:
        for one in told:
            still = " (what is missing is in the cache still)" if one.moved < needed else ""
            tensor = "" if math.isnan(one.tensor) else f", tensor cores {one.tensor:.0f} %"
            console.print(
                f"{one.kernel} at {largest.name}: {figure(one.microseconds)} µs, memory at {one.dram:.0f} % of its "
                f"peak, occupancy {one.occupancy:.0f} %{tensor}, {one.moved / 1e6:,.0f} MB moved where "
                f"{needed / 1e6:,.0f} MB are needed{still}", markup=False, soft_wrap=True)
    public = [case for case in assignment.cases if not case.hidden and case.needs == "any"]
    odd = max(public, key=lambda case: math.prod(case.sizes.values()))
    with console.status("asking compute-sanitizer"), profilers.recorded(assignment, odd, source, course) as path:
        said = path if isinstance(path, profilers.Trouble) else profilers.findings(path)
    if isinstance(said, profilers.Trouble):
        console.print(said.message, markup=False, soft_wrap=True)
    else:
        console.print(f"compute-sanitizer at {odd.name}: {'; '.join(said) or 'no access outside of memory'}",
                      markup=False, soft_wrap=True)
