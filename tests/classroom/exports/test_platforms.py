"""Results as other programs read them: what they may show, what they must not say, and whose they are."""

import csv
import json
import sys
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from grader.classroom.intake.manifest import ManifestEntry
from grader.course.submission import Submission
from grader.grading.job import JobOutcome
from grader.home import ROOT
from tests.classroom.attempts.made import kept
from tests.classroom.exports.made import graded, hand_in, person, taken
from tests.classroom.exports.test_sheets import export
from tests.command import SILU, kernelmark, refused
from tests.pages.samples import FORMULA, REPAIR, every_verdict, hostile, result


def with_hidden() -> object:
    made = result("ada", {"transpose": "wrong_answer"})
    check = next(check for check in made.assignments["transpose"].correctness.checks if check.outcome == "failed")
    check.hidden, check.id, check.case = True, "977x3-secret", "977x3-secret"
    assert check.detail is not None
    check.detail.message = "977 elements"
    return made


def test_gradescope(tmp_path: Path) -> None:
    graded(tmp_path / "out", {"ada": with_hidden(), "lin": {"gemm": "needs_gpu"}})  # type: ignore[dict-item]
    export("gradescope", "out", "--student", "ada", "--visibility", "after_published", "--out", "r/results.json",
           cwd=tmp_path)
    text = (tmp_path / "r" / "results.json").read_text()
    data = json.loads(text)
    assert (data["score"], data["stdout_visibility"], data["output_format"]) == (300, "hidden", "text")
    # One hidden test would hide the total, so that none is: a hidden case is told by its kind.
    assert {test["visibility"] for test in data["tests"]} == {"after_published"} == {data["visibility"]}
    assert "977" not in text and "In a hidden case the answer is wrong." in text
    scored = [test for test in data["tests"] if "score" in test]
    # Of the points that a CPU can give.
    assert sum(test["score"] for test in scored) == 300 and sum(test["max_score"] for test in scored) == 360
    assert [test["number"] for test in scored] == list("123456")
    assert {test["status"] for test in data["tests"]} == {"passed", "failed"}
    export("gradescope", "out", "--student", "lin", "--out", "lin.json", cwd=tmp_path)
    scored = [test for test in json.loads((tmp_path / "lin.json").read_text())["tests"] if "score" in test]
    assert len(scored) == 5


def test_gradescope_gets_no_result_where_the_grader_failed(tmp_path: Path) -> None:
    graded(tmp_path / "out", {"grace": every_verdict()})
    process = kernelmark("export", "gradescope", "out", "--out", "results.json", cwd=tmp_path)
    assert process.returncode == 3 and "gemm: the grader failed" in process.stderr
    assert not (tmp_path / "results.json").exists()
    graded(tmp_path / "out", {"lin": {}})
    for words, says in ((("--student", "x"), "--student x: no such result"), ((), "--student: 2 results"),
                        (("--visibility", "some"), "Invalid value")):
        refused(says, "export", "gradescope", "out", *words, "--out", "results.json", cwd=tmp_path)


@pytest.mark.parametrize("level", ["place", "kind", "edit"])
def test_no_export_tells_more_of_a_change_than_the_course_does(tmp_path: Path, level: str) -> None:
    made = result("ada", {"gemm": "wrong_answer"})
    made.assignments["gemm"].repair = REPAIR.model_copy(
        update={"level": level, "told": "T977", "kind": "K977", "diff": "+D977"})
    graded(tmp_path / "out", {"ada": made})
    taken(tmp_path / "class", "git", hand_in("ada", person("ada"), at=AT, origin="gpu-kernels-ada", tag=TAG))
    for kind in ("gradescope", "junit", "csv", "classroom50"):
        export(kind, "out", *(CLASSROOM50 if kind == "classroom50" else []), "--out", f"made/{kind}", cwd=tmp_path)
    text = "".join(path.read_text() for path in (tmp_path / "made").rglob("*") if path.is_file())
    assert "Found by trying: T977" in text and "K977" not in text and ("D977" in text) == (level == "edit")


