"""Downloads as platforms write them, made for tests of facts about their names; all people are invented."""

import json
import subprocess
import zipfile
from collections.abc import Mapping
from pathlib import Path

from grader.classroom.intake.main import IntakeOptions, taken_in
from grader.classroom.intake.manifest import Manifest, ManifestEntry, read_manifest

KNOWN = {"silu": "silu.py", "gemm": "gemm.py", "rmsnorm_vector": "rmsnorm_vector.py"}
OPTIONS = IntakeOptions(KNOWN)
Files = Mapping[str, str | bytes]
GIT = ("git", "-c", "user.name=Ada", "-c", "user.email=ada@x.edu", "-c", "init.defaultBranch=main")


def source_of(name: str, mark: str = "") -> str:
    return f"def {name}(x, out):\n    ...  # {mark}\n"


def notebook(*cells: str) -> str:
    """A notebook of these code cells, as Jupyter and Colab write it, behind a cell of text."""
    code: list[dict[str, object]] = [{"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [],
             "source": cell.splitlines(keepends=True)} for cell in cells]
    return json.dumps({"cells": [{"cell_type": "markdown", "metadata": {}, "source": "# Work"}, *code],
                       "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def laid_out(folder: Path, files: Files) -> Path:
    """Files below a folder, by their paths; a path that ends in a slash is an empty folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = folder / name
        (path if name.endswith("/") else path.parent).mkdir(parents=True, exist_ok=True)
        if not name.endswith("/"):
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def zipped(path: Path, files: Files) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def committed(folder: Path, time: str, files: Files, *more: str) -> None:
    """A commit of these files in a repository that is made where there is none, at a time of ISO 8601."""
    if not (folder / ".git").is_dir():
        folder.mkdir(parents=True)
        subprocess.run([*GIT, "init", "-q"], cwd=folder, check=True)
    laid_out(folder, files)
    for command in (["add", "-A"], ["commit", "-q", "-m", "work", *more]):
        subprocess.run([*GIT, *command], cwd=folder, check=True, env={
            "PATH": "/usr/bin:/bin", "GIT_AUTHOR_DATE": time, "GIT_COMMITTER_DATE": time})


def take_in(source: Path, options: IntakeOptions = OPTIONS) -> tuple[Manifest, dict[str, dict[str, str]]]:
    """The manifest, and the text of each file of each submission."""
    with taken_in(source, options) as (manifest, made):
        assert read_manifest(made) == manifest
        return manifest, {folder.name: {str(path.relative_to(folder)): path.read_text(errors="replace")
                                        for path in folder.rglob("*") if path.is_file()}
                          for folder in made.iterdir() if folder.is_dir()}


def whys(one: ManifestEntry) -> dict[str, str]:
    return {left.name: left.why for left in one.left}


def by_folder(manifest: Manifest) -> dict[str, ManifestEntry]:
    return {submission.folder: submission for submission in manifest.submissions}
