"""A class as one is on the morning after a deadline: long ids, groups, strays, failures of ours, measured speed."""

import random

from grader.pages.load import Entry, Failure
from grader.pages.people import Owner
from grader.results.result import REFERENCE, Rung
from grader.results.verdicts import Verdict
from tests.pages import samples, speeds

PATTERNS = ("mistake: last block missing", "stride", "grid", "not finite", "race")
KINDS = ("out_of_bounds", "exception", "syntax_error", "compile_error")
LONG = "van-der-bergschoonhoven_christopher_12345678"
GROUP = "ada-okafor, radia-lindqvist, hedy-nguyen"
GRADERS_WORDS = "A worker could not be started."


def entries(count: int, *, speed: bool = False, seed: int = 7) -> list[Entry]:
    """The same for the same seed. The first has a long id, the second is a group."""
    dice = random.Random(seed)
    made = []
    for number, (folder, result) in enumerate(samples.class_of(count, seed)):
        result.student = (LONG, GROUP)[number] if number < 2 else result.student
        for name, a in result.assignments.items():
            verdict: Verdict = a.verdict
            if verdict == "accepted" and dice.random() < 0.02:
                verdict = "infrastructure_error"
            quick = speeds.performance(name, faster=dice.lognormvariate(-0.3, 0.5), seed=number) if speed else None
            if quick:
                quick.ladder = [Rung(name=REFERENCE, ratio=1.2)]
            a = samples.assignment(name, verdict, speed=quick)
            a.seconds = round(dice.lognormvariate(0, 0.7), 3)
            for check in a.correctness.checks:
                if check.detail and verdict == "wrong_answer":
                    check.detail.pattern = PATTERNS[number % len(PATTERNS)]
                    a.repair = samples.REPAIR
                elif check.detail and verdict == "runtime_error":
                    check.detail.kind = KINDS[number % len(KINDS)]  # type: ignore[assignment]
            if verdict == "missing" and number % 9 == 0:
                a.elsewhere, a.message = [f"hw1/{name}_final.py"], f"Found hw1/{name}_final.py; {name}.py expected."
            result.assignments[name] = a
        result.score = sum(a.score for a in result.assignments.values())
        result.measured_max = sum(a.measured_max for a in result.assignments.values())
        if speed:
            result.environment = samples.environment("NVIDIA H200")
        made.append(Entry(folder, result))
    return made


PEOPLE = (
    "Jörg Müller", "Siobhán O’Neill", "李雷", "محمد الفارسي", "Łukasz Żółkiewski", "Nguyễn Thị Minh Khai", "דוד כהן",
    "Anne-Sophie d'Arcy de la Tour", "Ólafur Þórðarson", "山田 太郎", "Σοφία Παπαδοπούλου", "김민준", "Strauß, Björn",
    "Øystein Ångström", "Maximiliane-Friederike von und zu Hohenlohe-Schillingsfürst-Wittgenstein", "Zoë N'Diaye",
    "สมชาย ใจดี", "Иван Петров", "Ada Byron", "Wolfeschlegelsteinhausenbergerdorffwelchevoralternwaren")
"""Names as rosters have them, all invented: long ones, with accents and apostrophes, from right to left."""
SECTIONS = ("Tutorial A", "Tutorial B", "Übung am Dienstag", "")


def named(entries: list[Entry]) -> list[Entry]:
    """The same class with names and sections as a roster gives them, each name once, and then with a number; and with
    ids that are numbers."""
    for at, entry in enumerate(entries):
        entry.result.student = f"{70_000 + at}"
    return [Entry(entry.folder, entry.result, Owner(
        PEOPLE[at % len(PEOPLE)] + (f" {at // len(PEOPLE) + 1}" if at >= len(PEOPLE) else ""),
        SECTIONS[at % len(SECTIONS)])) for at, entry in enumerate(entries)]


FAILURES = (Failure("torn", "There is no result.json: the grading did not finish."),)
