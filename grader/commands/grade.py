"""The commands `grade` and `regrade`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from grader import home, languages
from grader.classroom.attempts.store import FOLDER
from grader.commands import intake
from grader.console import (
    COURSE,
    INFRASTRUCTURE_ERROR,
    complain,
    console,
    course_option,
    errors,
    names_in,
    say_if_shipped,
    usage,
)
from grader.course import catalogue, workspace
from grader.course.course import Course, read_course
from grader.course.roster import Names
from grader.course.submission import Submission, find_submissions, select_submissions
from grader.errors import advised
from grader.grading.options import GradeOptions

if TYPE_CHECKING:
    from grader.grading.lanes import Lanes

FarLanes = Callable[[str, Path | None, Path], "Callable[[int], Lanes]"]
"""A function that opens lanes on other machines. It takes an address, a key and the folder of submissions, and returns
a function of the least isolation level. The command line passes it in its context, because this package must not import
the cluster."""

Submissions = Annotated[Path, typer.Argument(help="A folder of students' folders, or one student's folder.")]
Out = Annotated[Path, typer.Option(help="The folder for results; made if missing.")]
Only = Annotated[str, typer.Option(help="Assignments to grade, e.g. silu,gemm. Default: the course's.")]
Student = Annotated[list[str] | None, typer.Option("--student", help="Grade only this student; may be given again.")]
Device = Annotated[str, typer.Option(
    help="cpu, cuda (judged on a GPU, with speed), or auto: cuda if there is a GPU.")]
Speed = Annotated[bool, typer.Option(help="Measure speed on a GPU, or judge answers only.")]
Sweep = Annotated[bool, typer.Option(
    "--sweep", help="On a GPU, add a chart of right kernels' speed at many sizes to reports: half a minute a kernel.")]
Jobs = Annotated[int, typer.Option(
    min=0, help="Submissions graded side by side; 0: one for each core, or one or two for each GPU.")]
Gpus = Annotated[str, typer.Option(help="GPUs to grade on: numbers as 0,2. Default: all.")]
Seed = Annotated[int | None, typer.Option(
    min=0, max=2**63 - 1, help="Repeat the inputs of an earlier grading. Default: new inputs; the seed is logged.")]
CourseFile = Annotated[Path, course_option("The course file: points, thresholds, limits, policy, isolation.")]
MinIsolation = Annotated[int | None, typer.Option(
    min=0, max=4, help="The least isolation level for grading: 0 none, 1 limited, 2 confined, 3 namespaced, "
                       "4 sealed. Default: the course's.")]
AllowDegraded = Annotated[bool, typer.Option(
    "--allow-degraded", help="Grade at any isolation level: only for code that you trust.")]
AsJson = Annotated[bool, typer.Option(
    "--json", help="Print a line with a JSON object for each submission as it is graded.")]
Address = Annotated[str, typer.Option(
    "--lanes", help="Grade on the lanes of this scheduler, such as tls://host:8786; see docs/cluster.md.")]
Key = Annotated[Path | None, typer.Option(help="The key of that scheduler's cluster.")]
Roster = Annotated[Path | None, typer.Option(
    help="The students' names and sections for the class page: roster.csv, or as Canvas, Moodle or Classroom 50 gives "
         "it. Default: those of kernelmark intake.")]
NamesShown = Annotated[Names | None, typer.Option(
    "--names", help="How the class page and the gradebook show students. Default: `page.names` of course.toml.")]
Force = Annotated[bool, typer.Option(
    "--force", help="Grade everything again, also what would be skipped as unchanged.")]


def grade(
    context: typer.Context, submissions: Submissions, out: Out = Path("results"), only: Only = "",
    student: Student = None, device: Device = "auto", speed: Speed = True, jobs: Jobs = 0, gpus: Gpus = "",
    seed: Seed = None, course: CourseFile = COURSE, min_isolation: MinIsolation = None,
    allow_degraded: AllowDegraded = False, force: Force = False, lanes: Address = "", key: Key = None,
    sweep: Sweep = False,
    failed: Annotated[bool, typer.Option(
        "--failed", help="Grade only submissions on which the grader failed before.")] = False,
    as_json: AsJson = False,
    leaderboard: Annotated[bool, typer.Option(
        "--leaderboard", help="Also write leaderboard.html: points under pseudonyms, fit to be published.")] = False,
    roster: Roster = None, names: NamesShown = None,
) -> None:
    """Grade submissions and write a report for each student, a class page and a gradebook.

    Skips submissions that are already graded from the same files, tests and environment. A new grade of a graded
    submission is recorded beside the earlier one, which counts until `kernelmark apply`.

    Exit status: 0 if grading ran, whatever the scores; 2 for a usage or configuration error; 3 if the grader failed on
    a submission (all others are graded); 130 if it was interrupted (grades made until then are kept).
    """
    options = GradeOptions(
        out, only=names_in(only), device=device, gpus=gpus, speed=speed, sweep=sweep, jobs=jobs, seed=seed,
        course_file=course, minimum=min_isolation, allow_degraded=allow_degraded, kind="failed" if failed else "grade",
        force=force, as_json=as_json, leaderboard=leaderboard,
        roster=roster, names=names)
    _grade(options, submissions, student or (), context.obj, lanes, key)


def regrade(
    context: typer.Context, submissions: Submissions, out: Out = Path("results"), only: Only = "",
    student: Student = None, device: Device = "auto", speed: Speed = True, jobs: Jobs = 0, gpus: Gpus = "",
    seed: Seed = None, course: CourseFile = COURSE, min_isolation: MinIsolation = None,
    allow_degraded: AllowDegraded = False, force: Force = False, lanes: Address = "", key: Key = None,
    sweep: Sweep = False, as_json: AsJson = False, roster: Roster = None, names: NamesShown = None,
) -> None:
    """Grade graded submissions again, for example after a case was fixed, or on another GPU.

    The new attempts are recorded beside the old: `kernelmark diff` shows what would change, `kernelmark apply` changes
    it. Exit status: as for `grade`.
    """
    options = GradeOptions(
        out, only=names_in(only), device=device, gpus=gpus, speed=speed, sweep=sweep, jobs=jobs, seed=seed,
        course_file=course, minimum=min_isolation, allow_degraded=allow_degraded, kind="regrade",
        force=force, as_json=as_json, roster=roster, names=names)
    _grade(options, submissions, student or (), context.obj, lanes, key)


def opener(
    far_lanes: FarLanes | None, address: str, key: Path | None, folder: Path
) -> Callable[[int], Lanes] | None:
    """Return the function that opens the lanes of `--lanes`; None without that option."""
    if key is not None and not address:
        usage("--key: of no use without --lanes; pass --lanes tls://host:8786, too")
    if address and far_lanes is None:
        usage("--lanes: not part of a students' kit; run this in the course's repository")
    return far_lanes(address, key, folder) if far_lanes and address else None


def _grade(
    options: GradeOptions, folder: Path, names: Sequence[str], far_lanes: FarLanes | None, address: str,
    key: Path | None,
) -> NoReturn:
    submissions, course = _read_submissions(options, folder, names)
    far = opener(far_lanes, address, key, folder)
    # Late: usage errors are reported before these slow imports.
    from grader.grading import whole_class
    from grader.grading.lanes import LanesLostError
    from grader.judging.running.lane import cache_trouble

    # With --json, only JSON may go to standard output.
    people = errors if options.as_json else console
    begun = False
    try:
        with whole_class.planned(submissions, course, options, console=people, far=far) as plan:
            begun = True
            say_if_shipped()
            if trouble := cache_trouble():
                complain(trouble)
            failures = whole_class.grade_class(plan, people)
    except KeyboardInterrupt:
        if not begun:
            complain("interrupted before anything was graded")
        raise
    except LanesLostError as error:
        complain(f"{error}{whole_class.AGAIN}")
        failures = 1
    raise typer.Exit(INFRASTRUCTURE_ERROR if failures else 0)


@advised("check the folder of assignments")
def _read_submissions(options: GradeOptions, folder: Path, names: Sequence[str]) -> tuple[list[Submission], Course]:
    """Read the course, and the submissions in a folder: those of these names, or all. Prints which files are not
    graded."""
    known = catalogue.files()
    if fitting := intake.fitting(folder, known):
        usage(fitting)
    if (folder / FOLDER).is_dir():
        usage(f"{folder}: is a folder of results; name the folder with the students' folders")
    if options.out.resolve().is_relative_to(folder.resolve()):
        usage(f"--out {options.out}: lies in {folder}, where results and submissions could be mixed up; choose a "
              "folder beside it")
    # Not by the course's names of files, since the course may be what cannot be trusted.
    home.here().refuse(folder, alone=any(path.suffix in languages.suffixes() for path in folder.glob("*.*")))
    if not home.here().named and (foreign := intake.foreign(folder, options.course_file)):
        usage(foreign)
    course = read_course(options.course_file, frozenset(known))
    students = find_submissions(folder, known.values())
    if left := workspace.files_beside(folder, [student.folder for student in students]):
        complain(f"{', '.join(left)}: in no student's folder, so not graded")
    students = select_submissions(students, intake.folders(folder, names))
    for line in intake.earlier_problems(folder, {student.folder.name for student in students}):
        complain(line)
    return students, course
