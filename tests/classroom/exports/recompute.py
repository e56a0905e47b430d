"""Computes every grade of a class a second time, and compares each cell of each export with it.

    python tests/classroom/exports/recompute.py FOLDER

Reads `results/`, `class/intake.json`, `roster.csv` and `course.toml` in FOLDER, and the exports that lie in
FOLDER/exports. It shares no code with the grader: the rules for standing attempts, lateness and grace days are written
down here once more, from docs/grading.md, and grace days are tried in every way there is. Exit status 1 if a cell
differs.
"""

from __future__ import annotations

import contextlib
import csv
import datetime
import itertools
import json
import math
import sqlite3
import sys
import tomllib
import zoneinfo
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

OPEN = ("needs_gpu", "infrastructure_error")
Rows = list[list[str]]
Row = dict[str, Any]
Cells = dict[str, float | None]


class Grade(NamedTuple):
    """`cells` are the ways in which points by assignment can come to the best total, all as good."""

    total: float | None
    max_score: float
    cells: list[Cells]


class Term:
    """The class in a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.course = tomllib.loads((root / "course.toml").read_text())
        self.late: Row = self.course.get("late", {})
        self.names: list[str] = self.course["assignments"]
        head, *rows = _rows(root / "roster.csv")
        self.roster = {row[0]: dict(zip(head, row, strict=True)) for row in rows}
        mails = {row["email"]: row["id"] for row in self.roster.values()}
        self.intake: Row = {one["folder"]: one for one in json.loads(
            (root / "class" / "intake.json").read_text())["submissions"]}
        self.people = {member["id"]: mails.get(member["email"], member["id"])
                       for one in self.intake.values() for member in one["members"]}
        self.results: Row = {}
        for folder in sorted(path for path in (root / "results").iterdir() if (path / "result.json").is_file()):
            whole = root / "results" / ".staff" / folder.name / "result.json"
            self.results[folder.name] = json.loads((whole if whole.is_file() else folder / "result.json").read_text())
        self.work, self.graded = self._standing()
        self.marks = self._given()
        # A grade that a person alone gave is one, too.
        self.graded |= {name for (who, name), given in self.marks.items() if (who, name) not in self.work
                        and any(mark["points"] for mark in given)}
        self.graded |= {one["assignment"] for one in self.late.get("overrides", [])}

    def members(self, folder: str) -> list[str]:
        return [self.people[member["id"]] for member in self.intake[folder]["members"]]

    def _standing(self) -> tuple[dict[tuple[str, str], list[Row]], set[str]]:
        """The attempt that stands of every hand-in, by person and assignment; and the assignments that have a grade."""
        with contextlib.closing(sqlite3.connect(self.root / "results" / ".attempts" / "attempts.sqlite3")) as store:
            attempts = {row[0]: json.loads(row[1]) | {"id": row[0]} for row in store.execute(
                "select id, head from attempts order by id")}
            decisions = store.execute("select batch, attempt, undoes from decisions order by id").fetchall()
        hand_ins: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
        for head in attempts.values():
            hand_ins[self._hand_in(head)].append(head)
        stands = {key: min(heads, key=lambda head: (self._doubt(head), head["id"])) for key, heads in hand_ins.items()}
        undone = {undoes for _, _, undoes in decisions}
        for batch, attempt, _ in decisions:
            if attempt is not None and batch not in undone:
                stands[self._hand_in(attempts[attempt])] = attempts[attempt]
        work = defaultdict(list)
        for key, head in stands.items():
            for member in {self.people.get(member, member) for member in head["members"]}:
                work[member, head["assignment"]].append(head | {"first": hand_ins[key][0]["id"]})
        return work, {head["assignment"] for head in stands.values() if head["verdict"] not in OPEN}

    def _given(self) -> dict[tuple[str, str], list[Row]]:
        """What counts of what people gave and said, by person and assignment: the newest of each kind."""
        with contextlib.closing(sqlite3.connect(self.root / "results" / ".attempts" / "attempts.sqlite3")) as store:
            marks = [json.loads(head) | {"id": number} for number, head in store.execute(
                "select id, head from marks order by id")]
        newest = {mark["id"] if mark["kind"] == "request" else tuple(
            mark[key] for key in ("kind", "of", "slug", "student", "assignment")): mark for mark in marks}
        given = defaultdict(list)
        for mark in newest.values():
            for who in [mark["student"]] if mark["student"] else self.members(mark["slug"]):
                if mark["points"] or mark["comment"]:
                    given[who, mark["assignment"]].append(mark)
        return given

    @staticmethod
    def _hand_in(head: Row) -> tuple[Any, ...]:
        return tuple(head[key] for key in ("slug", "assignment", "submission", "submitted_at", "turn"))

    @staticmethod
    def _doubt(head: Row) -> int:
        return {"needs_gpu": 1, "infrastructure_error": 2}.get(head["verdict"], 0)

    def deadline(self, who: str, name: str) -> datetime.datetime | None:
        zone = zoneinfo.ZoneInfo(self.late.get("zone", "UTC"))
        ends = [end for end in [self.late.get("deadlines", {}).get(name)] if end]
        if ends:
            ends += [one["until"] for one in self.late.get("extensions", [])
                     if one["student"] == who and one.get("assignment", name) == name]
        return max((end if end.tzinfo else end.replace(tzinfo=zone) for end in ends), default=None)

    def grade(self, who: str, names: list[str]) -> Grade:
        """Of these assignments; grace days are spent over all."""
        fixed: Cells = {}
        beside = {name: sum(mark["points"] for mark in self.marks.get((who, name), [])) for name in self.names}
        most: dict[str, float] = {}
        ways: dict[str, list[tuple[int, float]]] = {}
        still_open = set()
        allowed = self.roster.get(who, {}).get("late_days") or self.late.get("grace_days", 0)
        for name in self.names:
            work = self.work.get((who, name), [])
            points = self.course["points"]
            top = max((head["max_score"] for head in work), default=points["correctness"] + points["performance"])
            given, excused = ([one for one in self.late.get(what, []) if (one["student"], one["assignment"]) == (
                who, name)] for what in ("overrides", "excused"))
            if excused:
                fixed[name], most[name] = None, 0
            elif given:
                fixed[name], most[name] = given[0]["points"], top
            elif options := self._options(self._eligible(work), self.deadline(who, name), int(allowed)):
                ways[name], most[name] = options, top
            else:
                some = beside[name] and not work
                fixed[name], most[name] = max(beside[name], 0.0) if some else None, (
                    top if work or name in self.graded else 0)
                still_open |= {name} if work else set()
        best = self._best(fixed, most, ways, int(allowed), names, still_open)
        # Given points move no grace day.
        cells = [{name: max(0.0, round(points + beside[name], 2)) if name in ways and points is not None else points
                  for name, points in found.items()} for found in best.cells]
        parts = [points for points in cells[0].values() if points is not None]
        return Grade(None if best.total is None else round(sum(parts), 2), best.max_score, cells)

    @staticmethod
    def _best(
        fixed: Cells, most: dict[str, float], ways: dict[str, list[tuple[int, float]]], allowed: int, names: list[str],
        still_open: set[str],
    ) -> Grade:
        tried = [(round(sum(points for _, points in chosen), 2), -days, fixed | dict(zip(
            ways, (points for _, points in chosen), strict=True)))
            for chosen in itertools.product(*ways.values()) if (days := sum(days for days, _ in chosen)) <= allowed]
        top = max(one[:2] for one in tried)
        cells = [{name: found[name] for name in names} for *order, found in tried if tuple(order) == top]
        parts = [points for points in cells[0].values() if points is not None]
        total = None if still_open & set(names) or not parts else round(sum(parts), 2)
        return Grade(total, sum(most[name] for name in names), cells)

    def late_word(self, who: str, said: str) -> str:
        """`yes` if something that counts came after its deadline, else `no`; blank without times. What is `said` where
        that depends on which of several is the best."""
        found = []
        excused = {one["assignment"] for one in self.late.get("excused", []) if one["student"] == who}
        for name in self.names:
            deadline, work = self.deadline(who, name), self._eligible(self.work.get((who, name), []))
            if deadline and name not in excused:
                found.append({"" if not head["submitted_at"] or head["verdict"] == "missing" else
                              "yes" if _moment(head["submitted_at"]) > deadline else "no"
                              for head in [head for head in work if head["verdict"] not in OPEN] or work})
        if {"yes"} not in found and any(len(words) > 1 for words in found):
            return said
        return max(itertools.chain.from_iterable(found), default="")

    def _eligible(self, work: list[Row]) -> list[Row]:
        if self.late.get("count", "latest") == "best":
            timed = {head["submission"] for head in work if head["submitted_at"]}
            return [head for head in work if head["submitted_at"] or head["submission"] not in timed]
        sound = [head for head in work if head["verdict"] != "infrastructure_error"]
        work = [head for head in sound if head["verdict"] != "missing"] or sound or work
        last = {head["submission"]: head for head in sorted(work, key=lambda head: head["first"])}.values()
        if all(head["submitted_at"] for head in last):
            return sorted(last, key=lambda head: (_moment(head["submitted_at"]), head["first"]))[-1:]
        return sorted(last, key=lambda head: head["first"])[-1:]

    def _options(self, work: list[Row], deadline: datetime.datetime | None, allowed: int) -> list[tuple[int, float]]:
        """Grace days with the points that they give, the best hand-in for each number of them. Exact: a half of a
        hundredth is rounded up."""
        found: dict[int, float] = {}
        for head in work:
            if head["verdict"] in OPEN:
                continue
            late = Fraction(0)
            if deadline and head["submitted_at"]:
                late = self._days_late(_moment(head["submitted_at"]), deadline)
            for days in range(min(allowed, math.ceil(late)) + 1):
                points, left = Fraction(head["score"]), max(Fraction(0), late - days)
                if left:
                    count = left if self.late.get("by") == "linear" else math.ceil(left)
                    percent = min(Fraction(self.late.get("most", 100)), Fraction(self.late.get("percent", 0)) * count)
                    points *= 1 - percent / 100
                    points = min(points, Fraction(head["max_score"]) * Fraction(self.late.get("cap", 100)) / 100)
                found[days] = max(found.get(days, 0.0), math.floor(points * 100 + Fraction(1, 2)) / 100)
        return list(found.items())

    def _days_late(self, moment: datetime.datetime, deadline: datetime.datetime) -> Fraction:
        """Days from one time of the course's clock to the same time of the next date, and the part of the last one."""
        zone = zoneinfo.ZoneInfo(self.late.get("zone", "UTC"))
        begin, shown, whole = deadline, deadline.astimezone(zone).replace(tzinfo=None), 0
        while moment > begin:
            shown += datetime.timedelta(days=1)
            # An hour that clocks show twice ends at its second turn, one that they skip where it would have ended.
            end = max(shown.replace(tzinfo=zone, fold=fold).astimezone(datetime.UTC) for fold in (0, 1))
            if moment < end:
                return whole + Fraction(int((moment - begin).total_seconds()), int((end - begin).total_seconds()))
            begin, whole = end, whole + 1
        return Fraction(whole)


