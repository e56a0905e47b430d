"""`kernelmark intake` as a TA types it: what it says, what it writes, and what it leaves alone."""

import contextlib
import itertools
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.classroom.intake import main
from grader.classroom.intake.main import place, taken_in
from grader.classroom.intake.manifest import FILE, read_manifest
from grader.course.submission import find_submissions
from tests.classroom.intake.made import OPTIONS, laid_out, notebook, zipped
from tests.classroom.intake.test_kinds import CANVAS, METADATA
from tests.command import SILU, kernelmark, refused


def a_class(root: Path) -> Path:
    return laid_out(root, {
        "doejane_LATE_11_1_SiLU.py": SILU, "doejane_11_2_report.pdf": "", "poe_12_3_hw.zip": b"PK\3\4 no",
        "roe_13_4_silu.py": SILU, "roe_13_5_test_silu.py": "", "roe_13_6_gemm.ipynb": "{}",
        "x[bold]_14_7_silu.py": SILU})


def test_a_dry_run_shows_everything_and_writes_nothing(tmp_path: Path) -> None:
    source = a_class(tmp_path / "all")
    (tmp_path / "roster.csv").write_text("id,name\nj,Jane Doe\nr,Roe\nm,Max Moe\n")
    result = kernelmark("intake", source, "--roster", tmp_path / "roster.csv", "--dry-run", cwd=tmp_path)
    assert result.returncode == 0 and sorted(os.listdir(tmp_path)) == ["all", "roster.csv"], result
    for said in ("j (Jane Doe)", "late", "silu.py ← SiLU.py",
                 "doejane_11_2_report.pdf: no assignment's file",
                 "roe_13_6_gemm.ipynb: cannot be read as a notebook; gemm.py expected", "14 (x[bold])"):
        assert said in result.stdout, result.stdout
    for line in ("all is a download from Canvas: 4 submissions, 1 late.", "Missing: m (Max Moe)",
                 "Not in the roster: poe_12 (12), x_bold__14 (14)",
                 "roe_13: roe_13_6_gemm.ipynb: cannot be read as a notebook; gemm.py expected"):
        assert line in result.stdout.splitlines()
    assert "poe_12: nothing to grade: poe_12_3_hw.zip: is damaged" in result.stdout


def test_a_class_is_not_graded_by_another_course(tmp_path: Path) -> None:
    assert kernelmark("init", "kurs", "--with", "silu", cwd=tmp_path).returncode == 0
    result = kernelmark("intake", a_class(tmp_path / "all"), "--into", "../class", cwd=tmp_path / "kurs")
    assert result.returncode == 0, result
    output = refused(f"class: taken in for the course {tmp_path}/kurs/course.toml, and this is ", "grade", "class",
                     "--device", "cpu", cwd=tmp_path)
    assert f"; run this in the folder {tmp_path}/kurs, or pass --course" in output
    for words, where in ((("class", "--course", "kurs"), tmp_path), (("../class",), tmp_path / "kurs")):
        # Past the check of the course: the next one refuses.
        process = kernelmark("grade", *words, "--device", "none", cwd=where)
        assert process.returncode == 2 and "--device: 'none' is no device" in process.stderr, process


def test_a_folder_that_can_be_graded(tmp_path: Path) -> None:
    result = kernelmark("intake", a_class(tmp_path / "all"), "--into", "new/class", cwd=tmp_path)
    assert result.returncode == 0, result
    assert result.stdout.splitlines()[-1].endswith("Next: kernelmark grade new/class")
    made = tmp_path / "new" / "class"
    held = {str(path.relative_to(made)) for path in made.rglob("*") if path.is_file()}
    # What seems to be meant for something is there for the report to name.
    assert held == {"doejane_11/silu.py", "poe_12/hw.zip", "roe_13/silu.py", "roe_13/gemm.ipynb",
                    "x_bold__14/silu.py", FILE}
    assert [submission.slug for submission in find_submissions(made, ["silu.py"])] == [
        submission.folder for submission in sorted(read_manifest(made).submissions, key=lambda entry: entry.folder)]
    assert os.listdir(made.parent) == ["class"]


