"""A course of one's own is a copy that works, and replaces nothing."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from grader.authoring import init
from grader.course import catalogue
from grader.course.course import read_course
from grader.errors import UserError
from grader.home import ROOT
from tests.command import kernelmark, refused


def made(folder: Path, *words: str) -> str:
    result = kernelmark("init", folder, *words, cwd=folder.parent)
    assert result.returncode == 0 and result.stderr == "", result
    return result.stdout


def test_a_course_has_what_it_was_asked_for_and_nothing_of_the_rest(tmp_path: Path) -> None:
    lines = made(tmp_path / "mein Kürs", "--with", "gemm,silu").splitlines()
    folder = tmp_path / "mein Kürs"
    assert lines[0] == f"{folder}: a course of silu, gemm. Next, in this folder:" and len(lines) == 4
    assert set(catalogue.files(folder)) == {"silu", "gemm"}
    left = catalogue.files().keys() - {"silu", "gemm"}
    names = {path.stem for path in folder.rglob("*")} | {path.name for path in folder.rglob("*")}
    assert not names & left and "rms_norm_matrix" not in names
    rules = (folder / "course.toml").read_text()
    assert set(re.findall(r"^\[thresholds\.assignments\.(\w+)\]", rules, re.MULTILINE)) == {"silu", "gemm"}
    assert '# assignments = ["silu"' in rules
    shipped = read_course(ROOT / "course.toml", frozenset(catalogue.files()))
    course = read_course(folder / "course.toml", frozenset(["silu", "gemm"]))
    assert [course.threshold_of(name) for name in ("silu", "gemm")] == [
        shipped.threshold_of(name) for name in ("silu", "gemm")]
    assert (course.limits, course.policy) == (shipped.limits, shipped.policy)
    (folder / "grade").mkdir()
    planned = subprocess.run(["make", "--no-print-directory", "-n", "verify", "grade", "kit"],
                             cwd=folder, capture_output=True, text=True)
    assert planned.stdout.splitlines() == [
        "kernelmark verify", "kernelmark grade submissions --out results", "kernelmark kit build/kit"], planned
    (job,) = yaml.safe_load((folder / ".github/workflows/verify.yml").read_text())["jobs"].values()
    assert job["steps"][-1]["run"] == "kernelmark verify"
    assert "%%kernelmark gemm" in (folder / "student_template" / "kernels.ipynb").read_text()
    assert "transpose" not in (folder / "student_template" / "README.md").read_text()


@pytest.mark.parametrize(("origin", "source"), [
    (None, "./kernelmark-*.whl"),
    ({"url": "file:///home/ada/kernelmark", "dir_info": {"editable": True}}, "./kernelmark-*.whl"),
    ({"url": "https://there/kernelmark", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}},
     "git+https://there/kernelmark@c0ffee"),
    ({"url": "https://there/kernelmark-0.2.0-py3-none-any.whl", "archive_info": {}},
     "https://there/kernelmark-0.2.0-py3-none-any.whl"),
], ids=["an index", "a checkout", "git", "a wheel on the web"])
def test_its_workflow_installs_the_package_from_where_it_came_and_by_no_name(
    origin: dict[str, object] | None, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "kernelmark-0.2.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Name: kernelmark\nVersion: 0.2.0\n")
    if origin:
        (installed / "direct_url.json").write_text(json.dumps(origin))
    monkeypatch.syspath_prepend(str(tmp_path))
    made(tmp_path / "course", "--with", "silu")
    workflow = yaml.safe_load((tmp_path / "course/.github/workflows/verify.yml").read_text())
    assert workflow["env"] == {"KERNELMARK": source} and workflow["permissions"] == {"contents": "read"}
    (install,) = (step["run"] for step in workflow["jobs"]["verify"]["steps"] if "install" in step.get("run", ""))
    assert install.startswith("pip install $KERNELMARK --")


def test_of_another_course_its_parts_are_copied_and_no_students(tmp_path: Path) -> None:
    made(tmp_path / "first", "--with", "silu,gelu")
    rules = (tmp_path / "first/course.toml").read_text()
    listed = 'assignments = [  # in this order\n    "gelu",\n    "silu",\n]\n'
    (tmp_path / "first/course.toml").write_text(re.sub(r"(?m)^# assignments = .*\n", listed, rules))
    (tmp_path / "first/Makefile").write_text("all:\n")
    (tmp_path / "first/roster.csv").write_text("id,name\n")
    (tmp_path / "first/assignments/_shared").mkdir()
    (tmp_path / "first/assignments/_shared/words.py").write_text("")
    (tmp_path / "first/class/ada").mkdir(parents=True)
    (tmp_path / "first/results/ada").mkdir(parents=True)
    (tmp_path / "first/README.md").write_text("of the first")
    (tmp_path / "first/student_template/README.md").unlink()
    # A repository that is new has these already.
    (tmp_path / "second/.git").mkdir(parents=True)
    (tmp_path / "second/README.md").write_text("of the second")
    made(tmp_path / "second", "--from", str(tmp_path / "first"), "--with", "gelu")
    assert {path.name for path in (tmp_path / "second/assignments").iterdir()} == {"gelu", "_shared"}
    assert {path.name for path in (tmp_path / "second").iterdir()} == {
        ".git", ".github", ".gitignore", "Makefile", "README.md", "assignments", "calibration", "course.toml",
        "reference", "student_template"}
    assert (tmp_path / "second/Makefile").read_text() == "all:\n"
    assert '# assignments = [  # in this order\n#     "gelu",\n#     "silu",\n# ]\n' in (
        tmp_path / "second/course.toml").read_text()
    assert (tmp_path / "second/README.md").read_text() == "of the second"
    assert "`gelu.py`" in (tmp_path / "second/student_template/README.md").read_text()


@pytest.mark.parametrize("example", sorted(path.parent.name for path in ROOT.glob("examples/*/course.toml")))
def test_an_example_can_be_begun_from(example: str, tmp_path: Path) -> None:
    made(tmp_path / "mine", "--from", example)
    taught = read_course(ROOT / "examples" / example / "course.toml", frozenset(
        catalogue.files(ROOT / "examples" / example))).select(catalogue.files(ROOT / "examples" / example), ())
    assert sorted(catalogue.files(tmp_path / "mine")) == sorted(taught)


@pytest.mark.parametrize(("words", "said"), [
    (("there",), "there/course.toml: already exists; choose a new folder"),
    (("new", "--with", "slu"), "'slu' is no assignment; choose from copy_first_column, "),
    (("new", "--from", "nothing"), "nothing/course.toml: not there, so this is no course to copy"),
    (("file/new",), "file/new: Not a directory; "),
], ids=["there already", "an assignment", "an example", "a file"])
def test_a_usage_error_is_one_line_and_nothing_is_written(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there/course.toml").write_text("mine")
    (tmp_path / "file").write_text("")
    refused(said, "init", *words, cwd=tmp_path)
    assert [path.name for path in (tmp_path / "there").iterdir()] == ["course.toml"]
    assert not (tmp_path / "new").exists()


def test_a_kit_makes_no_courses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.home.SHIPPED", tmp_path)
    (tmp_path / "assignments").mkdir()
    (tmp_path / "course.toml").write_text("")
    with pytest.raises(UserError, match="reference: not there, as in a students' kit"):
        init.source_of("")


def test_a_course_made_where_a_group_writes_is_taken(tmp_path: Path) -> None:
    """Where users share their first group, a umask of 002 would give it the right to write into the course."""
    source = shutil.copytree(ROOT / "examples/llm", tmp_path / "source", ignore=shutil.ignore_patterns("class"))
    for path in (source, *source.rglob("*")):
        path.chmod(path.stat().st_mode | 0o020)
    before = os.umask(0o002)
    try:
        made(tmp_path / "course", "--from", str(source), "--with", "embedding")
    finally:
        os.umask(before)
    folder = tmp_path / "course"
    assert [path for path in (folder, *folder.rglob("*")) if path.stat().st_mode & 0o022] == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
@pytest.mark.parametrize("words", [
    "init full/course", "init full", pytest.param(f"kit full/kit --course {shlex.quote(str(ROOT))}", id="kit")])
def test_a_full_disk_leaves_nothing_half_made(tmp_path: Path, words: str) -> None:
    (tmp_path / "full").mkdir()
    # Room for some of it.
    inside = (f"mount -t tmpfs -o size=200k tmpfs full && {shlex.quote(sys.executable)} -P -m grader {words}; echo $?; "
              "find full -mindepth 1")
    result = subprocess.run(["unshare", "--mount", "sh", "-c", inside], cwd=tmp_path, text=True, capture_output=True,
                            check=False, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert result.stdout == "2\n", result
    said = r"kernelmark: full.*: No space left on device; free space there, or choose another disk\n"
    assert re.fullmatch(said, result.stderr), result