def _rows(path: Path) -> Rows:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


def _moment(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text)


def _text(points: float | None) -> str:
    return "" if points is None else f"{points:.2f}".rstrip("0").rstrip(".")


def _measured(a: Row) -> float:
    if a["verdict"] in OPEN:
        return 0
    speed = a["performance"]
    return float(a["correctness"]["max_points"] + (speed["max_points"] if speed["status"] == "measured" else 0))


def canvas(term: Term, made: Rows, sheet: Rows, names: list[str], column: str) -> list[str]:
    at = sheet[0].index(column)
    rows = [[*row[:5], row[at]] for row in sheet[:2]]
    for row in sheet[2:]:
        total = term.grade(row[2], names).total if row[2] in term.roster and _known(term, row[2], names) else None
        rows += [[*row[:5], _text(total)]] if total is not None and row[at] not in ("EX", "N/A") else []
    return _differences(f"canvas {','.join(names)}", made, rows)


def moodle(term: Term, made: Rows, sheet: Rows, names: list[str]) -> list[str]:
    at, feedback = sheet[0].index("Grade"), sheet[0].index("Feedback comments")
    rows = [list(row) for row in sheet]
    for row in rows[1:]:
        if (total := term.grade(row[2], names).total) is not None and _known(term, row[2], names):
            row[at] = _text(total)
            said = [mark["comment"] for name in names for mark in term.marks.get((row[2], name), [])]
            # In the words of the grader, which are not its reckoning.
            cell = next((other[feedback] for other in made if other[0] == row[0]), "")
            row[feedback] = cell if bool(said) == bool(cell) and all(text in cell for text in said) else str(said)
    return _differences(f"moodle {','.join(names)}", made, rows)


