"""course.toml: the shipped one is valid, a broken one is told in one line with file, key and what was expected."""

from pathlib import Path

import pytest

from grader.course import catalogue
from grader.course.course import read_course
from grader.errors import UserError
from grader.home import ROOT

KNOWN = frozenset({"silu", "gemm"})

BROKEN = {
    "not TOML": ("[points\n", "not TOML"),
    "not UTF-8": ("\udcff", "not TOML"),
    "unknown table": ("[point]\ncorrectness = 60\n", "point: no such key"),
    "unknown key": ("[points]\ncorectness = 60\n", "points.corectness: no such key"),
    "number for a table": ("points = 60\n", "points: expected a table, got '60'"),
    "true for a number": ("[points]\ncorrectness = true\n", "points.correctness"),
    "negative points": ("[points]\ncorrectness = -1\n", "points.correctness"),
    "text for a number": ('[limits]\ncall_seconds = "ten"\n', "limits.call_seconds"),
    "unknown word": ('[points]\ncredit = "some"\n', "points.credit"),
    "unknown target": (
        '[gpu]\ntarget = "sm_70"\n', "gpu.target: expected one of sm_80, sm_90, sm_100, sm_121, got 'sm_70'"),
    "number for a target": ("[gpu]\ntarget = 90\n", "gpu.target: "),
    "unknown treatment of assembly": ('[policy]\nassembly = "allow"\n', "policy.assembly: "),
    "floor over target": ("[thresholds]\nfloor = 2\n", "floor below target"),
    "call over assignment": ("[limits]\ncall_seconds = 50\n", "expected call_seconds of at most assignment_seconds"),
    "unknown assignment": ("[points.assignments.slu]\ncorrectness = 1\nperformance = 1\n", "no such assignment"),
    "infinite": ("[limits]\ncall_seconds = inf\n", "limits.call_seconds"),
    "deep": ("a = " + "[" * 5000, "not TOML"),
    "long number": ("[points]\ncorrectness = " + "9" * 5000, "not TOML"),
    "long hexadecimal number": ("[points]\ncorrectness = 0x" + "f" * 5000, "points.correctness"),
    "deep keys": ("points = [{a" + ".a" * 3000 + " = 1}]", "points: expected a table, got list"),
    "line break in a key": ('"a\\nb" = 1', "a\\nb: no such key"),
    "no assignment": ("assignments = []\n", "assignments: expected a list of at least one name"),
    "assignments as text": ('assignments = "silu"\n', "assignments: expected a list of at least one name"),
    "assignments as numbers": ("assignments = [1]\n", "assignments: expected a list of at least one name"),
    "assignment that is not there": (
        'assignments = ["silu", "slu"]\n', "assignments: 'slu': no such assignment; choose from gemm, silu"),
    "an assignment twice": ('assignments = ["silu", "gemm", "silu"]\n',
                            "assignments: assignment 'silu' is listed twice; list it once"),
    "unknown condition": ("[structure.silu]\ncoalesce = true\n", "structure.silu: 'coalesce': no such condition; "
                          "coalesced meant?"),
    "conditions of nobody": ("[structure.slu]\ncoalesced = true\n", "structure.slu: no such assignment"),
    "number for a switch": ("[structure.silu]\ncoalesced = 2\n", "structure.silu: coalesced: expected true or false"),
    "true for a limit": ("[structure.silu]\nlaunches_at_most = true\n", "launches_at_most: expected a number, such as"),
    "text for a limit": ('[structure.silu]\nlaunches_at_most = "1"\n', "launches_at_most: expected a number, got '1'"),
    "negative limit": ("[structure.silu]\nlaunches_at_most = -1\n", "expected a number from 0 on, got -1"),
    "required and off": ('[structure.silu]\ncoalesced = false\nrequires = ["coalesced"]\n',
                         "structure.silu: coalesced is required and false"),
    "no list of required": ('[structure.silu]\nrequires = "coalesced"\n', "structure.silu.requires: expected a list"),
    "unknown requirement": ('[structure.silu]\nrequires = ["fast"]\n', "structure.silu.requires: 'fast': no such"),
    "points for nothing": ("assignments = ['gemm']\n[points]\nstructure = 20\n[structure.gemm]\ntensor_cores = false\n"
                           "flop_per_byte_at_least = false\ncoalesced = false\nbank_conflicts_at_most = false\n",
                           "structure.gemm: no condition earns its 20 points"),
    "two rules of what counts": ('[submissions]\ncounts = "last"\n[late]\ncount = "best"\n',
                                "late: count is 'best', and submissions.counts 'last'; leave one of them out"),
    "own checksum": ('sha256 = "0"\n', "no such key"),
}


