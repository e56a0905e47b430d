"""The command line: registers the commands, and holds the short ones."""

from __future__ import annotations

import importlib.util
import sys
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text
from typer.core import TyperGroup

from grader import home, languages, temporary
from grader.commands import attempts, bench, calibrate, export, grade, inspect, intake, marks, submit
from grader.console import (
    AGAIN,
    AUTHORS,
    COURSE,
    INFRASTRUCTURE_ERROR,
    STUDENTS,
    TAS,
    USAGE_ERROR,
    console,
    course_option,
    errors,
    failed,
    names_in,
    say,
    say_if_shipped,
)
from grader.console import usage as _usage
from grader.course import catalogue
from grader.course.course import CourseError, read_course
from grader.course.workspace import WorkspaceError

# The order of commands in `kernelmark --help`: as users need them.
ORDER = (
    "check", "inspect", "bench", "login", "submit", "status",
    "intake", "grade", "regrade", "diff", "apply", "rescore", "explain-grade", "mark", "request", "requests", "answer",
    "export", "kit", "assignments", "doctor",
    "serve", "tokens", "calibrate", "scheduler", "lane", "cluster-key",
    "init", "new", "verify", "handouts",
)


# The class of every error in the words of a command line. Typer does not export it.
_WORD_ERROR: type[Any] = next(class_ for class_ in typer.BadParameter.__mro__ if class_.__name__ == "UsageError")


class Verbs(TyperGroup):
    """The group of the commands, listed in ORDER; a students' kit lacks some of them."""

    def main(self, *arguments: Any, **options: Any) -> Any:
        """Run a command, and print an error in its arguments in one line, as every other error."""
        if not options.setdefault("standalone_mode", True):
            return super().main(*arguments, **options)
        try:
            status = super().main(*arguments, **options | {"standalone_mode": False})
        except home.HomeError as error:
            errors.print(f"kernelmark: {error}", markup=False)
            status = USAGE_ERROR
        except _WORD_ERROR as error:
            # The message is empty if the command line was empty: then typer has printed the help.
            if said := " ".join(error.format_message().split()).rstrip("."):
                asked = error.ctx.command_path if error.ctx else "kernelmark"
                errors.print(f"kernelmark: {said}; {asked} --help shows what is expected", markup=False)
            status = USAGE_ERROR
        sys.exit(status)

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(super().list_commands(ctx), key=ORDER.index)