def test_a_students_page_says_what_was_read_of_an_archive_and_a_notebook(tmp_path: Path) -> None:
    laid_out(tmp_path / "all", {"poe_12_3_hw.zip": b"PK\3\4 no", "roe_13_4_hw.ipynb": notebook(
        "%pip install triton\nimport torch, triton\nimport triton.language as tl", "x = torch.randn(3)",
        "%%time\n" + "\n".join(line for line in SILU.splitlines() if "import" not in line), "silu(x, y)")})
    result = kernelmark("intake", "all", "--into", "class", cwd=tmp_path)
    made = "From hw.ipynb: silu.py (code cells 1 and 3)."
    assert result.returncode == 0 and f"roe_13: {made}" in result.stdout.splitlines(), result
    result = kernelmark("grade", "class", "--only", "silu", "--device", "cpu", cwd=tmp_path)
    assert result.returncode == 0, result
    poe, roe = ((tmp_path / "results" / name / "report.html").read_text() for name in ("poe_12", "roe_13"))
    assert "poe_12_3_hw.zip: is damaged" in poe and "hw.zip" not in roe
    assert made in roe and json.loads((tmp_path / "results/roe_13/result.json").read_text())["score"] > 0
    # By the id of Canvas; one that is nobody's is refused as before.
    result = kernelmark("grade", "class", "--only", "silu", "--device", "cpu", "--student", "13", cwd=tmp_path)
    assert result.returncode == 0 and "Skipped 1 of 1" in result.stdout, result
    refused("--student '99': no such student here", "grade", "class", "--student", "99", cwd=tmp_path)
    assert "Found hw.zip; silu.py or silu.cu expected" in poe


def test_an_existing_folder_is_left_alone(tmp_path: Path) -> None:
    source = a_class(tmp_path / "all")
    assert kernelmark("intake", source, "--into", "class", cwd=tmp_path).returncode == 0
    (source / "new_15_8_silu.py").write_text(SILU)
    refused("class: already exists; choose another name or pass --force", "intake", source, "--into", "class",
            cwd=tmp_path)
    assert not (tmp_path / "class" / "new_15").exists()
    result = kernelmark("intake", source, "--into", "class", "--force", cwd=tmp_path)
    assert result.returncode == 0 and (tmp_path / "class" / "new_15").exists() and not list(tmp_path.glob(".*"))
    # A folder that no intake wrote is nothing to replace.
    mine = laid_out(tmp_path / "mine", {"thesis.tex": "years"})
    refused("no intake wrote it", "intake", source, "--into", "mine", "--force", cwd=tmp_path)
    assert (mine / "thesis.tex").exists()
    refused("week2: lies in ", "intake", source, "--into", "class/week2", cwd=tmp_path)
    assert not (tmp_path / "class" / "week2").exists()
    (tmp_path / "empty").mkdir()
    assert kernelmark("intake", source, "--into", "empty", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
def test_the_old_folder_stands_until_the_new_one_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int, done: bool,
) -> None:
    into = tmp_path / "class"
    for who in ("old", "new"):
        source = laid_out(tmp_path / who, {f"{who}_11_2_silu.py": SILU})
        with pytest.raises(KeyboardInterrupt) if who == "new" else contextlib.nullcontext(), \
                taken_in(source, OPTIONS, tmp_path) as (_, path):
            if who == "new":
                # As on a file system without such a step.
                monkeypatch.setattr(main, "exchange", lambda one, other: False)
                monkeypatch.setattr(Path, "rename", interrupted(Path.rename, step, done=done))
            place(path, into, force=True)
    (entry,) = read_manifest(into).submissions
    assert entry.folder == ("new_11" if (step, done) == (2, True) else "old_11")
    assert sorted(os.listdir(tmp_path)) == ["class", "new", "old"]


def interrupted(rename: Callable[[Path, Path], Path], step: int, *, done: bool) -> Callable[[Path, Path], Path]:
    """With Ctrl-C at this call of it, before it or when it is done."""
    calls = itertools.count(1)

    def call(path: Path, target: Path) -> Path:
        mine = next(calls) == step
        if mine and not done:
            raise KeyboardInterrupt
        path = rename(path, target)
        if mine:
            raise KeyboardInterrupt
        return path
    return call


