"""The command line: verbs and nothing else."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from rich.table import Table
from rich.text import Text

from grader.bench import command as bench_command
from grader.console import AUTHORS, INFRASTRUCTURE_ERROR, STUDENTS, TEACHERS, console, errors
from grader.console import usage as _usage
from grader.exports import command as exports
from grader.intake import command as intake
from grader.model import catalogue, desk
from grader.model.course import CourseError, read_course
from grader.model.submission import SubmissionError, chosen, find_submissions
from grader.records import verbs
from grader.records.store import FILE, FOLDER
from grader.run import calibrate_command
from grader.student import inspect_command

if TYPE_CHECKING:
    from grader.records.choice import Kind

COURSE = catalogue.ROOT / "course.toml"
app = typer.Typer(
    help="Checks and grades GPU kernels written in Triton.",
    no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
app.command("inspect", rich_help_panel=STUDENTS)(inspect_command.inspect)
app.command(rich_help_panel=STUDENTS)(bench_command.bench)
app.command(rich_help_panel=TEACHERS)(intake.intake)
app.command(rich_help_panel=TEACHERS)(calibrate_command.calibrate)
app.add_typer(exports.app, name="export", rich_help_panel=TEACHERS)
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


Submissions = Annotated[Path, typer.Argument(help="A folder of students' folders, or one student's folder.")]
Out = Annotated[Path, typer.Option(help="Where results go; made if missing.")]
Only = Annotated[str, typer.Option(help="Assignments to grade, e.g. silu,gemm. Default: the course's.")]
Student = Annotated[list[str] | None, typer.Option("--student", help="Grade this one alone; may be given again.")]
Device = Annotated[str, typer.Option(
    help="cpu, cuda (judged on a GPU, speed included), or auto: cuda where there is one.")]
Speed = Annotated[bool, typer.Option(help="Measure speed on a GPU; without it answers alone are judged.")]
Sweep = Annotated[bool, typer.Option(
    "--sweep", help="On a GPU, draw into reports how fast a right kernel is at many sizes: half a minute a kernel.")]
Jobs = Annotated[int, typer.Option(min=0, help="Submissions graded side by side; 0: one for each core, or GPU.")]
Gpus = Annotated[str, typer.Option(help="GPUs to grade on, one submission on each: numbers as 0,2. Default: all.")]
Seed = Annotated[int | None, typer.Option(
    min=0, max=2**63 - 1, help="Repeat the inputs of a grading. Default: new ones, logged.")]
CourseFile = Annotated[Path, typer.Option("--course", help="Points, thresholds, limits, policy, isolation.")]
MinIsolation = Annotated[int | None, typer.Option(
    min=0, max=4, help="Isolation level below which nothing is graded: 0 none, 1 limited, 2 confined, "
                       "3 namespaced, 4 sealed. Default: the course's.")]
AllowDegraded = Annotated[bool, typer.Option(
    "--allow-degraded", help="Grade below that level all the same: for code that you trust.")]
AsJson = Annotated[bool, typer.Option(
    "--json", help="Tell standard output of each submission as it is graded, a JSON object a line.")]
FarLanes = Annotated[str, typer.Option(
    "--lanes", help="Grade on the lanes that have joined this scheduler, as tls://host:8786; see docs/cluster.md.")]
Key = Annotated[Path | None, typer.Option(help="The key of that cluster.")]
Force = Annotated[bool, typer.Option(
    "--force", help="Grade again what is graded from the same files, tests and environment, too.")]


@app.command(rich_help_panel=TEACHERS)
def grade(
    submissions: Submissions, out: Out = Path("results"), only: Only = "", student: Student = None,
    device: Device = "auto", speed: Speed = True, jobs: Jobs = 0, gpus: Gpus = "", seed: Seed = None,
    course: CourseFile = COURSE, min_isolation: MinIsolation = None, allow_degraded: AllowDegraded = False,
    force: Force = False, lanes: FarLanes = "", key: Key = None, sweep: Sweep = False,
    failed: Annotated[bool, typer.Option("--failed", help="Grade only what a failure of ours left ungraded.")] = False,
    as_json: AsJson = False,
    leaderboard: Annotated[bool, typer.Option(
        "--leaderboard", help="Write leaderboard.html, too: points under pseudonyms, to be published.")] = False,
) -> None:
    """Grade submissions and write a report for each student, a class page and a gradebook.

    What is graded already from the same files, tests and environment is skipped; what is graded again stands beside the
    earlier grade, until `kernelmark apply`.

    Exit status: 0 when grading ran, whatever the scores; 2 for a usage or configuration error; 3 when something of
    ours failed (everyone else is still graded); 130 when it was interrupted (what is graded by then is kept).
    """
    _grade(submissions, course, allow_degraded, out=out, only=only, student=student or (), device=device, speed=speed,
           jobs=jobs, gpus=gpus, seed=seed, minimum=min_isolation, force=force, kind="failed" if failed else "grade",
           lanes=lanes, key=key, sweep=sweep, as_json=as_json, leaderboard=leaderboard)


@app.command(rich_help_panel=TEACHERS)
def regrade(
    submissions: Submissions, out: Out = Path("results"), only: Only = "", student: Student = None,
    device: Device = "auto", speed: Speed = True, jobs: Jobs = 0, gpus: Gpus = "", seed: Seed = None,
    course: CourseFile = COURSE, min_isolation: MinIsolation = None, allow_degraded: AllowDegraded = False,
    force: Force = False, lanes: FarLanes = "", key: Key = None, sweep: Sweep = False, as_json: AsJson = False,
) -> None:
    """Grade again what has a grade, with tests and machine as they are now: a fixed case, another GPU.

    The new attempts stand beside the old: `kernelmark diff` shows what would change, `kernelmark apply` changes it.
    Exit status: as of `grade`.
    """
    _grade(submissions, course, allow_degraded, out=out, only=only, student=student or (), device=device, speed=speed,
           jobs=jobs, gpus=gpus, seed=seed, minimum=min_isolation, force=force, kind="regrade", lanes=lanes, key=key,
           sweep=sweep, as_json=as_json)


def _grade(
    submissions: Path, course: Path, allow_degraded: bool, *, out: Path, only: str, student: Sequence[str],
    device: str, speed: bool, jobs: int, gpus: str, seed: int | None, minimum: int | None, force: bool, kind: Kind,
    lanes: str, key: Path | None, sweep: bool, as_json: bool, leaderboard: bool = False,
) -> NoReturn:
    try:
        found = catalogue.files()
        if fitting := intake.fitting(submissions, found):
            _usage(fitting)
        if (submissions / FOLDER / FILE).is_file():
            _usage(f"{submissions}: is a folder of results; the students' folders expected")
        if out.resolve().is_relative_to(submissions.resolve()):
            _usage(f"--out {out}: lies in {submissions}, where what is graded could pass for results, and results for "
                   "what is graded; a folder beside it expected")
        students = find_submissions(submissions, found.values())
        if left := desk.beside(submissions, [student.folder for student in students]):
            errors.print(f"kernelmark: {', '.join(left)}: in no student's folder, so not graded", markup=False)
        students = chosen(students, intake.folders(submissions, student))
        for line in intake.remembered(submissions, {one.folder.name for one in students}):
            errors.print(f"kernelmark: {line}", markup=False)
        rules = read_course(course, frozenset(found))
    except (SubmissionError, CourseError) as error:
        _usage(str(error))
    except OSError as error:
        _usage(f"{error.filename}: {error.strerror}; a folder of assignments expected")
    if key is not None and not lanes:
        _usage("--key: --lanes tls://host:8786 expected, which it is for")
    if lanes and not CLUSTER:
        _usage("--lanes: the course's repository expected, which a kit for students is not")
    opened = cluster.far_lanes(lanes, key, submissions) if lanes else None
    # Late: a mistyped name is told before torch is imported.
    from grader.records.store import StoreError
    from grader.report.leaderboard import begin
    from grader.run import whole_class
    from grader.run.lanes import LanesLostError
    from grader.run.preflight import PlanError

    begun = False
    try:
        names = [name for name in only.replace(" ", "").split(",") if name]
        own = ["--course", str(course.absolute())] if course != COURSE else []
        own += ["--allow-degraded"] if allow_degraded else []
        own += [] if speed else ["--no-speed"]
        own += ["--sweep"] if sweep else []
        # What is for people leaves standard output to the program that reads it.
        told = errors if as_json else console
        with whole_class.planned(
            students, rules, out=out, only=names, device=device, jobs=jobs, gpus=gpus, seed=seed, speed=speed,
            minimum=minimum, allow_degraded=allow_degraded, options=own, console=told, kind=kind, force=force,
            far=opened, sweep=sweep,
        ) as plan:
            begun = True
            if leaderboard:
                # Before the first report, which tells its student the pseudonym.
                with contextlib.suppress(OSError):  # the class page tells of it
                    begin(out)
            failures = whole_class.grade_class(plan, told, errors, as_json=as_json, leaderboard=leaderboard)
    except (PlanError, StoreError) as error:
        _usage(str(error))
    except KeyboardInterrupt:
        if not begun:
            errors.print("kernelmark: interrupted before anything was graded", markup=False)
        raise
    except LanesLostError as error:
        errors.print(f"kernelmark: {error}", markup=False)
        failures = 1
    raise typer.Exit(INFRASTRUCTURE_ERROR if failures else 0)


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
        rules, only=[name for name in only.replace(" ", "").split(",") if name], device=device, speed=speed, seed=seed,
        out=out, words=["--course", str(course.absolute())] if course != COURSE else [])
    try:
        status = checking.check(target, options, console, errors, watch=watch)
    except (DeskError, PlanError, catalogue.CatalogueError) as error:
        _usage(str(error))
    raise typer.Exit(status)


@app.command(rich_help_panel=TEACHERS)
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


@app.command(rich_help_panel=TEACHERS)
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


@app.command(rich_help_panel=TEACHERS)
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