app = typer.Typer(
    cls=Verbs, help="Checks and grades GPU kernels.",
    no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
app.command("inspect", rich_help_panel=STUDENTS)(inspect.inspect)
app.command(rich_help_panel=STUDENTS)(bench.bench)
app.command(rich_help_panel=TAS, epilog=AGAIN)(grade.grade)
app.command(rich_help_panel=TAS, epilog=AGAIN)(grade.regrade)
app.command(rich_help_panel=TAS)(intake.intake)
app.command(rich_help_panel=TAS)(calibrate.calibrate)
app.add_typer(export.app, name="export", rich_help_panel=TAS)
attempts.add_to(app)
submit.add_to(app)
marks.add_to(app)
# A students' kit has no cluster.
CLUSTER = importlib.util.find_spec("grader.cluster") is not None
if CLUSTER:
    from grader.commands import cluster

    cluster.add_to(app)
# Nor has it a server.
if importlib.util.find_spec("grader.server") is not None:
    from grader.commands import serve

    serve.add_to(app)


# Commands that run no kernel, and work on any system.
ANYWHERE = ("assignments", "init", "new", "handouts", "kit", "login", "submit", "status")


def _version(asked: bool) -> None:
    if asked:
        say(f"kernelmark {metadata.version('kernelmark')}, {home.PACKAGE}")
        raise typer.Exit


@app.callback()
def _begin(
    context: typer.Context,
    version: Annotated[bool, typer.Option(
        "--version", callback=_version, is_eager=True, help="Print the version and where it is.")] = False,
) -> None:
    home.enter(None)
    try:
        Path.cwd()
    except FileNotFoundError:
        _usage("the folder that this runs in was removed; change to another")
    if sys.platform != "linux" and context.invoked_subcommand not in ANYWHERE:
        _usage(f"{sys.platform}: not supported; use Linux, WSL, or the container: docker build --tag kernelmark . && "
               'docker run --rm --volume "$PWD/student_template:/kernels" kernelmark')
    if problem := languages.problem():
        _usage(problem)
    temporary.sweep()
    # grader/grading must not import grader/cluster, so the context carries this function.
    context.obj = cluster.far_lanes if CLUSTER else None


@app.command(rich_help_panel=STUDENTS)
def check(
    target: Annotated[Path, typer.Argument(metavar="FILE or FOLDER", help="The kernels to check.")] = Path(),
    only: Annotated[str, typer.Option(help="Assignments to check, e.g. silu,gemm. Default: the course's.")] = "",
    watch: Annotated[bool, typer.Option("--watch", help="Check a file again whenever it is saved.")] = False,
    report: Annotated[bool, typer.Option("--report", help="Also write a report, and print its path.")] = False,
    out: Annotated[Path | None, typer.Option(help="The report's folder. Default: a temporary one.")] = None,
    speed: Annotated[bool, typer.Option("--speed", help="Measure speed on this machine's GPU.")] = False,
    device: Annotated[str, typer.Option(help="cpu, cuda, or auto: cuda if there is a GPU.")] = "auto",
    github: Annotated[bool, typer.Option(
        "--github", help="In GitHub Actions: also mark what is wrong in the files, and write a summary.")] = False,
    seed: Annotated[int | None, typer.Option(
        min=0, max=2**63 - 1, help="Repeat the inputs of an earlier check. Default: new inputs.")] = None,
    course: Annotated[Path, course_option("The course file: points, thresholds, limits, policy.")] = COURSE,
) -> None:
    """Check your own kernels before you hand them in, with the judge and the messages of a grading.

    Exit status: 0 if every kernel is right, as far as this machine can judge; 1 if one is wrong, missing, or in a file
    of another name; 2 for a usage error; 3 if the grader failed.
    """
    known = catalogue.files()
    try:
        rules = read_course(course, frozenset(known))
    except CourseError as error:
        _usage(str(error))
    # Late, as in the commands below: an import that only one command needs would slow down the start of all.
    from grader.commands import check as checking
    from grader.grading.preflight import PlanError

    if out is None and report:
        out = temporary.make("report")
    options = checking.CheckOptions(
        rules, only=names_in(only), device=device, speed=speed, seed=seed,
        out=out, github=github, words=home.here().words(course))
    try:
        status = checking.check(target, options, console, errors, watch=watch)
    except (WorkspaceError, PlanError, catalogue.CatalogueError) as error:
        _usage(str(error))
    raise typer.Exit(status)


@app.command(rich_help_panel=TAS)
def doctor() -> None:
    """Show what this machine can do: device, grading, isolation, versions; and what is missing and how to get it."""
    # Late, see check.
    from grader.grading import doctor as examine

    table = Table(box=None, show_header=False, pad_edge=False)
    lines = examine.diagnoses()
    for line in lines:
        # As Text: a library's message about a failure may look like markup.
        table.add_row(line.mark, line.subject, Text(line.text))
        if line.remedy:
            table.add_row("", "", Text(f"→ {line.remedy}"))
    console.print(table)
    raise typer.Exit(INFRASTRUCTURE_ERROR if any(line.fatal for line in lines) else 0)


@app.command(rich_help_panel=TAS)
def assignments(
    course: Annotated[Path, course_option("The course file: which assignments are taught, and their points.")] = COURSE,
) -> None:
    """List the assignments with signature, cases, points and baseline."""
    try:
        known = catalogue.assignments()
        rules = read_course(course, frozenset(known))
    except (CourseError, catalogue.CatalogueError) as error:
        _usage(str(error))
    say_if_shipped()
    taught = rules.select(known, ())
    table = Table(box=None, pad_edge=False)
    for heading in ("assignment", "signature", "cases (CPU, GPU)", "points", "baseline"):
        # Long text is folded, not cut: a signature must be complete.
        table.add_column(heading, overflow="fold")
    for name, a in known.items():
        points = rules.points_of(name)
        parts = [points.correctness, points.performance, *filter(None, [points.structure])]
        counts = " + ".join(f"{part:g}" for part in parts) if name in taught else "not in the course"
        table.add_row(
            name, a.signature, f"{len(a.cases_for('cpu'))}, {len(a.cases)}",
            counts, a.baseline.name)
    console.print(table)


@app.command(rich_help_panel=AUTHORS)
def init(
    folder: Annotated[Path, typer.Argument(help="The folder to make, or one that has no course yet.")],
    chosen: Annotated[str, typer.Option(
        "--with", help="Only these assignments, e.g. silu,gemm. Default: those that the copied course teaches.")] = "",
    example: Annotated[str, typer.Option(
        "--from", help="Copy this example of the package, such as llm, or the course in this folder. Default: the "
                       "package's own course.")] = "",
) -> None:
    """Make a course of your own: assignments, reference kernels, stubs, course.toml, and a CI file that verifies them.

    Replaces nothing. Commands that run in the folder, or below it, take this course.
    """
    # Late, see check.
    from grader.authoring import init as beginning

    try:
        names = beginning.write(folder, beginning.source_of(example), names_in(chosen))
    except (ValueError, CourseError, catalogue.CatalogueError) as error:
        _usage(str(error))
    except OSError as error:
        _usage(failed(error))
    say(f"{folder}: a course of {', '.join(names)}. Next, in this folder:")
    say("  kernelmark verify          says what an assignment lacks; no GPU is needed")
    say("  kernelmark new NAME        writes another assignment that works, for you to change")
    say("  kernelmark kit build/kit   makes what students get; kernelmark grade SUBMISSIONS grades them")


@app.command(rich_help_panel=AUTHORS)
def new(name: Annotated[str, typer.Argument(help="The function's name: small letters, digits, _.")]) -> None:
    """Write the files of a new assignment: a small one that works, for you to change.

    Then `kernelmark verify NAME` says what is missing, and `assignments = [...]` in course.toml adds it to a course.
    """
    # Late, see check.
    from grader.authoring.new import write

    try:
        if note := home.here().note:
            _usage(note)
        made = write(name, home.root())
    except (ValueError, CourseError) as error:
        _usage(str(error))
    except OSError as error:
        _usage(failed(error))
    for path in made:
        console.print(str(path.relative_to(home.root())), markup=False)
    console.print(f"next: change them, then run kernelmark verify {name}", markup=False)


@app.command(rich_help_panel=AUTHORS)
def handouts(
    course: Annotated[Path, course_option("The course file: points, thresholds, policy.")] = COURSE,
) -> None:
    """Update the generated parts of all handouts: arguments, cases, timed cases, points.

    Only text between marks is replaced; the rest is the author's. Exit status 1 if marks are missing.
    """
    # Late, see check.
    from grader.authoring import handout

    if note := home.here().note:
        _usage(note)
    try:
        known = catalogue.assignments()
        rules = read_course(course, frozenset(known))
        root = home.root()
        texts, notebook = handout.texts(known, rules, root), root / handout.NOTEBOOK
        notebook.write_text(handout.notebook(known, rules, root), encoding="utf-8")
        for path, drawn in texts.items():
            if handout.draw(path, drawn):
                console.print(str(path.relative_to(root)), markup=False)
        problems = [problem for path, drawn in texts.items() for problem in handout.problems(path, drawn)]
    except (CourseError, catalogue.CatalogueError) as error:
        _usage(str(error))
    except OSError as error:
        _usage(f"{error.filename}: {error.strerror}; check that it can be read and written")
    for problem in problems:
        errors.print(f"kernelmark: {problem}", markup=False)
    if problems:
        raise typer.Exit(1)


@app.command(rich_help_panel=TAS)
def kit(
    out: Annotated[Path, typer.Argument(help="The folder to make; a zip of it is made beside it.")],
    course: Annotated[Path, course_option("The course file, whose assignments go into the kit.")] = COURSE,
) -> None:
    """Make the students' kit: the grader, stubs, handouts and public cases, without solutions."""
    # Late, see check.
    from grader.authoring import student_kit

    try:
        packed = student_kit.write(out, course)
    except (student_kit.KitError, CourseError, catalogue.CatalogueError) as error:
        _usage(str(error))
    except OSError as error:
        _usage(failed(error))
    say_if_shipped()
    console.print(f"{out} and {packed}", markup=False, soft_wrap=True)


@app.command(rich_help_panel=AUTHORS)
def verify(
    names: Annotated[list[str] | None, typer.Argument(help="E.g. silu gemm. Default: the course's.")] = None,
    course: Annotated[Path, course_option("The course file.")] = COURSE,
) -> None:
    """Check assignments before students get them: missing files and cases, wrong answers that would pass.

    No GPU is needed. Exit status 1 if there is a problem.
    """
    # Late, see check.
    from grader.authoring.verify import verify as verified

    known = catalogue.files()
    try:
        catalogue.select(known, names or ())
        taught = names or read_course(course, frozenset(known)).select(known, ())
    except (ValueError, CourseError) as error:
        _usage(str(error))
    say_if_shipped()
    problems_found = False
    for name in taught:
        for about, problems in verified(name):
            mark = "✗" if problems else "✓"
            console.print(f"{mark} {name}: {about}", markup=False, soft_wrap=True)
            for problem in problems:
                console.print(f"    {problem}", markup=False, soft_wrap=True)
            problems_found = problems_found or bool(problems)
    if problems_found:
        raise typer.Exit(1)
