"""`make` sets up what is missing, in clones that move and beside others; where it cannot, a sentence says why."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.ways import places

SETUP = ("make", "--silent", "setup", "TORCH=cpu")


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return places.python(tmp_path_factory.mktemp("python") / "python3")


def set_up(clone: Path, python: Path) -> str:
    """The output of `make setup`, after which the command of the clone runs the code of the clone."""
    sentence = places.say(*SETUP, f"PYTHON={python}", cwd=clone)
    listed = places.say(clone / ".venv/bin/kernelmark", "assignments", cwd=clone)
    assert "transpose" in listed
    where = "import grader; print(grader.__file__)"
    assert places.say(clone / ".venv/bin/python", "-P", "-c", where, cwd=clone) == f"{clone}/grader/__init__.py\n"
    return sentence


def test_a_clone_is_set_up_once_and_again_where_it_was_moved_or_copied_or_lost_its_python(
    python: Path, tmp_path: Path
) -> None:
    first = places.clone(tmp_path / "first")
    assert "setting up .venv, once: 0.44 GB" in set_up(first, python)
    assert "setting up" not in set_up(first, python)
    moved = first.rename(tmp_path / "a moved clone")
    because = "removing what is in .venv: it was made in another folder, or its Python is gone\nsetting up .venv"
    assert because in set_up(moved, python)
    copied = tmp_path / "copied"
    shutil.copytree(moved, copied, symlinks=True, copy_function=os.link)
    assert because in set_up(copied, python)
    # As an upgrade of the system leaves it.
    (copied / ".venv/bin/python").unlink()
    (copied / ".venv/bin/python").symlink_to("/usr/bin/python3.0")
    assert because in set_up(copied, python)
    # As Ctrl-C leaves it.
    (copied / ".venv/.setup-cpu").rename(copied / ".venv/.unfinished")
    assert "removing what is in .venv: its setup was interrupted\n" in set_up(copied, python)
    assert "setting up" not in set_up(moved, python)


def test_two_at_once_wait_for_each_other(python: Path, tmp_path: Path) -> None:
    clone = places.clone(tmp_path / "clone")
    both = [subprocess.Popen([*SETUP, f"PYTHON={python}"], cwd=clone, env=places.bare() | places.OFFLINE, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for _ in range(2)]
    said = [process.communicate(timeout=places.SECONDS)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert sorted("setting up .venv" in line for line in said) == [False, True], said
    assert sorted("another make sets up .venv; waiting for it" in line for line in said) == [False, True], said
    assert "setting up" not in set_up(clone, python)


def refused(clone: Path, *words: str, **more: str) -> str:
    """The sentence with which `make setup` ends."""
    sentence = places.say(*SETUP, *words, cwd=clone, status=2, more=more)
    (line,) = [line for line in sentence.splitlines() if line.startswith("kernelmark: ")]
    return line.removeprefix("kernelmark: ")


def test_an_environment_of_somebody_elses_making_is_left_as_it_is(tmp_path: Path) -> None:
    clone = places.clone(tmp_path / "clone")
    (clone / ".venv/bin").mkdir(parents=True)
    # As one of a Python that is too old, or without pip, as uv makes it.
    (clone / ".venv/bin/python").write_text("#!/bin/sh\nexit 1\n")
    (clone / ".venv/bin/python").chmod(0o755)
    assert refused(clone) == (".venv was not made by make, so it is left as it is; move it away, or name another: make "
                              "setup VENV=.venv-kernelmark")
    assert [path.name for path in (clone / ".venv").rglob("*")] == ["bin", "python"]


def test_each_failure_of_pip_has_its_own_sentence(tmp_path: Path) -> None:
    clone = places.clone(tmp_path / "clone")
    assert refused(clone).startswith("a package has no version for Python 3.")
    nobody = {"PIP_NO_INDEX": "0", "PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "1", "PIP_TIMEOUT": "5",
              "https_proxy": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9"}
    assert refused(clone, **nobody) == (
        "a package could not be downloaded; check the network, and HTTPS_PROXY behind a proxy, then make again")
    assert refused(clone, "PYTHON=/bin/false") == (
        "/bin/false: Python 3.11 or newer expected; try make PYTHON=/path/to/python3")
    assert refused(clone, "TORCH=tpu") == "TORCH=tpu: cpu or gpu expected"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_full_disk_is_the_cause_that_is_named(python: Path, tmp_path: Path) -> None:
    clone = places.clone(tmp_path / "clone")
    # Room for Python's own files, and none for pip's.
    inside = f'mkdir .venv && mount -t tmpfs -o size=12m tmpfs .venv && exec {" ".join(SETUP)}'
    sentence = places.say("unshare", "--mount", "sh", "-c", inside, cwd=clone, status=2)
    assert "the disk is full" in sentence.splitlines()[-2], sentence