def test_the_shipped_course_is_valid_and_says_its_defaults() -> None:
    shipped = read_course(ROOT / "course.toml", frozenset(catalogue.assignments()))
    assert shipped.points_of("silu").correctness == 60
    assert shipped.points_of("silu").performance == 40
    assert shipped.points.credit == "all"
    assert (shipped.gpu.target, shipped.policy.assembly) == ("sm_90", "show")


def test_the_two_courses_share_no_assignment_and_name_a_threshold_for_each_of_theirs() -> None:
    known = frozenset(catalogue.assignments())
    files = ROOT / "course.toml", ROOT / "examples/first-kernels.toml"
    first, second = (read_course(path, known) for path in files)
    assert first.assignments and second.assignments
    assert sorted(first.assignments + second.assignments) == sorted(known)
    assert all(set(course.thresholds.assignments) == set(course.assignments or ()) for course in (first, second))


@pytest.mark.parametrize(("text", "says"), BROKEN.values(), ids=BROKEN)
def test_a_broken_course_is_told_in_one_line(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "course.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(UserError) as info:
        read_course(path, KNOWN)
    message = str(info.value)
    assert says in message and str(path) in message and "\n" not in message


def test_a_missing_course_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="No such file"):
        read_course(tmp_path / "course.toml", KNOWN)


@pytest.mark.parametrize(("text", "count"), [
    ("", "latest"), ('[submissions]\ncounts = "best"\n', "best"), ('[submissions]\ncounts = "last"\n', "latest"),
    ('[submissions]\ncounts = "chosen"\n[late]\npercent = 10\n', "chosen"), ('[late]\ncount = "chosen"\n', "chosen")])
def test_which_attempt_counts_is_said_in_either_table(tmp_path: Path, text: str, count: str) -> None:
    path = tmp_path / "course.toml"
    path.write_text(text)
    assert read_course(path, KNOWN).late.count == count


def test_an_assignment_may_have_points_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "course.toml"
    path.write_text("[points.assignments.gemm]\ncorrectness = 10\nperformance = 90\n")
    course = read_course(path, KNOWN)
    assert (course.points_of("gemm").performance, course.points_of("silu").performance) == (90, 40)


def test_a_course_has_the_assignments_that_it_names_in_the_order_they_are_taught(tmp_path: Path) -> None:
    names = ["silu", "transpose", "gemm"]
    path = tmp_path / "course.toml"
    path.write_text('assignments = ["gemm", "silu"]\n')
    course = read_course(path, frozenset(names))
    assert course.select(names, ()) == ["silu", "gemm"]
    assert course.select(names, ["gemm"]) == ["gemm"]
    assert course.select(names, ["transpose"]) == ["transpose"]
    with pytest.raises(UserError, match="'slu' is no assignment"):
        course.select(names, ["slu"])


def test_a_course_that_names_none_has_all_assignments() -> None:
    known = list(catalogue.assignments())
    shipped = read_course(ROOT / "course.toml", frozenset(known))
    assert shipped.assignments and shipped.select(known, ()) == list(shipped.assignments)
    assert shipped.model_copy(update={"assignments": None}).select(known, ()) == known
