"""Which of a submission's files are graded, and what is said of each of the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.intake.made import Files, laid_out, source_of, take_in, whys, zipped

SILU, GEMM, NORM = source_of("silu"), source_of("gemm"), source_of("rmsnorm_vector")
EXPECTED: dict[str, tuple[Files, dict[str, str], dict[str, str]]] = {
    "its own name before any other": (
        {"silu.py": SILU, "silu_old.py": "", "hw/silu.py": ""}, {"silu.py": "silu.py"},
        dict.fromkeys(["silu_old.py", "hw/silu.py"], "silu.py lies there under its own name")),
    "the one that can be meant": (
        {"hw/SiLU (1).py": SILU, "report.pdf": ""}, {"silu.py": "hw/SiLU (1).py"},
        {"report.pdf": "no assignment's file"}),
    "by what it defines": ({"work.py": SILU + GEMM}, {"silu.py": "work.py", "gemm.py": "work.py"}, {}),
    "the one that is least deep": (
        {"a/silu.py": SILU, "a/old/silu.py": "", "b.py": ""}, {"silu.py": "a/silu.py"},
        {"a/old/silu.py": "silu.py is taken from a/silu.py", "b.py": "no assignment's file"}),
    "two are one too many": (
        {"silu_a.py": SILU, "silu_b.py": SILU}, {},
        dict.fromkeys(["silu_a.py", "silu_b.py"], "one of 2 that seem to be meant for silu.py; silu.py expected")),
    "a notebook is told of what is missing": (
        {"silu.py": SILU, "rmsnorm_vector.py": NORM, "work.ipynb": "{}"},
        {"silu.py": "silu.py", "rmsnorm_vector.py": "rmsnorm_vector.py"},
        {"work.ipynb": "no Python file; gemm.py expected"}),
    "a notebook may be meant for many": (
        {"work.ipynb": "{}"}, {}, {"work.ipynb": "no Python file; silu.py, gemm.py, rmsnorm_vector.py expected"}),
    "tests are about a kernel, and none": ({"test_silu.py": SILU}, {}, {"test_silu.py": "no assignment's file"}),
    "what a system wrote": (
        {"silu.py": SILU, "__pycache__/gemm.py": GEMM, "._gemm.py": ""}, {"silu.py": "silu.py"},
        dict.fromkeys(["__pycache__/", "._gemm.py"], "hidden, installed, or written by a system")),
}


@pytest.mark.parametrize("packed", [False, True], ids=["folder", "archive"])
@pytest.mark.parametrize("what", EXPECTED)
def test_what_is_taken_and_why_the_rest_is_left(tmp_path: Path, what: str, packed: bool) -> None:
    files, taken, left = EXPECTED[what]
    if packed:
        laid_out(tmp_path / "all" / "ada", {"hw.zip": zipped(tmp_path / "hw.zip", files).read_bytes()})
    else:
        laid_out(tmp_path / "all" / "ada", files)
    manifest, written = take_in(tmp_path / "all")
    (one,) = manifest.submissions
    inside = "hw.zip/" * packed
    assert one.taken == {file: inside + name for file, name in taken.items()}
    assert {name: why.replace("from hw.zip/", "from ") for name, why in whys(one).items()} == {
        inside + name: why for name, why in left.items()}
    for file, name in taken.items():
        assert written["ada"][file] == files[name]


def test_an_archive_is_told_of_once(tmp_path: Path) -> None:
    nothing = zipped(tmp_path / "hw.zip", {}).read_bytes()
    laid_out(tmp_path / "all", {"ada/hw.zip": nothing, "bo/hw.zip": b"PK\3\4 no"})
    manifest, written = take_in(tmp_path / "all")
    ada, bo = manifest.submissions
    assert whys(ada) == {"hw.zip": "an archive that holds no file"} and not ada.problems
    assert not bo.left and len(bo.problems) == 1 and bo.problems[0].startswith("hw.zip: is damaged")
    # Its report names it.
    assert list(written["bo"]) == ["hw.zip"]
