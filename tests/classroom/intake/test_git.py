"""Clones: the commit that stood at the deadline, and no word of a student's own configuration is obeyed."""

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from tests.classroom.intake.made import GIT, OPTIONS, by_folder, committed, laid_out, source_of, take_in, whys

SILU = source_of("silu")
DEADLINE = replace(OPTIONS, deadline=datetime.fromisoformat("2026-03-01T23:59:00+01:00"))


def test_the_last_commit_by_the_deadline(tmp_path: Path) -> None:
    ada, lin, eve = (tmp_path / "all" / f"kernels-{name}" for name in ("ada", "lin", "eve"))
    committed(ada, "2026-03-01T10:00:00+01:00", {"silu.py": SILU, "data.bin": bytes(20 << 20), ".gitattributes":
                                                 "silu.py export-ignore\n"})
    committed(ada, "2026-03-01T22:58:00Z", {"silu.py": source_of("silu", "in time")})
    committed(ada, "2026-03-01T23:01:00Z", {"silu.py": source_of("silu", "late")})
    (ada / "silu.py").write_text("never committed")
    committed(lin, "2026-03-02T10:00:00+01:00", {"silu.py": SILU})
    committed(eve, "2026-03-01T10:00:00+01:00", {"work/silu.py": SILU})
    subprocess.run([*GIT, "clone", "-q", "--bare", eve, tmp_path / "all" / "bo.git"], check=True)
    subprocess.run([*GIT, "clone", "-q", "--depth", "1", f"file://{ada}", tmp_path / "all" / "shallow"], check=True)
    laid_out(tmp_path / "all", {"notes.txt": "", "plain/gemm.py": source_of("gemm")})
    manifest, files = take_in(tmp_path / "all", DEADLINE)
    found = by_folder(manifest)
    assert manifest.kind == "git" and [left.name for left in manifest.left] == ["notes.txt"]
    assert files == {
        "kernels-ada": {"silu.py": source_of("silu", "in time")}, "kernels-lin": {}, "kernels-eve": {"silu.py": SILU},
        "bo": {"silu.py": SILU}, "shallow": {}, "plain": {"gemm.py": source_of("gemm")}}
    first = found["kernels-ada"]
    assert (first.submitted_at, first.late) == ("2026-03-01T22:58:00+00:00", False)
    assert whys(first) == {"1 commit": "after the deadline", "data.bin": "no assignment's file",
                           ".gitattributes": "no assignment's file"}
    assert "the first is of 2026-03-02T10:00:00+01:00" in found["kernels-lin"].problems[0]
    assert "no commit before the deadline" in found["shallow"].problems[0]
    assert "no git repository" in found["plain"].problems[0]
    # Without a deadline, what stands now.
    manifest, files = take_in(tmp_path / "all")
    assert files["kernels-ada"] == {"silu.py": source_of("silu", "late")} == files["shallow"]
    assert by_folder(manifest)["kernels-ada"].late is None


def test_the_tag_of_the_submission_is_that_of_the_commit_that_was_taken(tmp_path: Path) -> None:
    ada = tmp_path / "all" / "kernels-ada"
    for number, tags in enumerate((["submit/1-a", "v1"], ["submit/2-b", "submit/3-c"], ["submit/4-d"])):
        committed(ada, f"2026-03-01T2{number + 1}:58:00Z", {"silu.py": source_of("silu", str(number))})
        for tag in tags:
            note = ["-a", "-m", "mine"] if tag.endswith("c") else []
            subprocess.run([*GIT, "tag", *note, tag], cwd=ada, check=True)
    subprocess.run([*GIT, "clone", "-q", ada, tmp_path / "all" / "packed"], check=True)
    (ada / ".git/refs/tags/submit/9").write_text("no commit")
    for options, tag in ((DEADLINE, "submit/3-c"), (OPTIONS, "submit/4-d")):
        found = by_folder(take_in(tmp_path / "all", options)[0])
        assert {name: entry.tag for name, entry in found.items()} == {"kernels-ada": tag, "packed": tag}
        commit = subprocess.run([*GIT, "rev-parse", f"{tag}^{{}}"], cwd=ada, check=True, capture_output=True, text=True)
        assert {entry.commit for entry in found.values()} == {commit.stdout.strip()}


