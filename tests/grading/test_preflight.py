"""What can be known to fail is told in one line, and before anyone is graded."""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import NoReturn

import pytest

from grader.course.catalogue import assignments
from grader.course.submission import Submission
from grader.errors import InfrastructureError, UserError
from grader.grading import doctor, preflight
from grader.home import ROOT
from grader.judging.running.lane import LANE
from grader.languages.cuda import toolkit
from grader.plan import wire
from grader.sandbox.forkserver import isolation
from grader.sandbox.forkserver.handle import ForkServer
from tests.command import hand_in, kernelmark
from tests.graded import break_numba, needs_numba

Change = Callable[[Path], object]


def refused(check: Callable[[], object], *words: str) -> None:
    with pytest.raises(UserError) as info:
        check()
    output = str(info.value)
    assert "\n" not in output and "; " in output and [word for word in words if word not in output] == [], output


def students(*names: str) -> list[Submission]:
    return [Submission(name, Path("class", name), name) for name in names]


def test_all_is_well_here(tmp_path: Path) -> None:
    preflight.installed()
    preflight.temporary()
    preflight.results(tmp_path / "new" / "out", students("alice"), 6)
    assert list((tmp_path / "new" / "out").iterdir()) == []
    preflight.pages()
    preflight.assignments(assignments())


def test_a_package_without_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> NoReturn:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", version)
    refused(preflight.installed, "package kernelmark: not installed", "pip install -e")


def test_a_package_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pytest_timeout" else found(name))
    refused(preflight.installed, "package pytest_timeout: not installed")


def test_a_temporary_folder_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/proc/nowhere")
    refused(preflight.temporary, "temporary folder: No such file or directory")


def test_full_disks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "bob").mkdir()
    (tmp_path / "bob" / "result.json").write_text("{}")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=80 << 10))
    refused(preflight.temporary, "temporary folder", "80 KiB of disk are free")
    refused(lambda: preflight.results(tmp_path, students("alice"), 6), str(tmp_path), "80 KiB", "at least 136 KiB")
    # What is there already is replaced.
    preflight.results(tmp_path, students("bob"), 6)


RESULTS: dict[str, tuple[Change, str]] = {
    "a file for a student's folder": (lambda out: (out / "alice").write_text(""), "alice"),
    "a folder for a student's report": (lambda out: (out / "alice" / "report.html").mkdir(parents=True), "report.html"),
    "a folder for the class page": (lambda out: (out / "index.html").mkdir(), "index.html: is a folder"),
    "a folder for the leaderboard": (lambda out: (out / "leaderboard.html").mkdir(), "leaderboard.html: is a folder"),
}


@pytest.mark.parametrize(("change", "words"), RESULTS.values(), ids=RESULTS)
def test_results_that_could_not_be_written(tmp_path: Path, change: Change, words: str) -> None:
    change(tmp_path)
    refused(lambda: preflight.results(tmp_path, students("alice"), 1), f"--out {tmp_path}", words)


@pytest.mark.parametrize("out", ["sys", "/sys"])
def test_a_folder_that_takes_no_file_is_named_as_it_was_given(monkeypatch: pytest.MonkeyPatch, out: str) -> None:
    monkeypatch.chdir("/")
    refused(lambda: preflight.results(Path(out), (), 1), f"--out {out}: ", "; choose a writable folder")


def _append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


# In a copy of everything, since it is broken there.
COPIED = ("grader", "assignments", "reference", "student_template")
# What a lane and its starter look at, from each copy in a process of its own, which has torch from its parent.
LOOKS = """
import os, sys
import jinja2, matplotlib, numpy, pydantic, torch, triton
for root in sys.argv[1:]:
    if os.fork() == 0:
        sys.path.insert(0, root)
        from grader.errors import UserError
        from grader.grading import preflight
        said = "nothing"
        try:
            preflight.pages()
            preflight.assignments(["silu"])
        except UserError as error:
            said = str(error)
        print(said, flush=True)
        os._exit(0)
    os.wait()
"""
BROKEN: dict[str, tuple[Change, tuple[str, ...]]] = {
    "a template is missing": (
        lambda root: (root / "grader/pages/templates/student.html.j2").unlink(), ("student.html.j2",)),
    "a template is broken": (
        lambda root: _append(root / "grader/pages/templates/class.html.j2", "{% if %}"), ("class.html.j2, line ",)),
    "a style sheet is missing": (
        lambda root: (root / "grader/pages/templates/style.css").unlink(), ("style.css: No such file",)),
    "a folder without an assignment": (lambda root: (root / "assignments/empty").mkdir(), ("empty/assignment.py",)),
    "an assignment that is no Python": (
        lambda root: _append(root / "assignments/silu/assignment.py", "\n("), ("silu/assignment.py, line ", "closed")),
    "an assignment that raises": (
        lambda root: _append(root / "assignments/silu/assignment.py", "\nASSIGNMENT.oracel\n"),
        ("silu/assignment.py, line ", "AttributeError", "oracel")),
    "an assignment whose oracle fails": (
        lambda root: _append(root / "assignments/silu/assignment.py", "\nASSIGNMENT = ASSIGNMENT.model_copy("
                             "update={'oracle': lambda x: x.no_such_thing()})\n"), ("silu/assignment.py, line ",)),
    "a baseline that is no Python": (
        lambda root: _append(root / "assignments/silu/baseline.py", "\n("), ("silu/baseline.py, line ",)),
    "a baseline that raises": (
        lambda root: _append(root / "assignments/silu/baseline.py", "\nimport no_such_module\n"),
        ("silu/baseline.py, line ", "no_such_module")),
    "a baseline that is missing": (
        lambda root: (root / "assignments/silu/baseline.py").unlink(), ("silu/baseline.py: no such file; write one",)),
}

