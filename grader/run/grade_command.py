"""The commands `grade` and `regrade`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from grader.console import INFRASTRUCTURE_ERROR, console, errors, names_in, usage
from grader.intake import command as intake
from grader.model import catalogue, desk
from grader.model.catalogue import COURSE
from grader.model.course import Course, CourseError, read_course
from grader.model.submission import Submission, SubmissionError, chosen, find_submissions
from grader.records.store import FILE, FOLDER, StoreError
from grader.run.asked import Asked

if TYPE_CHECKING:
    from grader.run.lanes import Lanes

FarLanes = Callable[[str, Path | None, Path], "Callable[[int], Lanes]"]
"""What opens lanes on other machines: of an address, a key, and the folder of submissions; then of an isolation level.
The command line puts it into its context, since a grading knows no cluster."""

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
Address = Annotated[str, typer.Option(
    "--lanes", help="Grade on the lanes that have joined this scheduler, as tls://host:8786; see docs/cluster.md.")]
Key = Annotated[Path | None, typer.Option(help="The key of that cluster.")]
Force = Annotated[bool, typer.Option(
    "--force", help="Grade everything again, also what would be skipped as unchanged.")]


def grade(
    context: typer.Context, submissions: Submissions, out: Out = Path("results"), only: Only = "",
    student: Student = None, device: Device = "auto", speed: Speed = True, jobs: Jobs = 0, gpus: Gpus = "",
    seed: Seed = None, course: CourseFile = COURSE, min_isolation: MinIsolation = None,
    allow_degraded: AllowDegraded = False, force: Force = False, lanes: Address = "", key: Key = None,
    sweep: Sweep = False,
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
    asked = Asked(
        out, only=names_in(only), device=device, gpus=gpus, speed=speed, sweep=sweep, jobs=jobs, seed=seed,
        course_file=course, minimum=min_isolation, allow_degraded=allow_degraded, kind="failed" if failed else "grade",
        force=force, as_json=as_json, leaderboard=leaderboard)
    _grade(asked, submissions, student or (), context.obj, lanes, key)


def regrade(
    context: typer.Context, submissions: Submissions, out: Out = Path("results"), only: Only = "",
    student: Student = None, device: Device = "auto", speed: Speed = True, jobs: Jobs = 0, gpus: Gpus = "",
    seed: Seed = None, course: CourseFile = COURSE, min_isolation: MinIsolation = None,
    allow_degraded: AllowDegraded = False, force: Force = False, lanes: Address = "", key: Key = None,
    sweep: Sweep = False, as_json: AsJson = False,
) -> None:
    """Grade again what has a grade, with tests and machine as they are now: a fixed case, another GPU.

    The new attempts stand beside the old: `kernelmark diff` shows what would change, `kernelmark apply` changes it.
    Exit status: as of `grade`.
    """
    asked = Asked(
        out, only=names_in(only), device=device, gpus=gpus, speed=speed, sweep=sweep, jobs=jobs, seed=seed,
        course_file=course, minimum=min_isolation, allow_degraded=allow_degraded, kind="regrade",
        force=force, as_json=as_json)
    _grade(asked, submissions, student or (), context.obj, lanes, key)


def _grade(
    asked: Asked, folder: Path, names: Sequence[str], far_lanes: FarLanes | None, address: str, key: Path | None
) -> NoReturn:
    submissions, course = _read(asked, folder, names)
    if key is not None and not address:
        usage("--key: --lanes tls://host:8786 expected, which it is for")
    if address and far_lanes is None:
        usage("--lanes: the course's repository expected, which a kit for students is not")
    far = far_lanes(address, key, folder) if far_lanes and address else None
    # Late: a mistyped name is told before what grades is imported.
    from grader.run import whole_class
    from grader.run.lanes import LanesLostError
    from grader.run.preflight import PlanError

    # What is for people leaves standard output to the program that reads it.
    told = errors if asked.as_json else console
    begun = False
    try:
        with whole_class.planned(submissions, course, asked, console=told, far=far) as plan:
            begun = True
            failures = whole_class.grade_class(plan, told, errors)
    except (PlanError, StoreError) as error:
        usage(str(error))
    except KeyboardInterrupt:
        if not begun:
            errors.print("kernelmark: interrupted before anything was graded", markup=False)
        raise
    except LanesLostError as error:
        errors.print(f"kernelmark: {error}", markup=False)
        failures = 1
    raise typer.Exit(INFRASTRUCTURE_ERROR if failures else 0)


def _read(asked: Asked, folder: Path, names: Sequence[str]) -> tuple[list[Submission], Course]:
    """The submissions in a folder, of these names or all, and the course; what of the folder is not graded is told."""
    try:
        found = catalogue.files()
        if fitting := intake.fitting(folder, found):
            usage(fitting)
        if (folder / FOLDER / FILE).is_file():
            usage(f"{folder}: is a folder of results; the students' folders expected")
        if asked.out.resolve().is_relative_to(folder.resolve()):
            usage(f"--out {asked.out}: lies in {folder}, where what is graded could pass for results, and results for "
                  "what is graded; a folder beside it expected")
        students = find_submissions(folder, found.values())
        if left := desk.beside(folder, [student.folder for student in students]):
            errors.print(f"kernelmark: {', '.join(left)}: in no student's folder, so not graded", markup=False)
        students = chosen(students, intake.folders(folder, names))
        for line in intake.remembered(folder, {one.folder.name for one in students}):
            errors.print(f"kernelmark: {line}", markup=False)
        return students, read_course(asked.course_file, frozenset(found))
    except (SubmissionError, CourseError) as error:
        usage(str(error))
    except OSError as error:
        usage(f"{error.filename}: {error.strerror}; a folder of assignments expected")
