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
    complain,
    console,
    course_option,
    names_in,
    reporting,
    say,
    say_if_shipped,
)
from grader.console import usage as _usage
from grader.course import catalogue
from grader.course.course import read_course
from grader.errors import UserError, advised

# The order of commands in `kernelmark --help`: as users need them.
ORDER = (
    "check", "inspect", "bench", "login", "submit", "status",
    "intake", "grade", "regrade", "diff", "apply", "rescore", "explain-grade", "mark", "request", "requests", "answer",
    "export", "kit", "assignments", "doctor",
    "serve", "tokens", "calibrate", "scheduler", "lane", "cluster-key",
    "init", "new", "verify", "handouts",
)


# The base class of Typer's errors in the arguments of a command, which Typer does not export.
_WORD_ERROR: type[Any] = next(class_ for class_ in typer.BadParameter.__mro__ if class_.__name__ == "UsageError")


class Verbs(TyperGroup):
    """The group of the commands, listed in ORDER; a students' kit lacks some of them."""

    def main(self, *arguments: Any, **options: Any) -> Any:
        """Run a command, and print an error in its arguments in one line, like every other error."""
        if not options.setdefault("standalone_mode", True):
            return super().main(*arguments, **options)
        try:
            status = super().main(*arguments, **options | {"standalone_mode": False})
        except UserError as error:
            complain(str(error))
            status = USAGE_ERROR
        except _WORD_ERROR as error:
            # The message is empty if the command line was empty: then typer has printed the help.
            if text := " ".join(error.format_message().split()).rstrip("."):
                command = error.ctx.command_path if error.ctx else "kernelmark"
                complain(f"{text}; {command} --help shows what is expected")
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
# It has no server either.
if importlib.util.find_spec("grader.server") is not None:
    from grader.commands import serve

    serve.add_to(app)


# Commands that run no kernel, and work on any system.
ANYWHERE = ("assignments", "init", "new", "handouts", "kit", "login", "submit", "status")


def _version(wanted: bool) -> None:
    if wanted:
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
    rules = read_course(course, frozenset(known))
    # Late, as in the commands below: an import that only one command needs would slow down the start of all.
    from grader.commands import check as check_command

    if out is None and report:
        out = temporary.make("report")
    options = check_command.CheckOptions(
        rules, only=names_in(only), device=device, speed=speed, seed=seed,
        out=out, github=github, words=home.here().words(course))
    raise typer.Exit(check_command.check(target, options, console, watch=watch))


@app.command(rich_help_panel=TAS)
def doctor() -> None:
    """Show what this machine can do: device, grading, isolation, versions; and what is missing and how to get it."""
    # Late, see check.
    from grader.grading import doctor as diagnosis

    table = Table(box=None, show_header=False, pad_edge=False)
    lines = diagnosis.diagnoses()
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
    known = catalogue.assignments()
    rules = read_course(course, frozenset(known))
    say_if_shipped()
    taught = rules.select(known, ())
    table = Table(box=None, pad_edge=False)
    for heading in ("assignment", "signature", "cases (CPU, GPU)", "points", "baseline"):
        # Long text is folded, not cut: a signature must be complete.
        table.add_column(heading, overflow="fold")
    for name, assignment in known.items():
        points = rules.points_of(name)
        parts = [points.correctness, points.performance, *filter(None, [points.structure])]
        counts = " + ".join(f"{part:g}" for part in parts) if name in taught else "not in the course"
        table.add_row(
            name, assignment.signature, f"{len(assignment.cases_for('cpu'))}, {len(assignment.cases)}",
            counts, assignment.baseline.name)
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
    from grader.authoring import init as course_copy

    with reporting():
        names = course_copy.write(folder, course_copy.source_of(example), names_in(chosen))
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

    if note := home.here().note:
        _usage(note)
    with reporting():
        paths = write(name, home.root())
    for path in paths:
        say(str(path.relative_to(home.root())))
    say(f"next: change them, then run kernelmark verify {name}")


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
    with advised("check that it can be read and written"):
        known = catalogue.assignments()
        rules = read_course(course, frozenset(known))
        root = home.root()
        texts, notebook = handout.texts(known, rules, root), root / handout.NOTEBOOK
        notebook.write_text(handout.notebook(known, rules, root), encoding="utf-8")
        for path, text in texts.items():
            if handout.draw(path, text):
                say(str(path.relative_to(root)))
        problems = [problem for path, drawn in texts.items() for problem in handout.problems(path, drawn)]
    for problem in problems:
        complain(problem)
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

    with reporting():
        packed = student_kit.write(out, course)
    say_if_shipped()
    say(f"{out} and {packed}")


@app.command(rich_help_panel=AUTHORS)
def verify(
    names: Annotated[list[str] | None, typer.Argument(help="E.g. silu gemm. Default: the course's.")] = None,
    course: Annotated[Path, course_option("The course file.")] = COURSE,
) -> None:
    """Check assignments before students get them: missing files and cases, wrong answers that would pass.

    No GPU is needed. Exit status 1 if there is a problem.
    """
    # Late, see check.
    from grader.authoring.verify import verify as verify_assignment

    known = catalogue.files()
    catalogue.select(known, names or ())
    taught = names or read_course(course, frozenset(known)).select(known, ())
    say_if_shipped()
    problems_found = False
    for name in taught:
        for about, problems in verify_assignment(name):
            mark = "✗" if problems else "✓"
            say(f"{mark} {name}: {about}")
            for problem in problems:
                say(f"    {problem}")
            problems_found = problems_found or bool(problems)
    if problems_found:
        raise typer.Exit(1)