def _known(term: Term, who: str, names: list[str]) -> bool:
    """Whether something was handed in, or points were given: others are left out."""
    return any(who in term.members(folder) for folder in term.results) or any(
        one["student"] == who and one["assignment"] in names for one in term.late.get("overrides", [])) or any(
        (who, name) in term.marks for name in names)


def table(term: Term, made: Rows) -> list[str]:
    found = {row[0]: dict(zip(made[0], row, strict=True)) for row in made[1:]}
    here = {who: folder for folder in term.results for who in term.members(folder)}
    wrong = [] if set(found) == {*here, *term.roster} and len(found) == len(made) - 1 else ["csv: other people"]
    for who, row in found.items():
        person, folder = term.roster.get(who, {"id": who}), here.get(who, "")
        grade = term.grade(who, term.names)
        if not folder and not _known(term, who, term.names):
            grade = Grade(None, math.nan, [dict.fromkeys(term.names)])
        expected = {key: person.get(key, "") for key in ("id", "name", "email", "section")} | {
            "folder": folder, "grade": _text(grade.total), "max_score": _text(grade.max_score).replace("nan", ""),
            "late": term.late_word(who, row["late"]), "problems": "",
            "submitted_at": (folder and term.intake[folder]["submitted_at"]) or ""}
        judged = {name: a for name, a in term.results[folder]["assignments"].items()
                  if name in term.names} if folder else {}
        unjudged = not judged or any(a["verdict"] in OPEN for a in judged.values())
        expected["score"] = "" if unjudged else _text(round(sum(a["score"] for a in judged.values()), 2))
        expected["measured_max"] = _text(sum(map(_measured, judged.values()))) if folder else ""
        for name in term.names:
            a = judged.get(name)
            expected[f"{name}_points"] = _text(a["score"]) if a and a["verdict"] not in OPEN else ""
            expected[f"{name}_verdict"] = a["verdict"] if a else ""
            if f"{name}_marks" in row:
                given = term.marks.get((who, name), [])
                expected[f"{name}_marks"] = _text(sum(mark["points"] for mark in given) or None)
                expected[f"{name}_comment"] = row[f"{name}_comment"]
                wrong += [f"csv, {who}: not {mark}" for mark in given if mark["comment"] not in row[f"{name}_comment"]]
        cells = [{f"{name}_grade": _text(points) for name, points in ways.items()} for ways in grade.cells]
        wrong += [f"csv, {who}, {key}: {row.get(key)!r}, not {value!r}"
                  for key, value in expected.items() if row.get(key) != value]
        grades = {f"{name}_grade": row[f"{name}_grade"] for name in term.names}
        wrong += [] if grades in cells else [f"csv, {who}: {grades}, none of {cells}"]
        wrong += [f"csv: column {key}" for key in row if key not in expected and key not in grades]
    return wrong