USAGE = {
    "no into": ((), "--into: not given; name the folder to make, or pass --dry-run"),
    "in the source": (("--into", "all/class"), "--into all/class: lies in SOURCE"),
    "results": (("--into", "class"), "all: is a folder of results; name a download, or a folder of submissions"),
    "around it": (("--into", "."), "already exists"),
    "deadline": (("--into", "class", "--deadline", "2026-03-01"), "--deadline: '2026-03-01' is no time with a zone"),
    "roster": (("--into", "class", "--roster", "none.csv"), "none.csv: No such file or directory; name a CSV file"),
    "no room": (("--into", "/proc/class"), "kernelmark: /proc/class: No such file or directory; check that"),
}


@pytest.mark.parametrize(("words", "says"), USAGE.values(), ids=USAGE)
def test_a_usage_error_is_one_line_and_nothing_is_written(tmp_path: Path, words: tuple[str, ...], says: str) -> None:
    a_class(tmp_path / "all")
    if "is a folder of results" in says:
        (tmp_path / "all" / ".attempts").mkdir()
    refused(says, "intake", "all", *words, cwd=tmp_path)
    assert os.listdir(tmp_path) == ["all"] and "class" not in os.listdir(tmp_path / "all")


def test_a_pipe_hangs_nothing(tmp_path: Path) -> None:
    os.mkfifo(a_class(tmp_path / "all") / "zoe_15_8_silu.py")
    result = kernelmark("intake", "all", "--into", "class", cwd=tmp_path)
    assert result.returncode == 0, result
    assert "zoe_15: nothing to grade: zoe_15_8_silu.py: zoe_15_8_silu.py is not a regular file" in result.stdout


@pytest.mark.parametrize("kind", ["canvas", "zip", "moodle", "gradescope", "archives"])
def test_grade_names_the_one_command_that_fits(tmp_path: Path, kind: str) -> None:
    source = tmp_path / "all"
    if kind == "canvas":
        laid_out(source, CANVAS)
    elif kind == "zip":
        source = zipped(tmp_path / "all.zip", CANVAS)
    elif kind == "moodle":
        laid_out(source, {"Ann Lee_1_assignsubmission_file_/silu.py": SILU})
    elif kind == "gradescope":
        laid_out(source / "assignment_9_export", {
            "submission_metadata.yml": METADATA, "submission_11/silu.py": SILU})
    else:
        laid_out(source, {"ann.zip": zipped(tmp_path / "hw.zip", {"silu.py": SILU}).read_bytes()})
    result = kernelmark("grade", source.name, cwd=tmp_path)
    assert result.returncode == 2 and len(result.stderr.strip().splitlines()) == 1, result
    said, _, command = result.stderr.strip().rpartition("; take it in first: kernelmark ")
    assert said.startswith(f"kernelmark: {source.name}: is a") and not (tmp_path / "results").exists()
    result = kernelmark(*command.split(), cwd=tmp_path)
    assert result.returncode == 0 and find_submissions(tmp_path / command.split()[-1], ["silu.py"]), result


def test_a_folder_that_can_be_graded_is_graded(tmp_path: Path) -> None:
    from grader.commands.intake import fitting

    known = {"silu": "silu.py"}
    for files in ({"ann/silu.py": SILU}, {"silu.py": SILU, "old.zip": ""}, {"ann/hw.zip": "", "bo/hw.zip": ""}):
        folder = laid_out(tmp_path / str(len(os.listdir(tmp_path))), files)
        assert fitting(folder, known) is None
    assert fitting(tmp_path / "none", known) is None


def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path) -> None:
    source = a_class(tmp_path / "all")
    place = tmp_path / "place"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=40k", "tmpfs", place], capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"a small tmpfs cannot be mounted here: {mounted.stderr.strip()}")
    try:
        assert kernelmark("intake", source, "--into", place / "class", cwd=tmp_path).returncode == 0
        before = (place / "class" / FILE).read_text()
        (source / "zoe_15_8_silu.py").write_bytes(b"#" * 60_000)
        refused("No space left on device", "intake", source, "--into", place / "class", "--force", cwd=tmp_path)
        assert os.listdir(place) == ["class"] and (place / "class" / FILE).read_text() == before
    finally:
        subprocess.run(["umount", place], check=True)


