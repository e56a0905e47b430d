"""How long files may be: what CONTRIBUTING.md says."""

from __future__ import annotations

from grader.model.catalogue import ROOT

MOST_LINES = {"": 400, "assignments/": 150}
HANDED_IN = ROOT / "tests" / "submissions"
ROOMS = ("grader", "assignments", "reference", "student_template", "tests", "benchmarks", "docs", "examples")


def test_no_file_is_too_long() -> None:
    lines = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
             for room in ROOMS for path in (ROOT / room).rglob("*.py") if HANDED_IN not in path.parents}
    assert len(lines) > 300 and max(lines.values()) > 300
    assert [name for name, count in lines.items() for start, most in MOST_LINES.items()
            if name.startswith(start) and count > most] == []