# Stands before Triton on the path, is Triton, and lacks something of it.
OTHER_TRITON = """
import sys
from pathlib import Path
here = str(Path(__file__).resolve().parents[1])
kept, sys.path[:] = sys.path[:], [entry for entry in sys.path if entry != here]
del sys.modules["triton"]
import triton
{change}
sys.path[:] = kept
"""


def other_triton(root: Path, change: str) -> None:
    (root / "triton").mkdir(parents=True)
    (root / "triton" / "__init__.py").write_text(OTHER_TRITON.format(change=change))


NO_GLUON = "from triton.runtime.jit import JITCallable; del JITCallable.is_gluon"

# Those are told to whoever types the command, each at a stage of its own.
TOLD: dict[str, tuple[Change, tuple[str, ...]]] = {
    **{what: BROKEN[what] for what in ("a style sheet is missing", "an assignment whose oracle fails")},
    "a course that names no assignment": (
        lambda root: (root / "course.toml").write_text('assignments = ["slu"]\n'),
        ("course.toml: assignments: 'slu'",)),
    "no assignments": (lambda root: shutil.rmtree(root / "assignments"), ("assignments: No such file or directory",)),
}


def copied(root: Path, change: Change) -> str:
    """What Python imports from, with a copy that is broken before everything else."""
    for name in COPIED:
        # With what Python has compiled, which takes seconds.
        shutil.copytree(ROOT / name, root / name)
    shutil.copy(ROOT / "course.toml", root)
    change(root)
    return os.pathsep.join([str(root), *elsewhere()])


def elsewhere() -> list[str]:
    return [entry for entry in sys.path if entry and Path(entry).resolve() != ROOT]


def test_what_is_broken_is_said(tmp_path: Path) -> None:
    for number, (change, _) in enumerate(BROKEN.values()):
        copied(tmp_path / str(number), change)
    result = subprocess.run(
        [sys.executable, "-P", "-c", LOOKS, *(str(tmp_path / str(number)) for number in range(len(BROKEN)))],
        capture_output=True, text=True, check=False, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(elsewhere())})
    assert result.returncode == 0, result.stderr
    output = dict(zip(BROKEN, result.stdout.splitlines(), strict=True))
    assert {what: output[what] for what, (_, words) in BROKEN.items()
            if any(word not in output[what] for word in ("; ", *words))} == {}


@pytest.mark.parametrize(("change", "words"), TOLD.values(), ids=TOLD)
def test_what_is_broken_is_told_before_anyone_is_graded(
    tmp_path: Path, change: Change, words: tuple[str, ...]
) -> None:
    hand_in(tmp_path / "class", "alice")
    result = kernelmark("grade", tmp_path / "class", "--out", tmp_path / "out", "--only", "silu", cwd=tmp_path,
                        environment={"PYTHONPATH": copied(tmp_path / "copy", change)})
    assert result.returncode == 2, result
    assert result.stderr.startswith("kernelmark: ") and len(result.stderr.splitlines()) == 1, result.stderr
    assert [word for word in ("; ", *words) if word not in result.stderr] == [], result.stderr
    assert result.stdout == "" and not list(tmp_path.glob("out/[!.]*"))