def test_what_was_merged_later_was_not_there(tmp_path: Path) -> None:
    clone = tmp_path / "all" / "ada"
    committed(clone, "2026-03-01T10:00:00+01:00", {"silu.py": SILU})
    subprocess.run([*GIT, "checkout", "-q", "-b", "side"], cwd=clone, check=True)
    committed(clone, "2026-03-01T20:00:00+01:00", {"gemm.py": source_of("gemm")})
    subprocess.run([*GIT, "checkout", "-q", "main"], cwd=clone, check=True)
    subprocess.run([*GIT, "merge", "-q", "--no-ff", "-m", "late", "side"], cwd=clone, check=True)
    _, files = take_in(tmp_path / "all", DEADLINE)
    assert files == {"ada": {"silu.py": SILU}}


def test_work_on_another_branch_is_named(tmp_path: Path) -> None:
    origin = tmp_path / "ada"
    committed(origin, "2026-03-01T10:00:00+01:00", {"silu.py": SILU})

    def branch(name: str, time: str, files: dict[str, str]) -> None:
        subprocess.run([*GIT, "checkout", "-q", "-b", name, "main"], cwd=origin, check=True)
        committed(origin, time, files)
        subprocess.run([*GIT, "checkout", "-q", "main"], cwd=origin, check=True)

    branch("old", "2026-03-01T09:00:00+01:00", {"silu.py": source_of("silu", "old")})
    branch("mine/work", "2026-03-01T11:00:00+01:00", {"silu.py": source_of("silu", "new")})
    branch("words", "2026-03-01T11:00:00+01:00", {"notes.md": "No kernel."})
    branch("late", "2026-03-02T11:00:00+01:00", {"silu.py": source_of("silu", "late")})
    subprocess.run([*GIT, "clone", "-q", origin, tmp_path / "all" / "packed"], check=True)
    origin.rename(tmp_path / "all" / "ada")
    for name, prefix in (("ada", ""), ("packed", "origin/")):
        for options, named in ((DEADLINE, ["mine/work"]), (OPTIONS, ["late", "mine/work"])):
            manifest, files = take_in(tmp_path / "all", options)
            entry = by_folder(manifest)[name]
            assert files[name] == {"silu.py": SILU}
            assert sorted(entry.problems) == [
                f"branch {prefix}{branch} holds work that the branch checked out lacks: silu.py; merge it, or check it "
                "out"
                for branch in named]
            assert whys(entry)[f"branch {prefix}old"] == "not the branch that is checked out"


def test_a_students_configuration_runs_nothing(tmp_path: Path) -> None:
    clone, path = tmp_path / "all" / "eve", tmp_path / "ran"
    committed(clone, "2026-03-01T10:00:00+01:00", {"silu.py": SILU, ".gitattributes": "*.py filter=x diff=x\n"})
    for key in ("core.fsmonitor", "core.pager", "filter.x.smudge", "diff.x.textconv", "alias.log", "tar.tar.command",
                "core.sshCommand", "alias.rev-list"):
        subprocess.run([*GIT, "config", key, f"!touch {path}" if key.startswith("alias") else f"touch {path}"],
                       cwd=clone, check=True)
    path.unlink(missing_ok=True)
    _, files = take_in(tmp_path / "all", DEADLINE)
    assert files == {"eve": {"silu.py": SILU}} and not path.exists()
    # The bait works: git itself takes it.
    subprocess.run(["git", "archive", "--format=tar", "HEAD"], cwd=clone, capture_output=True, check=False)
    assert path.exists()


def _git_file(mallory: Path, bob: Path) -> None:
    shutil.rmtree(mallory / ".git")
    (mallory / ".git").write_text("gitdir: ../bob/.git\n")


def _git_link(mallory: Path, bob: Path) -> None:
    shutil.rmtree(mallory / ".git")
    (mallory / ".git").symlink_to("../bob/.git")


def _linked(name: str, to: str) -> Callable[[Path, Path], None]:
    def link(mallory: Path, _: Path) -> None:
        path = mallory / ".git" / name
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        path.symlink_to(to)
    return link


BORROWED: dict[str, Callable[[Path, Path], object]] = {
    "a file .git": _git_file, "a link .git": _git_link,
    "alternates": lambda mallory, bob: (mallory / ".git/objects/info/alternates").write_text(f"{bob}/.git/objects\n"),
    "objects": _linked("objects", "../../bob/.git/objects"), "refs": _linked("refs", "../../bob/.git/refs"),
    "HEAD": _linked("HEAD", "../../bob/.git/HEAD"), "packed-refs": _linked("packed-refs", "../../bob/.git/packed-refs"),
    "shallow": _linked("shallow", "../../bob/.git/shallow"),
    "a branch": _linked("refs/heads/main", "../../../../bob/.git/refs/heads/main"),
    # By way of a folder of one's own.
    "branches": _linked("refs/heads", "../../work"),
}


