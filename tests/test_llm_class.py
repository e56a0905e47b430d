"""The test class of the course in examples/llm: each file gets the verdict that it names, in the words that it expects.

`# verdict: NAME` and `# expect: words`, and `# never: words`, stand in the first lines of each file of
`examples/llm/class/<student>/`.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from grader.home import ROOT
from grader.model.catalogue import assignments
from grader.model.result import Result
from tests.command import kernelmark
from tests.graded import told
from tests.members import notes

COURSE = ROOT / "examples" / "llm"
FILES = sorted((COURSE / "class").glob("*/*.py"))
# One that is right and one that is wrong of each assignment; the others take minutes.
FIRST = {"ada", "cleo"}
CASES = [pytest.param(file, id=f"{file.parent.name}/{file.stem}",
                      marks=[] if file.parent.name in FIRST else pytest.mark.full) for file in FILES]


@pytest.mark.parametrize("file", CASES)
def test_verdict(file: Path, tmp_path: Path) -> None:
    done = kernelmark("grade", file.parent, "--only", file.stem, "--out", tmp_path, "--device", "cpu", "--seed", "7",
                      cwd=COURSE)
    (found,) = tmp_path.rglob("result.json")
    result = Result.model_validate_json(found.read_text(encoding="utf-8")).assignments[file.stem]
    said, text = told(result), file.read_text(encoding="utf-8")
    assert [result.verdict] == notes(text, "verdict"), (done.stderr, said)
    for words in notes(text, "expect"):
        assert words.lower() in said.lower(), said
    assert not [words for words in notes(text, "never") if words in said], said


def test_each_assignment_has_two_right_kernels_and_five_wrong_ones() -> None:
    counts: Counter[tuple[str, bool]] = Counter()
    for file in FILES:
        (verdict,) = notes(file.read_text(encoding="utf-8"), "verdict")
        counts[file.stem, verdict == "accepted"] += 1
    names = {name for name, _ in counts}
    assert len(names) >= 4 and names <= set(assignments(COURSE))
    for name in names:
        assert counts[name, True] >= 2 and counts[name, False] >= 5, (name, counts)