AT, TAG = "2026-03-01T23:58:00+01:00", "submit/2026-03-01T22-58-00Z-0a0a0a0"
CLASSROOM50 = ("--intake", "class", "--classroom", "gpu", "--assignment", "kernels", "--organisation",
               "https://github.com/course")


def test_classroom_50(tmp_path: Path) -> None:
    graded(tmp_path / "out", {name: {} for name in ("pair", "bo", "zoe", "eve", "max", "noa")}
           | {"ada": {"gemm": "wrong_answer"}, "lin": {"gemm": "needs_gpu"}})

    def clone(name: str, *people: str, **more: Any) -> ManifestEntry:
        return hand_in(name, *map(person, people or [name]), **{
            "origin": f"gpu-kernels-{name}.git", "at": AT, "tag": TAG} | more)

    taken(tmp_path / "class", "git", clone("ada", "roster-7"), clone("pair", "x", "y"), clone("lin"),
          clone("bo", at=None), clone("eve", tag=""), clone("max", origin="other-kernels-max"),
          clone("noa").model_copy(update={"commit": ""}))
    said, _ = export("classroom50", "out", *CLASSROOM50, "--out", "results", cwd=tmp_path)
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == ["ada.json", "pair.json"]
    # For one reason, whatever its folder is called.
    for line in ("lin: gemm: no points yet; grade it on a machine that can judge it, "
                 "with a GPU if need be", "bo; zoe: no time of submission; give",
                 "eve: no tag submit/… in the clone at the commit that was taken; run git fetch --tags",
                 "max: not a repository gpu-kernels-…; give --classroom",
                 "noa: no commit is known; run kernelmark intake"):
        assert any(one.startswith(f"kernelmark: {line}") for one in said), (line, said)
    ada = json.loads((tmp_path / "results" / "ada.json").read_text())
    home = "https://github.com/course/gpu-kernels-ada"
    assert {key: ada[key] for key in ada if key not in ("tests", "graded_at")} == {
        "schema": "classroom50/result/v1", "classroom": "gpu", "assignment": "kernels", "assignment_type": "group",
        "owner": "ada", "submission": TAG,
        "commit": f"{home}/commit/{'0a' * 20}", "review": f"{home}/commit/{'0a' * 20}",
        "release": f"{home}/releases/tag/submit%2F{TAG[7:]}", "datetime": "2026-03-01T22:58:00Z",
        "score": 300, "max-score": 600}
    assert [test["passed"] for test in ada["tests"]].count(False) == 1
    for group, kind in ([], "individual"), (["--group"], "group"):
        export("classroom50", "out", *CLASSROOM50, "--student", "eve", "--tag", "submit/now", *group, "--force",
               "--out", "eve", cwd=tmp_path)
        eve = json.loads((tmp_path / "eve" / "eve.json").read_text())
        assert (eve["submission"], eve["assignment_type"]) == ("submit/now", kind)
    for words, says in ((("--tag", "v1", "--student", "eve"), "--tag 'v1': no tag of a submission; give one"),
                        (("--tag", "submit/1"), "--tag: 8 results in out; name the --student"),
                        (("--organisation", "course"), "--organisation 'course': not an address; give it")):
        refused(says, "export", "classroom50", "out", *CLASSROOM50, *words, "--out", "no", cwd=tmp_path)
        assert not (tmp_path / "no").exists()


def test_junit_is_xml_whatever_students_wrote(tmp_path: Path) -> None:
    bad = hostile()
    bad.assignments["silu"].correctness.checks[1].id = "\ufffe]]>\x00"
    graded(tmp_path / "out", {"bad": bad, "grace": every_verdict(), "ada": with_hidden()})  # type: ignore[dict-item]
    export("junit", "out", "--out", "checks.xml", cwd=tmp_path)
    text = (tmp_path / "checks.xml").read_text()
    suites = {suite.get("name"): suite for suite in ElementTree.fromstring(text)}
    assert set(suites) == {"bad", "grace", "ada"} and "977" not in text
    grace = suites["grace"]
    for key, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert int(grace.get(key, "")) == len(grace.findall(f"testcase/{tag}")) > 0
    assert int(grace.get("tests", "")) == len(grace.findall("testcase"))