@pytest.mark.parametrize("how", BORROWED)
def test_a_clone_borrows_from_nobody(tmp_path: Path, how: str) -> None:
    bob, mallory = tmp_path / "all" / "bob", tmp_path / "all" / "mallory"
    for clone in (bob, mallory):
        committed(clone, "2026-03-01T10:00:00+01:00", {"silu.py": source_of("silu", clone.name)})
    laid_out(mallory, {"work/": ""})
    (mallory / "work" / "main").symlink_to("../../bob/.git/refs/heads/main")
    BORROWED[how](mallory, bob)
    manifest, files = take_in(tmp_path / "all", DEADLINE)
    assert files == {"bob": {"silu.py": source_of("silu", "bob")}, "mallory": {}}
    (problem,) = by_folder(manifest)["mallory"].problems
    assert problem.startswith("its .git leads out of the clone")


def test_a_repository_elsewhere_in_the_clone_is_its_own(tmp_path: Path) -> None:
    committed(tmp_path / "all" / "ada", "2026-03-01T10:00:00+01:00", {"silu.py": SILU})
    (tmp_path / "all" / "ada" / ".git").rename(tmp_path / "all" / "ada" / "store")
    (tmp_path / "all" / "ada" / ".git").write_text("gitdir: store\n")
    # The TA's own folder of clones may be one of links.
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "ada").symlink_to("../all/ada")
    for name in ("all", "linked"):
        assert take_in(tmp_path / name)[1] == {"ada": {"silu.py": SILU}}


def test_a_damaged_clone_costs_its_owner_alone(tmp_path: Path) -> None:
    for name in ("ada", "bo", "cy", "di", "ed"):
        committed(tmp_path / "all" / name, "2026-03-01T10:00:00+01:00", {"silu.py": SILU})
    shutil.rmtree(tmp_path / "all" / "bo" / ".git" / "objects")
    (tmp_path / "all" / "bo" / ".git" / "objects").mkdir()
    (tmp_path / "all" / "cy" / ".git" / "HEAD").write_text("ref: ../../../etc/passwd\n")
    (tmp_path / "all" / "di" / ".git" / "HEAD").write_text("ref: refs/heads/none\n")
    (tmp_path / "all" / "ed" / ".git" / "HEAD").write_text(f"ref: refs/heads/{'e' * 300}\n")
    manifest, files = take_in(tmp_path / "all", DEADLINE)
    found = by_folder(manifest)
    assert files == {"ada": {"silu.py": SILU}, "bo": {}, "cy": {}, "di": {}, "ed": {}}
    for name, says in (("bo", "git cannot read it"), ("cy", "check out a branch"), ("di", "has no commit"),
                       ("ed", "its .git cannot be read: File name too long")):
        assert says in found[name].problems[0] and "\n" not in found[name].problems[0]


def test_a_tree_of_names_without_end_costs_its_owner_alone(tmp_path: Path) -> None:
    """Of a few kilobytes, since each folder holds the one below ten times: 10^9 names and files."""
    lin, eve = tmp_path / "all" / "lin", tmp_path / "all" / "eve"
    committed(lin, "2026-03-01T10:00:00+01:00", {"silu.py": SILU})
    committed(eve, "2026-03-01T10:00:00+01:00", {"silu.py": SILU})
    subprocess.run([*GIT, "clone", "-q", eve, tmp_path / "all" / "abe"], check=True)

    def git(*words: str, given: str = "") -> str:
        return subprocess.run([*GIT, *words], cwd=eve, input=given, text=True, check=True, capture_output=True).stdout

    kind, inner = "100644 blob", git("hash-object", "-w", "silu.py").strip()
    for _ in range(9):
        inner = git("mktree", given="".join(f"{kind} {inner}\t{number}.py\n" for number in range(10))).strip()
        kind = "040000 tree"
    git("update-ref", "HEAD", git("commit-tree", "-m", "work", inner, given="").strip())
    manifest, files = take_in(tmp_path / "all")
    assert files == {"lin": {"silu.py": SILU}, "abe": {"silu.py": SILU}, "eve": {}}
    assert "more than 8 MiB of names" in by_folder(manifest)["eve"].problems[0]