def gradescope(term: Term, made: Row, folder: str) -> list[str]:
    grade = term.grade(term.members(folder)[0], term.names)
    scored = {test["tags"][0]: test for test in made["tests"] if "." not in test["number"]}
    points = {name: test.get("score") for name, test in scored.items()}
    wrong = [] if made["score"] == round(sum(value or 0 for value in points.values()), 2) else ["the sum is another"]
    wrong += [] if points in grade.cells else [f"{points}, none of {grade.cells}"]
    for name, test in scored.items():
        a = term.results[folder]["assignments"][name]
        if "score" in test and test["max_score"] != a["max_score"]:
            wrong.append(f"{name}: of {test['max_score']}")
    return [f"gradescope, {folder}: {line}" for line in wrong]


def classroom50(term: Term, made: dict[str, Row]) -> list[str]:
    wrong = []
    for folder in term.results:
        one, members = term.intake[folder], term.members(folder)
        grades = [term.grade(who, term.names) for who in members]
        possible = (one["submitted_at"] and one["tag"] and len({grade.total for grade in grades}) == 1
                    and grades[0].total is not None and grades[0].total <= grades[0].max_score
                    and len({json.dumps(grade.cells) for grade in grades}) == 1)
        found = made.get(folder)
        if not possible or found is None:
            wrong += [f"classroom50, {folder}"] if bool(possible) != (found is not None) else []
            continue
        tests = {test["test-name"]: test["score"] for test in found["tests"]}
        whole = [{name: math.floor((points or 0) + 0.5) for name, points in cells.items() if name in tests}
                 for cells in grades[0].cells]
        total = math.floor((grades[0].total or 0) + 0.5)
        moment = _moment(one["submitted_at"]).astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        if (found["score"], found["max-score"], found["datetime"], found["submission"]) != (
                total, grades[0].max_score, moment, one["tag"]) or tests not in whole:
            wrong.append(f"classroom50, {folder}: {found['score']} and {tests}, not {total} and {whole}")
    return wrong


