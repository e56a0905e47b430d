"""Whatever stands in course.toml or in a result.json, it is read or told in one line."""

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from grader.course.catalogue import files
from grader.course.course import Course, read_course
from grader.errors import UserError
from grader.home import ROOT
from grader.pages.load import load_results
from tests.fuzz.harness import ODD_JSON, bounded, is_one_line, mutated, no_descriptor_left, within
from tests.pages import samples

SECONDS = 2.0
KNOWN = frozenset(files())
SHIPPED = (ROOT / "course.toml").read_bytes()

TABLES = st.sampled_from([
    b"", b"[points]\n", b"[points.assignments.silu]\n", b"[[points]]\n", b"[limits]\n", b"[thresholds]\n",
    b"[policy]\n", b"[thresholds.assignments.gemm]\n", b'["a\\nb"]\n', b"[points.assignments.other]\n"])
KEYS = st.sampled_from([
    b"correctness", b"performance", b"credit", b"assignments", b"floor", b"target", b"call_seconds", b"memory_mb",
    b"source_kb", b"violation", b"sha256", b"points", b"limits", b'"a\\nb"', b"a.b", b'"\\u2028"'])
ODD_TOML = st.sampled_from([
    b"nan", b"-inf", b"1e999", b"true",
    b"9" * 5000, b"0x" + b"f" * 5000, b"1" + b"0" * 400, b"-1", b"1_0", b'"\\u0000"', b'"""\n\n"""', b"'\x1b'",
    b"1979-05-27T07:32:00+23:59", b"9999-99-99", b"00:00:60", b"[" * 200, b"[" * 5000, b"{a=" * 1000, b"a." * 3000,
    b"[{a" + b".a" * 3000 + b"=1}]", b'"a\\nb"', b'"\xe2\x80\xa8"', b"\xff", b"\xef\xbb\xbf", b"\r\n", b"\r", b" = ",
    b"[" * 50 + b"]" * 50, b"{}", b"[]", b"1", b"0.5", b"50", b"2024", b"'all'", b"{floor = 0.1, target = 0.2}"])
LINES = st.builds(b"%b = %b\n".__mod__, st.tuples(KEYS, ODD_TOML))
SECTIONS = st.builds(b"%b%b".__mod__, st.tuples(TABLES, st.lists(LINES, max_size=3).map(b"".join)))


@bounded(150)
@given(st.one_of(mutated(st.just(SHIPPED), st.one_of(ODD_TOML, st.binary(max_size=5))),
                 st.lists(SECTIONS, max_size=3).map(b"".join), st.binary(max_size=60)))
def test_any_course_is_read_or_told(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "course.toml")
        path.write_bytes(data)
        try:
            with within(SECONDS):
                course = read_course(path, KNOWN)
        except UserError as error:
            assert is_one_line(str(error)) and str(path) in str(error)
            return
    # What was let in is finite, in order, and worth storing.
    assert Course.model_validate_json(course.model_dump_json()) == course
    for name in KNOWN:
        assert 0 <= course.points_of(name).correctness <= 1e6
        assert 0 < course.threshold_of(name).floor < course.threshold_of(name).target <= 1000


def results() -> bytes:
    return samples.every_verdict().model_dump_json(by_alias=True).encode()


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) in a JSON value."""
    inner: list[Any] = list(value.items()) if isinstance(value, dict) else []
    inner += enumerate(value) if isinstance(value, list) else ()
    return [place for key, item in inner for place in [(value, key), *places(item)]]


@st.composite
def with_odd_values(draw: st.DrawFn) -> bytes:
    """A real result, some of whose values are others."""
    value = json.loads(results())
    marks = []
    for number in range(draw(st.integers(1, 3))):
        found = places(value)
        container, key = found[draw(st.integers(0, len(found) - 1))]
        container[key] = f"<odd {number}>"
        marks.append((f'"<odd {number}>"', draw(ODD_JSON)))
    text = json.dumps(value)
    for mark, odd in marks:
        text = text.replace(mark, odd)
    return text.encode()


RESULTS = st.one_of(
    with_odd_values(), mutated(st.builds(results), st.one_of(st.binary(max_size=5), ODD_JSON.map(str.encode))),
    st.binary(max_size=40), ODD_JSON.map(str.encode), st.sampled_from(["fifo", "folder", "link to itself", "nothing"]))


def put(path: Path, what: bytes | str) -> None:
    if isinstance(what, bytes):
        path.write_bytes(what)
    elif what == "fifo":
        os.mkfifo(path)
    elif what == "folder":
        path.mkdir()
    elif what == "link to itself":
        path.symlink_to(path.name)


@bounded(60)
@given(st.lists(RESULTS, max_size=3))
def test_any_result_is_read_or_told_and_hides_no_other(whats: list[bytes | str]) -> None:
    with tempfile.TemporaryDirectory() as folder, no_descriptor_left(), within(SECONDS):
        for number, what in enumerate([results(), *whats]):
            student = Path(folder, f"student{number}")
            student.mkdir()
            put(student / "result.json", what)
        loaded_results = load_results(Path(folder))
    assert ({entry.folder for entry in loaded_results.entries} | {failure.folder for failure in loaded_results.failures}
            == {f"student{number}" for number in range(1 + len(whats))})
    assert "student0" in {entry.folder for entry in loaded_results.entries}
    for failure in loaded_results.failures:
        assert failure.message and failure.message.encode() and len(failure.message.encode()) < 1000