def test_csv_has_a_row_for_everybody(tmp_path: Path) -> None:
    graded(tmp_path / "out", {"pair": {"gemm": "wrong_answer"}, "lin": {"gemm": "infrastructure_error"}})
    taken(tmp_path / "class", "gradescope", hand_in("pair", person("ada"), person("bo", FORMULA),
                                                    at="2026-03-01T22:58:00+00:00", late=True),
          hand_in("lin", person("lin")))
    (tmp_path / "roster.csv").write_text(
        "id,name,email,section\nada,Ada,ada@x.edu,A\nlin,Lin,,B\nmax,-Max,,\x1b[0m=1+1\n")
    said, _ = export("csv", "out", "--intake", "class", "--roster", "roster.csv", "--excel", "--out", "all.csv",
                     cwd=tmp_path)
    text = (tmp_path / "all.csv").read_bytes().decode()
    assert text.startswith("\ufeff")
    rows = {row["id"]: row for row in csv.DictReader(text.removeprefix("\ufeff").splitlines())}
    assert rows["ada"]["score"] == rows["bo"]["score"] == "300" and rows["ada"]["gemm_verdict"] == "wrong_answer"
    assert (rows["ada"]["email"], rows["ada"]["late"], rows["ada"]["submitted_at"]) == (
        "ada@x.edu", "yes", "2026-03-01T22:58:00+00:00")
    # Text is no formula; what is open is blank, and so is who handed nothing in.
    assert rows["bo"]["name"] == "'" + FORMULA and rows["max"]["name"] == "'-Max"
    # Nor is what is one once an escape before it is gone.
    assert rows["max"]["section"] == "'=1+1"
    assert rows["lin"]["score"] == rows["max"]["score"] == "" and rows["max"]["folder"] == ""
    assert "kernelmark: pair: not in the roster: ada, bo" in said


def test_moodle_feedback_goes_back_under_the_names_it_came_by(tmp_path: Path) -> None:
    graded(tmp_path / "out", {"Ann_Lee_1": {}, "Ann_Lee_2": {}, "李_雷_3": {}, "Eve_4": {}, "Max_5": {}})
    taken(tmp_path / "class", "moodle",
          hand_in("Ann_Lee_1", person("1"), origin="Ann Lee_1_assignsubmission_file"),
          hand_in("Ann_Lee_2", person("2"), origin="Ann Lee_2_assignsubmission_file_"),
          hand_in("李_雷_3", person("3"), origin="李 雷_3_assignsubmission_file_silu.py"),
          hand_in("Eve_4", person("4"), origin="Eve_4_assignsubmission_onlinetext"))
    said, output = export("moodle-feedback", "out", "--intake", "class", "--out", "feedback.zip", cwd=tmp_path)
    with zipfile.ZipFile(tmp_path / "feedback.zip") as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    assert held == {
        "Ann Lee_1_assignsubmission_file/report.html": (tmp_path / "out/Ann_Lee_1/report.html").read_bytes(),
        "Ann Lee_2_assignsubmission_file_/report.html": (tmp_path / "out/Ann_Lee_2/report.html").read_bytes(),
        "李 雷_3_assignsubmission_file_report.html": (tmp_path / "out/李_雷_3/report.html").read_bytes(),
        "Eve_4_assignsubmission_onlinetext/report.html": (tmp_path / "out/Eve_4/report.html").read_bytes()}
    assert "kernelmark: Max_5: not in this download" in said and "4 reports" in output
    taken(tmp_path / "other", "canvas", hand_in("Ann_Lee_1", person("1")))
    refused("take in Moodle's download", "export", "moodle-feedback", "out", "--intake", "other", "--out", "x.zip",
            cwd=tmp_path)


