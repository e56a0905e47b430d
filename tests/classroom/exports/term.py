"""A class of 60 over a term, graded by nobody: hand-ins in time and late, several for an assignment, pairs, regradings
that were applied and taken back, failures of ours, an assignment that the course has no more. All people are invented.
"""

import datetime
import hashlib
import random
from pathlib import Path

from grader.classroom.attempts.attempt import Attempt
from grader.classroom.attempts.store import Store
from grader.classroom.attempts.student_files import refresh
from grader.classroom.intake.manifest import ManifestEntry, Member
from grader.course.late import LatePolicy
from grader.results.mark import Mark
from grader.results.result import with_assignments
from grader.results.verdicts import Verdict
from tests.classroom.attempts.made import draft
from tests.classroom.exports.made import hand_in, person, taken
from tests.pages import samples

COUNT, HANDED_IN = 60, 56
NAMES = ("silu", "gemm", "transpose", "copy_first_column")
REMOVED = "rmsnorm_vector"
DEADLINE = datetime.datetime(2026, 3, 28, 23, 59, tzinfo=datetime.timezone(datetime.timedelta(hours=1)))
"""Hours before the clocks of Berlin go forward."""
VERDICTS: tuple[Verdict, ...] = (
    "accepted", "accepted", "wrong_answer", "wrong_answer", "runtime_error", "missing", "needs_gpu",
    "infrastructure_error")
WHO = {number: f"s{number:02}" for number in range(1, COUNT + 1)}


def made(root: Path, seed: int) -> Path:
    """The class in a folder: results, intake, roster, and the sheets of Canvas and Moodle."""
    dice = random.Random(seed)
    entries = [*(_entry(dice, f"repo{number}", number) for number in range(1, 51)),
               _entry(dice, "pair1", 51, 52), _entry(dice, "pair2", 53, 54), _entry(dice, "repo55", 55),
               _entry(dice, "repo56", 56), hand_in("repo-zoe", person("zoe"), origin="gpu-kernels-zoe")]
    taken(root / "class", "git", *entries)
    results = root / "results"
    results.mkdir()
    with Store.create(results) as store:
        for entry in entries:
            _handed_in(store, dice, entry)
        for share in (0.5, 0.3, 0.3):
            store.decide(dice.sample(store.attempts(), int(share * 300)))
        store.decide(undoes=2)
        _marks(store, dice)
        assert refresh(store, results, LatePolicy()) == []
    people = [(number, WHO[number], f"Person {_letters(number)}", f"{WHO[number]}@x.edu", "AB"[number % 2])
              for number in WHO]
    (root / "roster.csv").write_text("id,name,email,section,late_days\n" + "".join(
        f"{who},{name},{mail},{section},{dice.choice(['', '', '0', '1', '3'])}\n"
        for _, who, name, mail, section in people))
    (root / "canvas.csv").write_text(
        "Student,ID,SIS User ID,SIS Login ID,Section,Kernels (9),First (10),Total\n    Points Possible,,,,,400,100,\n"
        + "".join(f"{name},{100 + number},{who},{mail},{section},{'EX' if number == 7 else ''},,5\n"
                  for number, who, name, mail, section in people))
    (root / "moodle.csv").write_text(
        "Identifier,Full name,ID number,Email address,Grade,Last modified (grade),Feedback comments\n" + "".join(
            f"Participant {900 + number},{name},{who},{mail},,-,\n" for number, who, name, mail, _ in people))
    return root


def _marks(store: Store, dice: random.Random) -> None:
    """Points and words for folders, for one of a pair, for somebody who handed nothing in; requests and answers."""
    for number in range(40):
        slug, student = dice.choice([("pair1", ""), ("pair2", "s54"), ("", "s60"), *(
            (f"repo{index}", "") for index in range(1, 15))])
        mark = Mark(slug=slug, student=student, assignment=dice.choice(NAMES), by="Roe", comment=dice.choice(
            ["", f"because {number}"]), points=dice.choice([0, 5, 2.5, -4, -70]))
        (asked,) = store.mark([mark if number % 5 else mark.model_copy(update={
            "kind": "request", "points": 0, "comment": f"why {number}"})])
        if number % 10 == 0:
            store.mark([asked.model_copy(update={"kind": "answer", "points": 3, "comment": "so", "of": asked.id})])


def _letters(number: int) -> str:
    return "".join("abcdefghij"[int(digit)] for digit in str(number))


def _entry(dice: random.Random, folder: str, *numbers: int) -> ManifestEntry:
    """The first twenty are called otherwise by GitHub than by the roster, which knows their mail."""
    members = [Member(id=f"gh-{number}" if number <= 20 else WHO[number], source_id=f"gh-{number}",
                      email=f"{WHO[number]}@x.edu") for number in numbers]
    at = None if dice.random() < 0.1 else _time(dice)
    return hand_in(folder, *members, at=at, origin=f"gpu-kernels-{folder}",
                   tag="" if dice.random() < 0.1 else f"submit/{folder}")


def _time(dice: random.Random) -> str:
    return (DEADLINE + datetime.timedelta(seconds=dice.randrange(-2 * 86_400, 5 * 86_400))).isoformat()


def _handed_in(store: Store, dice: random.Random, entry: ManifestEntry) -> None:
    """One to three hand-ins for each assignment, some graded twice, and some of one file at two times."""
    made, whole = [], samples.result(entry.folder)
    for name in (*NAMES, REMOVED):
        file = ""
        for number in range(dice.choice((1, 1, 2, 3))):
            file = file if file and dice.random() < 0.2 else hashlib.sha256(
                f"{entry.folder} {name} {number}".encode()).hexdigest()
            at = entry.submitted_at if number == 0 else entry.submitted_at and _time(dice)
            for _ in range(dice.choice((1, 1, 2))):
                a = samples.assignment(name, verdict := dice.choice(VERDICTS), score={"accepted": 60.0}.get(
                    verdict, 0.0 if verdict in ("missing", "needs_gpu", "infrastructure_error") else
                    dice.randrange(0, 240) / 4))
                head: Attempt = draft(
                    name, entry.folder, members=tuple(member.id for member in entry.members), submission=file,
                    submitted_at=at, verdict=verdict, score=a.score, max_score=a.max_score)
                made.append((head, with_assignments(whole, {name: a})))
    store.add(made, "log")
