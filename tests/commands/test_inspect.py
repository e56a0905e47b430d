"""`kernelmark inspect`, as it is run: facts about a file's launches, and nothing graded."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grader.course.catalogue import assignments
from grader.course.course import LimitsTable
from grader.home import ROOT
from grader.judging.evidence.inspection import good_figures
from tests.command import SECONDS, kernelmark, refused
from tests.graded import results
from tests.members import Member
from tests.rows import beside, each_row

DATA = beside(__file__)
ROWS: str = DATA["rows"]


def test_a_wasteful_store_stands_first_beside_a_good_kernels_figures(tmp_path: Path) -> None:
    (tmp_path / "transpose.py").write_text(ROWS)
    result = kernelmark("inspect", tmp_path / "transpose.py", "--program", "3", "--ptx", "--out", tmp_path / "out")
    assert (result.returncode, result.stderr) == (0, ""), result
    output = " ".join(result.stdout.split())
    # 8192 × 8192 floats, read in whole sectors and stored one element a sector.
    assert "8,192 programs of 128 threads, 32 of them counted" in output
    assert "Line 11. This moves 8 times what it needs" in output and "Line 10" not in output
    assert "load of x: about 268 MB moved, 268 MB needed; 128 bits at a time" in output
    assert "store of out: about 2.15 GB moved, 268 MB needed; 32 bits at a time" in output
    assert "bytes moved 2.42 GB 537 MB" in output and "a good kernel's" in output
    assert "Program 3 loads 8,192 of 67,108,864 elements of x: row 3, columns 0 to 8,191" in output
    assert "Program 3 stores 8,192 of 67,108,864 elements of out: rows 0 to 8,191, column 3" in output
    assert "st.global.b32" in output and "← store" in output and "points" not in output
    page = (tmp_path / "out/inspection.html").read_text()
    assert "This moves 8 times what it needs" in page and "■" in page and "← store" in page


def test_what_does_not_compile_is_told_and_has_no_facts(tmp_path: Path) -> None:
    (tmp_path / "transpose.py").write_text(ROWS.replace("tl.arange(0, BLOCK)", "tl.arange(0, 1000)"))
    result = kernelmark("inspect", tmp_path / "transpose.py")
    assert result.returncode == 1 and "arange" in result.stdout and "power" in result.stdout, result


def test_a_stub_is_told_in_a_sentence() -> None:
    result = kernelmark("inspect", ROOT / "student_template/silu.py")
    assert result.returncode == 1 and "NotImplementedError" not in result.stdout, result
    assert result.stdout.splitlines()[1].strip() == (
        "Still the stub: write the function, and its kernels are shown here.")


def test_what_is_seen_to_be_wrong_is_told_beside_the_facts(tmp_path: Path) -> None:
    (tmp_path / "transpose.py").write_text(ROWS.replace(", mask=at < N", ""))
    result = kernelmark("inspect", tmp_path / "transpose.py", "--case", "5x9")
    output = " ".join(result.stdout.split())
    assert result.returncode == 0 and "transpose.py:10: The load in line 10 reaches up to" in output, result


@pytest.mark.parametrize(("words", "said"), [
    (["--case", "3x3"], "--case 3x3: no such case; choose from 8192x8192, 16384x4096, 1x1"),
    (["--only", "nothing"], "--only: "),
])
def test_usage_errors_are_one_line(tmp_path: Path, words: list[str], said: str) -> None:
    (tmp_path / "transpose.py").write_text(ROWS)
    refused(said, "inspect", tmp_path / "transpose.py", *words)


# A command that finds the assignments read-only, as a course's repository on a share may be.
READ_ONLY = ("unshare", "--mount", "--propagation", "private", "--", "sh", "-ec",
             'mount --bind assignments assignments; mount -o remount,ro,bind assignments; exec "$@"', "sh")


@pytest.mark.parametrize(("around", "words", "said"), [
    ((), ("--report", "--out", "/proc/page"), "--out /proc/page: "),
    (READ_ONLY, ("--keep",), f"--keep: {ROOT}/assignments/transpose/good.json: "),
], ids=["report", "figures"])
def test_what_could_not_be_written_is_told_before_anything_is_inspected(
    tmp_path: Path, around: tuple[str, ...], words: tuple[str, ...], said: str
) -> None:
    (tmp_path / "transpose.py").write_text(ROWS)
    if around and subprocess.run([*around, "true"], cwd=ROOT, capture_output=True, check=False).returncode != 0:
        pytest.skip("nothing can be mounted here")
    asked = ("inspect", str(tmp_path / "transpose.py"), *words)
    result = kernelmark(*asked) if not around else subprocess.run(
        [*around, sys.executable, "-m", "grader", *asked],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=SECONDS)
    assert (result.returncode, result.stdout) == (2, ""), result
    assert result.stderr.startswith(f"kernelmark: {said}") and result.stderr.count("\n") == 1, result
    assert "; choose a writable folder" in result.stderr or "; check its permissions" in result.stderr


def test_figures_that_are_kept_are_those_of_the_reference(tmp_path: Path) -> None:
    names = ("silu", "transpose", "rmsnorm_matrix")
    for name in names:
        shutil.copy(ROOT / "reference" / f"{name}.py", tmp_path)
    found = results(tmp_path, LimitsTable())
    for name in names:
        inspection = found[name].inspection
        assert inspection is not None and inspection.good is not None
        kept = json.loads((ROOT / "assignments" / name / "good.json").read_text())
        moved = sum(access.moved * launch.scale for launch in inspection.launches for access in launch.accesses)
        assert kept["moved"] == moved == inspection.good.moved
        assert kept["launches"] == len(inspection.launches)
        assert kept["shared"] == max(launch.shared for launch in inspection.launches)


@each_row("name", assignments())
def test_every_assignment_has_figures_of_a_good_kernel(name: str) -> None:
    # `kernelmark verify` holds them against the reference kernel's: tests/authoring/test_verify.py.
    figures = good_figures(name)
    assert figures is not None and figures.target == "sm_90"
    assert (figures.launches > 0) == (figures.moved > 0) == (name != "copy_first_column")


def test_what_a_part_of_the_programs_cannot_know_is_no_finding(tmp_path: Path) -> None:
    """Of the first kernel's programs few are run, so the second finds little in the memory between them."""
    Member("accepted/rmsnorm_vector_two_kernels").written(tmp_path)
    result = kernelmark("inspect", tmp_path / "rmsnorm_vector.py", "--program", "999999")
    assert result.returncode == 0 and "nothing has written" not in result.stdout, result
    assert "`normalise`, 256 programs" in result.stdout and "Program 999999: there is no such program" in result.stdout


def test_a_wrong_kernel_is_not_inspected(tmp_path: Path) -> None:
    (tmp_path / "transpose.py").write_text(ROWS.replace("out_ptr + at * M + row, x", "out_ptr + at * M + row, x + 1"))
    assignment = results(tmp_path, LimitsTable())["transpose"]
    assert assignment.verdict == "wrong_answer" and assignment.inspection is None