def test_jplag_has_a_folder_for_each_and_the_stubs(tmp_path: Path) -> None:
    for name, content in (("ada", SILU), ("lin", SILU + "# mine\n")):
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / "silu.py").write_text(content)
    (tmp_path / "class" / "eve").mkdir()
    (tmp_path / "class" / "eve" / "silu.py").symlink_to(tmp_path / "class" / "ada" / "silu.py")
    said, output = export("jplag", "class", "--out", "plagiarism", cwd=tmp_path)
    made = tmp_path / "plagiarism"
    held = {str(path.relative_to(made)) for path in made.rglob("*") if path.is_file()}
    assert {name for name in held if not name.startswith("base/")} == {
        "submissions/ada/silu.py", "submissions/lin/silu.py"}
    for file in ("silu.py", "cuda/silu.cu", "cuda/rms_norm_matrix.cu"):
        assert (made / "base" / Path(file).name).read_text() == (ROOT / "student_template" / file).read_text()
    assert "kernelmark: eve: no readable file of an assignment" in said and "2 submissions" in output
    assert "-l python3 -p .py " in output and "-l cpp" not in output
    (tmp_path / "class" / "lin" / "silu.py").rename(tmp_path / "class" / "lin" / "silu.cu")
    _, output = export("jplag", "class", "--out", "both", cwd=tmp_path)
    assert ("-l cpp -p .cu -r both/cpp -bc both/base both/submissions" in output
            and "-l python3 -p .py -r both/python3 -bc both/base both/submissions" in output)


def test_jplag_of_a_mistyped_folder_leaves_nothing_in_the_way(tmp_path: Path) -> None:
    refused("clas: No such file or directory", "export", "jplag", "clas", "--out", "plagiarism", cwd=tmp_path)
    assert not (tmp_path / "plagiarism").exists()


@pytest.mark.parametrize("recorded", [False, True])
def test_a_broken_result_is_told_and_hides_nobody(tmp_path: Path, recorded: bool) -> None:
    out = graded(tmp_path / "out", {"ada": {}, "bo": {}})
    for name in ("ada", "bo") if recorded else ():
        assert kept(JobOutcome(Submission(name, Path(name), name), result(name)), out) == []
    broken = out / ("bo" if recorded else ".staff/bo") / "result.json"
    broken.write_text("{")
    (tmp_path / "roster.csv").write_text("id,name\nada,Ada\nbo,Bo\n")
    process = kernelmark("export", "csv", "out", "--roster", "roster.csv", "--out", "all.csv", cwd=tmp_path)
    assert process.returncode == 3 and "kernelmark: bo: result.json cannot be read: " in process.stderr, process
    found = list(csv.DictReader((tmp_path / "all.csv").read_text().splitlines()))
    assert [(row["id"], row["folder"], row["grade"]) for row in found] == [
        ("ada", "ada", "360"), ("bo", "bo", "360" if recorded else "")]
    # Attempts know the grade, and that the student's own file is not its.
    assert ("bo: report.html and result.json are older than the grade" in process.stderr) == recorded


@pytest.mark.parametrize("name", ["canvas", "gradescope", "junit"])
def test_no_export_waits_for_torch(name: str, tmp_path: Path) -> None:
    graded(tmp_path / "out", {"ada": {}})
    (tmp_path / "s.csv").write_text("Student,ID,Kernels (12)\nada,ada,\n")
    blocked = tmp_path / "blocked" / "torch"
    blocked.mkdir(parents=True)
    (blocked / "__init__.py").write_text("raise SystemExit('torch was imported')")
    words = ["--sheet", "s.csv"] if name == "canvas" else []
    process = kernelmark("export", name, "out", *words, "--out", "made", cwd=tmp_path, environment={
        "PYTHONPATH": ":".join([str(tmp_path / "blocked"), str(ROOT), *filter(None, sys.path)])})
    assert process.returncode == 0 and (tmp_path / "made").is_file(), process
