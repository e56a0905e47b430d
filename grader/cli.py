"""The command line: verbs and nothing else."""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text
from typer.core import TyperGroup

from grader.bench import command as bench_command
from grader.console import AUTHORS, INFRASTRUCTURE_ERROR, STUDENTS, TAS, console, errors, names_in
from grader.console import usage as _usage
from grader.exports import command as exports
from grader.intake import command as intake
from grader.model import catalogue
from grader.model.catalogue import COURSE
from grader.model.course import CourseError, read_course
from grader.plan import languages
from grader.records import verbs
from grader.run import calibrate_command, grade_command
from grader.student import inspect_command

# As `kernelmark --help` lists them: in the order in which they are needed.
ORDER = (
    "check", "inspect", "bench",
    "intake", "grade", "regrade", "diff", "apply", "rescore", "explain-grade", "export", "kit", "assignments", "doctor",
    "calibrate", "scheduler", "lane", "cluster-key",
    "new", "verify", "handouts",
)


class Verbs(TyperGroup):
    """The verbs in ORDER; a kit for students lacks some."""

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(super().list_commands(ctx), key=ORDER.index)


app = typer.Typer(
    cls=Verbs, help="Checks and grades GPU kernels.",
    no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
app.command("inspect", rich_help_panel=STUDENTS)(inspect_command.inspect)
app.command(rich_help_panel=STUDENTS)(bench_command.bench)
app.command(rich_help_panel=TAS)(grade_command.grade)
app.command(rich_help_panel=TAS)(grade_command.regrade)
app.command(rich_help_panel=TAS)(intake.intake)
app.command(rich_help_panel=TAS)(calibrate_command.calibrate)
app.add_typer(exports.app, name="export", rich_help_panel=TAS)
verbs.add_to(app)
# Students' kit has no cluster.
CLUSTER = importlib.util.find_spec("grader.cluster") is not None
if CLUSTER:
    from grader.cluster import command as cluster

    cluster.add_to(app)


def main() -> None:
    app()


# What runs no kernel and can be done on any system.
ANYWHERE = ("assignments", "new", "handouts", "kit")


@app.callback()
def _look_at_the_system(context: typer.Context) -> None:
    if sys.platform != "linux" and context.invoked_subcommand not in ANYWHERE:
        _usage(f"{sys.platform}: Linux expected, or WSL; elsewhere the container: docker build --tag kernelmark . && "
               'docker run --rm --volume "$PWD/student_template:/kernels" kernelmark')
    if problem := languages.problem():
        _usage(problem)
    # All that a grading, which lies below the cluster, knows of it.
    context.obj = cluster.far_lanes if CLUSTER else None


@app.command(rich_help_panel=STUDENTS)
def check(
    target: Annotated[Path, typer.Argument(metavar="FILE or FOLDER", help="What to check.")] = Path(),
    only: Annotated[str, typer.Option(help="Assignments to check, e.g. silu,gemm. Default: the course's.")] = "",
    watch: Annotated[bool, typer.Option("--watch", help="Check a file again whenever it is saved.")] = False,
    report: Annotated[bool, typer.Option("--report", help="Write the report of a grading, too, and name it.")] = False,
    out: Annotated[Path | None, typer.Option(help="Where the report goes. Default: a temporary folder.")] = None,
    speed: Annotated[bool, typer.Option("--speed", help="Measure speed on this machine's GPU.")] = False,
    device: Annotated[str, typer.Option(help="cpu, cuda, or auto: cuda where there is one.")] = "auto",
    seed: Annotated[int | None, typer.Option(
        min=0, max=2**63 - 1, help="Repeat the inputs of a check. Default: new ones.")] = None,
    course: Annotated[Path, typer.Option(help="Points, thresholds, limits, policy.")] = COURSE,
) -> None:
    """Check your own kernels before you hand them in: the judge of a grading, and its words.

    Exit status: 0 when all is right; 1 when something is wrong, missing or has another name; 2 for a usage error;
    3 when something of ours failed.
    """
    known = catalogue.files()
    try:
        rules = read_course(course, frozenset(known))
    except CourseError as error:
        _usage(str(error))
    from grader.model.desk import DeskError
    from grader.run.preflight import PlanError
    from grader.student import check as checking

    if out is None and report:
        out = Path(tempfile.mkdtemp(prefix="kernelmark-report-"))
    options = checking.Options(
        rules, only=names_in(only), device=device, speed=speed, seed=seed,
        out=out, words=["--course", str(course.absolute())] if course != COURSE else [])
    try:
        status = checking.check(target, options, console, errors, watch=watch)
    except (DeskError, PlanError, catalogue.CatalogueError) as error:
        _usage(str(error))
    raise typer.Exit(status)


@app.command(rich_help_panel=TAS)
def doctor() -> None:
    """Say what this machine can do: device, grading, isolation, versions, what is missing and how to get it."""
    from grader.run import doctor as examine

    table = Table(box=None, show_header=False, pad_edge=False)
    findings = examine.findings()
    for finding in findings:
        # As text: what a library says of a failure may look like markup.
        table.add_row(finding.mark, finding.what, Text(finding.found))
        if finding.remedy:
            table.add_row("", "", Text(f"→ {finding.remedy}"))
    console.print(table)
    raise typer.Exit(INFRASTRUCTURE_ERROR if any(f.fatal for f in findings) else 0)


@app.command(rich_help_panel=TAS)
def assignments() -> None:
    """List the assignments: signature, cases, points, what they are timed against."""
    try:
        found = catalogue.assignments()
        course = read_course(COURSE, frozenset(found))
    except (CourseError, catalogue.CatalogueError) as error:
        _usage(str(error))
    taught = course.select(found, ())
    table = Table(box=None, pad_edge=False)
    for heading in ("assignment", "signature", "cases (CPU, GPU)", "points", "baseline"):
        # Folded rather than cut: a signature that ends in "…" tells nothing.
        table.add_column(heading, overflow="fold")
    for name, a in found.items():
        points = course.points_of(name)
        counts = f"{points.correctness:g} + {points.performance:g}" if name in taught else "not in the course"
        table.add_row(
            name, a.signature, f"{len(a.cases_for('cpu'))}, {len(a.cases)}",
            counts, a.baseline.name)
    console.print(table)


@app.command(rich_help_panel=AUTHORS)
def new(name: Annotated[str, typer.Argument(help="The function's name: small letters, digits, _.")]) -> None:
    """Write the files of a new assignment: a small one that works, to be changed into yours.

    Then `kernelmark verify NAME` says what is missing, and `assignments = [...]` in course.toml puts it into a course.
    """
    from grader.author.new import write

    try:
        made = write(name, catalogue.ROOT)
    except (ValueError, OSError, CourseError) as error:
        _usage(str(error))
    for path in made:
        console.print(str(path.relative_to(catalogue.ROOT)), markup=False)
    console.print(f"next: change them, and see what kernelmark verify {name} says", markup=False)


@app.command(rich_help_panel=AUTHORS)
def handouts(
    course: Annotated[Path, typer.Option(help="Points, thresholds, policy.")] = COURSE,
) -> None:
    """Write into all handouts what assignments and the course say: arguments, cases, timed cases, points.

    Only what stands between marks is written anew; the rest is the author's. Exit status 1 when marks are missing.
    """
    from grader.author import handout

    try:
        found = catalogue.assignments()
        rules = read_course(course, frozenset(found))
        texts, notebook = handout.texts(found, rules), catalogue.ROOT / handout.NOTEBOOK
        notebook.write_text(handout.notebook(found, rules), encoding="utf-8")
        for path, drawn in texts.items():
            if handout.draw(path, drawn):
                console.print(str(path.relative_to(catalogue.ROOT)), markup=False)
        problems = [problem for path, drawn in texts.items() for problem in handout.problems(path, drawn)]
    except (CourseError, catalogue.CatalogueError) as error:
        _usage(str(error))
    except OSError as error:
        _usage(f"{error.filename}: {error.strerror}; a file expected")
    for problem in problems:
        errors.print(f"kernelmark: {problem}", markup=False)
    if problems:
        raise typer.Exit(1)


@app.command(rich_help_panel=TAS)
def kit(
    out: Annotated[Path, typer.Argument(help="The folder to make; a zip of it is made beside it.")],
    course: Annotated[Path, typer.Option(help="Whose assignments go into it.")] = COURSE,
) -> None:
    """Make what students get: the grader, stubs, handouts and public cases, and no solution."""
    from grader.author import student_kit

    try:
        packed = student_kit.write(out, course)
    except (student_kit.KitError, CourseError, catalogue.CatalogueError) as error:
        _usage(str(error))
    except OSError as error:
        _usage(f"{error.filename}: {error.strerror}; a kit that can be written expected")
    console.print(f"{out} and {packed}", markup=False, soft_wrap=True)


@app.command(rich_help_panel=AUTHORS)
def verify(names: Annotated[list[str], typer.Argument(help="Assignments, e.g. silu gemm.")]) -> None:
    """Say what an assignment lacks before students get it: files, cases, wrong answers that would pass.

    No GPU is needed. Exit status 1 when something is missing.
    """
    from grader.author.verify import verify as verified

    try:
        catalogue.select(catalogue.files(), names)
    except ValueError as error:
        _usage(str(error))
    found = False
    for name in names:
        for about, problems in verified(name):
            mark = "✗" if problems else "✓"
            console.print(f"{mark} {name}: {about}", markup=False, soft_wrap=True)
            for problem in problems:
                console.print(f"    {problem}", markup=False, soft_wrap=True)
            found = found or bool(problems)
    if found:
        raise typer.Exit(1)


if __name__ == "__main__":
    main()