def test_what_a_table_says_once(tmp_path: Path) -> None:
    laid_out(tmp_path / "all", {
        "zhangwei_21_1_silu.py": SILU, "zhangwei_22_2_silu-1.py": SILU, "roe_13_4_homework.py": SILU})
    (tmp_path / "roster.csv").write_text("id,name\nw1,Wei Zhang\nw2,Wei Zhang\nr,Roe\n")
    result = kernelmark("intake", "all", "--roster", "roster.csv", "--dry-run", cwd=tmp_path)
    lines = [line.strip() for line in result.stdout.splitlines()]
    # Of a file under its own name, Canvas's is no news; nor is what nobody has, for each of them.
    assert "←" not in lines[2] and result.stdout.count("←") == 1 and "silu.py ← homework.py" in result.stdout
    assert result.stdout.count("gemm.py") == 1 and any(line.startswith("Handed in by nobody: ") for line in lines)
    assert "Missing: nobody" in lines
    for number in ("21", "22"):
        assert (f"zhangwei_{number}: w1 (Wei Zhang) or w2 (Wei Zhang); give the right one the source's id in the "
                f"roster: {number}" in lines), lines


def test_a_whole_class_is_told_in_a_line(tmp_path: Path) -> None:
    handed_in: dict[str, str | bytes] = {
        "silu.py": SILU, "old/gemm.zip": zipped(tmp_path / "gemm.zip", {"a_gemm.py": "", "b_gemm.py": ""}).read_bytes(),
        "transpose.ipynb": notebook("def transpose(x, out): ...")}
    laid_out(tmp_path / "all", {
        f"s{number}/{name}": content for number in range(42) for name, content in handed_in.items()})
    lines = kernelmark("intake", "all", "--dry-run", cwd=tmp_path).stdout.splitlines()
    assert "From notebooks: s0, s1, s10 and 39 more; intake.json and each report say which cells" in lines
    (line,) = (line for line in lines if line.startswith("Perhaps meant for missing files, and left out: s0 (old/gemm"))
    assert line.endswith(" and 39 more; intake.json says why")


@pytest.mark.parametrize("files", [
    {f"eve/{number:04}{'x' * 200}.txt": "" for number in range(2_000)},
    {f"eve/{number:04}{'x' * 200}.zip": b"PK\3\4 no" for number in range(200)},
], ids=["names of one reason", "problems"])
def test_one_student_fills_no_terminal(tmp_path: Path, files: dict[str, str | bytes]) -> None:
    laid_out(tmp_path / "all", {**files, "ann/silu.py": SILU})
    for words in (["--dry-run"], ["--into", "class"]):
        result = kernelmark("intake", "all", *words, cwd=tmp_path)
        assert result.returncode == 0 and len(result.stdout) < 20_000, len(result.stdout)
        (line,) = (line for line in result.stdout.splitlines() if line.startswith("eve: nothing to grade: "))
        assert " more" in line and len(line) < 6_000


def test_a_course_error_is_told_before_a_problem_of_one_student(tmp_path: Path) -> None:
    laid_out(tmp_path / "all", {"poe_12_3_hw.zip": b"PK\3\4 no"})
    assert kernelmark("intake", "all", "--into", "class", cwd=tmp_path).returncode == 0
    refused("kernelmark: none.toml: ", "grade", "class", "--course", "none.toml", cwd=tmp_path)


def test_what_an_option_did_not_find_is_told(tmp_path: Path) -> None:
    laid_out(tmp_path / "all", {"ann/silu.py": SILU, "bo/silu.py": SILU})
    (tmp_path / "roster.csv").write_text("id\nann\nbo\ncy\n")
    (tmp_path / "groups.csv").write_text("group,id\nred,ann\nred,cyy\nblue,dee\n")
    result = kernelmark("intake", "all", "--into", "class", "--roster", "roster.csv", "--groups", "groups.csv",
                        "--deadline", "2026-03-01T23:59+01:00", cwd=tmp_path)
    lines = result.stdout.splitlines()
    assert result.returncode == 0 and "Groups without a submission: blue" in lines, result
    assert "Not in the roster: ann (cyy)" in lines and "Missing: cy" in lines
    assert "Not in the roster, of groups without a submission: dee" in lines
    assert any(line.startswith("--deadline: the source has no submission times") for line in lines)
