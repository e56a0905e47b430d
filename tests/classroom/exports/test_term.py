"""Every grade of a class of 60 under two late policies, in each export, as the tables beside this file have it."""

import csv
import json
import re
from collections import Counter, defaultdict
from itertools import zip_longest
from pathlib import Path
from xml.etree import ElementTree

import pytest

from grader.classroom.attempts.store import Store
from grader.classroom.attempts.student_files import refresh
from grader.course.course import read_course
from tests.classroom.exports.term import DEADLINE, NAMES, made
from tests.classroom.exports.test_sheets import export, rows_of

POLICIES = {
    "latest": "percent = 10\nmost = 40\ncap = 80\ngrace_days = 2\n",
    "best": 'count = "best"\npercent = 7.5\nby = "linear"\ngrace_days = 1\n',
}
PEOPLE = Path(__file__).with_name("term.toml").read_text(encoding="utf-8")
DEADLINES = "[late.deadlines]\n" + "".join(
    f"{name} = {(DEADLINE.replace(tzinfo=None)).isoformat()}\n" for name in NAMES)
CLASSROOM50 = ("--classroom", "gpu", "--assignment", "kernels", "--organisation", "https://github.com/course")


@pytest.fixture(scope="module")
def term(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("term"), seed=60)


@pytest.mark.parametrize("policy", ["latest", pytest.param("best", marks=pytest.mark.full)])
def test_every_cell_of_every_export(term: Path, policy: str, tmp_path: Path) -> None:
    (term / "course.toml").write_text(
        f'assignments = [{", ".join(map(repr, NAMES))}]\n[points]\ncorrectness = 60\nperformance = 40\n'
        f'[late]\nzone = "Europe/Berlin"\n{POLICIES[policy]}{DEADLINES}{PEOPLE}')
    # As `kernelmark apply` does: files show the attempt that counts under this policy.
    with Store.existing(term / "results") as store:
        assert refresh(store, term / "results", read_course(term / "course.toml", frozenset(NAMES)).late) == []
    rows = exported(term, tmp_path)
    path, kept = tmp_path / "term.csv", Path(__file__).with_name(f"term-{policy}.csv")
    with path.open("w", newline="") as stream:
        table = csv.DictWriter(stream, list(dict.fromkeys(heading for row in rows.values() for heading in row)),
                               lineterminator="\n")
        table.writeheader()
        table.writerows(rows.values())
    # A comment has the day that it was written.
    path.write_text(re.sub(r"\(\d{4}-\d\d-\d\d\)", "(today)", path.read_text()))
    pairs = zip_longest(path.read_text().splitlines(), kept.read_text().splitlines())
    assert [pair for pair in pairs if len({*pair}) > 1] == [], f"if these grades are right: cp {path} {kept}"


def exported(term: Path, out: Path) -> dict[str, dict[str, object]]:
    """The table of people, with the cells that each has in other exports, by person and then by folder."""
    course = ("results", "--course", "course.toml")
    whole = (*course, "--intake", "class", "--roster", "roster.csv")
    export("csv", *whole, "--out", out / "grades.csv", cwd=term)
    rows: dict[str, dict[str, object]] = {who: {**row} for who, row in rows_of(out / "grades.csv").items()}
    folders = defaultdict(list)
    for row in rows.values():
        folders[row["folder"]].append(row)
    for end, only, column in (("all", (), "Kernels"), (NAMES[0], ("--only", NAMES[0]), "First")):
        for kind, more in (("canvas", ("--column", column)), ("moodle", ())):
            path = out / f"{kind}-{end}.csv"
            export(kind, *whole, *only, "--sheet", f"{kind}.csv", *more, "--out", path, cwd=term)
            for cells in list(csv.reader(path.read_text().splitlines()))[2 if kind == "canvas" else 1:]:
                rows[cells[2]] |= {f"{kind} {end}": cells[-1 if kind == "canvas" else 4],
                                   **({f"{kind} {end} words": cells[-1]} if kind == "moodle" else {})}
    export("classroom50", *whole, *CLASSROOM50, "--out", out / "classroom50", cwd=term)
    for path in (out / "classroom50").iterdir():
        one = json.loads(path.read_text())
        for row in folders[path.stem]:
            row["classroom50"] = (f"{one['score']} of {one['max-score']}, {one['datetime']}, {one['submission']}: "
                                  f"{[test['score'] for test in one['tests']]}")
    for folder in sorted(name for name in map(str, folders) if name.startswith("repo"))[::6]:
        if any(row.get(f"{name}_verdict") == "infrastructure_error" for row in folders[folder] for name in NAMES):
            continue
        export("gradescope", *whole, "--student", folder, "--out", out / "one.json", "--force", cwd=term)
        one = json.loads((out / "one.json").read_text())
        for row in folders[folder]:
            row["gradescope"] = f"{one['score']}: " + ", ".join(
                f"{test.get('score')} of {test.get('max_score')}" for test in one["tests"] if "." not in test["number"])
    export("junit", *course, "--out", out / "checks.xml", cwd=term)
    for suite in ElementTree.parse(out / "checks.xml").getroot():
        tags = Counter((case.get("classname"), case[0].tag if len(case) else "passed") for case in suite)
        for row in folders[suite.get("name", "")]:
            row["junit"] = ", ".join(f"{name} {tag} {count}" for (name, tag), count in tags.items())
    return rows