def junit(term: Term, made: ElementTree.Element) -> list[str]:
    found = {suite.get("name", ""): [(case.get("classname"), case.get("name"), [child.tag for child in case])
                                 for case in suite] for suite in made}
    tags: dict[str, list[str]] = {"passed": [], "failed": ["failure"], "not_run": ["skipped"]}
    expected = {folder: [(name, check["id"], ["error"] if a["verdict"] == "infrastructure_error" and check["detail"]
                          else tags[check["outcome"]])
                         for name, a in result["assignments"].items() if name in term.names
                         for check in a["correctness"]["checks"]] for folder, result in term.results.items()}
    return [f"junit, {folder}" for folder in {*found, *expected} if found.get(folder) != expected.get(folder)]


def _differences(what: str, made: Rows, expected: Rows) -> list[str]:
    wrong = [f"{what}: {row} and not {other}" for row, other in zip(made, expected, strict=False) if row != other]
    return wrong + ([f"{what}: {len(made)} rows, not {len(expected)}"] if len(made) != len(expected) else [])


def differences(root: Path) -> list[str]:
    """A line for each cell that differs, and for each export that is not there."""
    term, exports = Term(root), root / "exports"
    wrong = []
    for names, column in ((term.names, "Kernels (9)"), (term.names[:1], "First (10)")):
        end = f"{names[0]}.csv" if len(names) == 1 else "all.csv"
        wrong += canvas(term, _rows(exports / f"canvas-{end}"), _rows(root / "canvas.csv"), names, column)
        wrong += moodle(term, _rows(exports / f"moodle-{end}"), _rows(root / "moodle.csv"), names)
    wrong += table(term, _rows(exports / "grades.csv"))
    for path in sorted((exports / "gradescope").iterdir()):
        wrong += gradescope(term, json.loads(path.read_text()), path.stem)
    wrong += classroom50(term, {path.stem: json.loads(path.read_text())
                                for path in (exports / "classroom50").iterdir()})
    return wrong + junit(term, ElementTree.parse(exports / "checks.xml").getroot())


if __name__ == "__main__":
    lines = differences(Path(sys.argv[1]))
    print("\n".join(lines) or "Every cell is as computed here.")
    sys.exit(bool(lines))
