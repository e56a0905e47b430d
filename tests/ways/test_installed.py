"""A wheel, installed in each of the ways that people install one, checks and grades; so does an image's user."""

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.home import ROOT
from grader.sandbox.forkserver import isolation
from tests.command import hand_in
from tests.kits import link_packages
from tests.ways import places

GRADE = ("grade", "class", "--only", "silu", "--device", "cpu", "--jobs", "1", "--out", "results")
Way = Callable[[Path, Path], tuple[str, ...]]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    # Left by a build of an older version in the tree.
    clone = places.clone(folder / "clone")
    (clone / "build/lib/grader").mkdir(parents=True)
    (clone / "build/lib/grader/gone.py").touch()
    places.say(sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder / "wheels", clone, cwd=folder)
    (path,) = (folder / "wheels").iterdir()
    return path


def in_venv(folder: Path, wheel: Path) -> tuple[str, ...]:
    programs = places.environment(folder / "venv")
    places.say(programs / "python", "-m", "pip", "install", "--quiet", wheel, cwd=folder)
    return (str(programs / "kernelmark"),)


def in_uv(folder: Path, wheel: Path) -> tuple[str, ...]:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    uv = shutil.which("uv", path=path) or pytest.skip("uv is not installed")
    places.say(uv, "venv", "--quiet", "--offline", "--python", sys.executable, "venv", cwd=folder)
    (packages,) = folder.glob("venv/lib/python*/site-packages")
    link_packages(packages)
    places.say(uv, "pip", "install", "--quiet", "--offline", "--python", "venv/bin/python", wheel, cwd=folder)
    return (str(folder / "venv/bin/kernelmark"),)


def in_target(folder: Path, wheel: Path) -> tuple[str, ...]:
    link_packages(folder / "packages")
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps")
    places.say(*pip, "--target", "packages", wheel, cwd=folder)
    # An interpreter without packages of its own.
    bare = Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}")
    return ("env", f"PYTHONPATH={folder}/packages", str(bare), "-P", "-m", "grader")


def in_the_working_folder(folder: Path, wheel: Path) -> tuple[str, ...]:
    """`python -m venv .`: the class and its results lie in Python's prefix."""
    programs = places.environment(folder)
    places.say(programs / "python", "-m", "pip", "install", "--quiet", wheel, cwd=folder)
    return (str(programs / "kernelmark"),)


def graded(folder: Path, *command: str, more: dict[str, str] | None = None) -> str:
    """The isolation level at which a class's silu gets full points."""
    hand_in(folder / "class", "ada")
    sentence = places.say(*command, cwd=folder, more=more or {})
    assert "Traceback" not in sentence and "1 graded in" in sentence, sentence
    result = json.loads((folder / "results/ada/result.json").read_text())
    assert result["score"] == 60, sentence
    return str(result["environment"]["isolation"]).split()[0]


@pytest.mark.parametrize("way", [in_venv, in_uv, in_target, in_the_working_folder])
def test_a_wheel_grades_at_the_level_of_this_machine(way: Way, wheel: Path, tmp_path: Path) -> None:
    command = way(tmp_path, wheel)
    assert "gone.py" not in {path.name for path in tmp_path.rglob("*.py")}
    sentence = places.say(*command, "--version", cwd=tmp_path)
    assert sentence.startswith("kernelmark ") and str(ROOT) not in sentence and str(tmp_path) in sentence
    assert graded(tmp_path, *command, *GRADE) == str(isolation.measure().level)


HERE = (sys.executable, "-P", "-m", "grader")


@pytest.mark.parametrize("umask", ["077", "002"])
def test_a_umask_is_no_obstacle(umask: str, tmp_path: Path) -> None:
    more = {"PYTHONPATH": str(ROOT)}
    places.say("sh", "-c", f'umask {umask}; exec "$@"', "sh", *HERE, "init", "course", "--with", "silu", cwd=tmp_path,
               more=more)
    assert graded(tmp_path / "course", "sh", "-c", f'umask {umask}; exec "$@"', "sh", *HERE, *GRADE, more=more)


@pytest.mark.parametrize("home", ["/nonexistent", "/proc", ""])
def test_a_home_that_cannot_be_written_is_no_obstacle(home: str, tmp_path: Path) -> None:
    assert graded(tmp_path, *HERE, *GRADE, more={"PYTHONPATH": str(ROOT), "HOME": home})


@pytest.mark.parametrize("lacking", ["namespaces", "landlock", "landlock,namespaces"])
def test_a_container_grades_with_the_layers_that_it_has(lacking: str, tmp_path: Path) -> None:
    inside = (sys.executable, "-m", "tests.ways.container", lacking)
    level = graded(tmp_path, *inside, *HERE, *GRADE, "--allow-degraded", more={"PYTHONPATH": str(ROOT)})
    # bubblewrap does without Landlock.
    assert (level < str(isolation.measure().level)) == ("namespaces" in lacking)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_a_user_without_an_account_grades(tmp_path: Path) -> None:
    """As `docker run --user 4711` and OpenShift start an image."""
    hand_in(tmp_path / "class", "ada")
    around = ("unshare", "--mount", "--propagation", "private", "--", sys.executable, "-m", "tests.unprivileged")
    inside = 'cp -r "$1" "$HOME/class" && cd "$HOME" && shift && exec "$@"'
    for above in (tmp_path, *tmp_path.parents[:3]):
        above.chmod(above.stat().st_mode | 0o055)
    grade = (*HERE, *GRADE, "--allow-degraded")
    sentence = places.say(*around, "sh", "-c", inside, "sh", tmp_path / "class", *grade, cwd=ROOT,
                          more={"PYTHONPATH": str(ROOT)})
    assert "ada: 60 of 60 points measured" in sentence and "Traceback" not in sentence, sentence