@pytest.fixture
def changed_triton(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A lane of this process whose fork server finds another Triton."""
    # Where pytest keeps it, no worker of another user's reads it.
    measured = replace(isolation.measure(), layers=wire.Layers(), cgroup=False)
    other_triton(tmp_path, NO_GLUON)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(isolation, "measure", lambda: measured)
    LANE.close()
    yield
    LANE.close()


@pytest.mark.full
def test_a_triton_that_has_changed_is_told_before_anyone_is_graded(changed_triton: None, tmp_path: Path) -> None:
    hand_in(tmp_path / "class", "alice")
    result = kernelmark("grade", tmp_path / "class", "--out", tmp_path / "out", "--only", "silu")
    assert result.returncode == 2 and result.stdout == "" and not list(tmp_path.glob("out/[!.]*")), result
    (said,) = result.stderr.splitlines()
    (line,) = [line for line in doctor.diagnoses() if line.subject == "grading"]
    assert line.fatal
    for text in (said, line.text):
        assert f"triton {metadata.version('triton')}: not as the grader knows" in text and "is_gluon" in text, text
        assert "triton>=3.6,<" in text, text


# What has gone, and who misses it: names, an argument, what a launch is given, a pass of the compiler.
MISSED = {
    "a module": ("from triton import runtime\ndel runtime._allocation\n"
                 "sys.modules['triton.runtime._allocation'] = None", "import of triton.runtime._allocation"),
    "an argument": ("from triton.compiler import ASTSource; ASTSource.make_ir = lambda self, options, context: None",
                    "takes 3 positional arguments but 6 were given"),
    "a launch": ("from triton.runtime.jit import JITFunction\n"
                 "JITFunction.run = lambda self, *args, grid, warmup, **kwargs: self.launched(args)", "launched"),
    "a text": ("from triton.compiler import ASTSource\nmade = ASTSource.make_ir\n"
               "class Module:\n    def __init__(self, made): self.made = made\n"
               "    def __getattr__(self, name): return getattr(self.made, name)\n"
               "    def __str__(self): return str(self.made).replace('tt.load', 'ttx.load')\n"
               "ASTSource.make_ir = lambda *args: Module(made(*args))", "ttx.load is none of Triton's language"),
    "a pass": ("from triton._C.libtriton import passes; del passes.convert.add_scf_to_cf", "add_scf_to_cf"),
}


# What a fork server does before its workers, with each change in a process that has Triton from its parent.
MISSES = """
import os, sys
import numpy, torch, triton
for change in sys.argv[1:]:
    if os.fork() == 0:
        said = "nothing"
        try:
            exec(change, {"sys": sys, "triton": triton})
            from grader.languages.triton.confined.compiler import main as compiler
            from grader.languages.triton.confined.planner import main as planner
            planner.prepare()
            compiler.prepare()
        except Exception as error:
            said = " ".join(str(error).split())
        print(said, flush=True)
        os._exit(0)
    os.wait()
"""


def test_a_planner_says_what_it_misses() -> None:
    result = subprocess.run([sys.executable, "-c", MISSES, *(change for change, _ in MISSED.values())], cwd=ROOT,
                            capture_output=True, text=True, check=True)
    output = dict(zip(MISSED, result.stdout.splitlines(), strict=True))
    assert {what: output[what] for what, (_, words) in MISSED.items() if words not in output[what]} == {}


def test_a_fork_server_says_what_it_misses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    change, words = MISSED["a module"]
    other_triton(tmp_path, change)
    monkeypatch.syspath_prepend(tmp_path)
    fork_server = ForkServer(("triton/planner", "triton/simulator", "triton/compiler"), layers=wire.Layers())
    with pytest.raises(InfrastructureError) as info:
        _ = fork_server.ready
    output = str(info.value)
    assert words in output and "\n" not in output and f"triton {metadata.version('triton')}: not as" in output, output
    assert not fork_server.alive


@needs_numba
def test_a_language_whose_compiler_is_broken_leaves_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_numba(tmp_path, monkeypatch)
    fork_server = ForkServer(("triton/planner", "numba/planner"), layers=wire.Layers())
    limits = wire.Limits(memory_mb=1000, file_mb=1, processes=8, cpu_seconds=9)
    try:
        fork_server.spawn(limits, "triton/planner").kill()
        with pytest.raises(InfrastructureError, match=r"^Numba compiles no kernel \(.*no_such_name.*\); .*numba"):
            fork_server.spawn(limits, "numba/planner")
    finally:
        fork_server.close()


def test_a_language_without_its_tools_is_told_before_anyone_is_graded(monkeypatch: pytest.MonkeyPatch) -> None:
    files = [Path("ada/silu.py"), Path("ada/gemm.cu")]
    # What is there, depends on the machine.
    monkeypatch.setattr(toolkit, "_candidates", lambda: iter(()))
    preflight.tools(files[:1])
    preflight.tools(files, ["triton"])
    with pytest.raises(UserError, match=r"^ada/gemm\.cu: CUDA C\+\+ cannot be judged here: no nvcc of CUDA 13; .* "
                                        r"in course\.toml$"):
        preflight.tools(files)


@pytest.mark.parametrize("course", ["course.toml", "examples/first-kernels.toml"])
def test_a_class_of_another_course_is_told_so(course: str, tmp_path: Path) -> None:
    hand_in(tmp_path / "class", "ada")
    result = kernelmark("grade", tmp_path / "class", "--out", tmp_path / "out", "--course", ROOT / course,
                        "--only", "silu" if course == "course.toml" else "gelu,softmax", "--device", "cpu")
    assert result.returncode == 0, result.stderr
    told = "No submission has any of gelu.py, softmax.py, so each gets 0 points; pass --course FILE"
    assert (told in " ".join(result.stdout.split())) == (course != "course.toml"), result.stdout
