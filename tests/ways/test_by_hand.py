"""The commands of README.md and of the kit's README for who has no make; the kit's notebook, as Jupyter runs it."""

import importlib.util
import json
import shlex
import shutil
from pathlib import Path

import pytest

from grader.home import ROOT
from tests.command import kernelmark
from tests.ways import places

INDEX = "https://download.pytorch.org/whl/cpu"


def commands(readme: Path) -> list[str]:
    """The block of commands that fetches torch's build for CPUs."""
    (block,) = [block for block in readme.read_text(encoding="utf-8").split("```")[1::2] if INDEX in block]
    return block.strip().splitlines()


def follow(lines: list[str], folder: Path, programs: Path) -> None:
    """Runs commands in an environment that has what they would fetch."""
    for line in lines:
        places.say("sh", "-ec", line, cwd=folder, more={"PATH": f"{programs}:/usr/bin:/bin"})


def test_a_clone_without_make_takes_what_the_constraints_pin(tmp_path: Path) -> None:
    clone = places.clone(tmp_path / "clone")
    programs = places.environment(tmp_path / "venv")
    (programs / "pip").write_text(f'#!/bin/sh\nexec {shlex.quote(str(programs / "python"))} -m pip "$@"\n')
    (programs / "pip").chmod(0o755)
    follow(commands(ROOT / "README.md"), clone, programs)
    sentence = places.say(programs / "kernelmark", "check", "reference/silu.py", cwd=clone)
    assert "passed  60 of 60 points" in sentence, sentence


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kit")
    result = kernelmark("kit", folder / "kernels", cwd=folder)
    assert result.returncode == 0, result.stderr
    return folder / "kernels"


def test_a_kit_without_make_checks(kit: Path, tmp_path: Path) -> None:
    here = shutil.copytree(kit, tmp_path / "kit")
    first, *others = commands(kit / "README.md")
    assert first == "python3 -m venv .venv"
    programs = places.python(tmp_path / "python3").parent
    for line in (first, *others):
        # The environment's pip, which is hard links here, has the path of another.
        line = line.replace(".venv/bin/pip ", ".venv/bin/python -m pip ")
        places.say("sh", "-ec", line, cwd=here, more={"PATH": f"{programs}:/usr/bin:/bin"})
    shutil.copy(ROOT / "reference/silu.py", here / "student_template")
    sentence = places.say(here / ".venv/bin/kernelmark", "check", "student_template/silu.py", cwd=here)
    assert "passed  60 of 60 points" in sentence, sentence


@pytest.mark.skipif(importlib.util.find_spec("nbconvert") is None, reason="nbconvert and ipykernel are not installed")
@pytest.mark.parametrize("beside", ["the zip", "nothing"])
def test_a_notebook_installs_and_checks_in_jupyter(beside: str, kit: Path, tmp_path: Path) -> None:
    programs = places.environment(tmp_path / "venv")
    notebook = json.loads((kit / "student_template/kernels.ipynb").read_text(encoding="utf-8"))
    install = next(cell for cell in notebook["cells"] if cell["cell_type"] == "code")
    right = (ROOT / "reference/silu.py").read_text()
    silu = {**install, "id": "silu", "source": f"%%kernelmark silu\n{right}"}
    (tmp_path / "desk").mkdir()
    path = tmp_path / "desk" / "kernels.ipynb"
    path.write_text(json.dumps({**notebook, "cells": [install, silu, {**silu, "id": "again"}]}))
    if beside == "the zip":
        shutil.copy(kit.with_suffix(".zip"), path.parent)
    run = (programs / "python", "-m", "nbconvert", "--to", "notebook", "--execute", "--inplace", "--allow-errors", path)
    places.say(*run, cwd=path.parent, more={"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(tmp_path)})
    outputs = [output for cell in json.loads(path.read_text())["cells"] for output in cell["outputs"]]
    if beside == "nothing":
        told = [output for output in outputs if output["output_type"] == "error"]
        assert told[0]["ename"] == "SystemExit" and "put it beside this notebook" in told[0]["evalue"], outputs
        return
    texts = ["".join(output.get("text", "")) for output in outputs]
    checked = [text for text in texts if "passed  60 of 60 points" in text]
    # A spinner would be lines upon lines, and colours signs.
    assert len(checked) == 2 and all(len(text.splitlines()) < 12 and "\x1b" not in text for text in checked), texts
