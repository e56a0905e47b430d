"""Clones: the commit that stood at the deadline, and no word of a student's own configuration is obeyed."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from tests.intake.made import GIT, OPTIONS, by_folder, committed, laid_out, source_of, take_in, whys

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
    assert "no commit by the deadline" in found["shallow"].problems[0]
    assert "no git repository" in found["plain"].problems[0]
    # Without a deadline, what stands now.
    manifest, files = take_in(tmp_path / "all")
    assert files["kernels-ada"] == {"silu.py": source_of("silu", "late")} == files["shallow"]
    assert by_folder(manifest)["kernels-ada"].late is None


def test_what_was_merged_later_was_not_there(tmp_path: Path) -> None:
    clone = tmp_path / "all" / "ada"
    committed(clone, "2026-03-01T10:00:00+01:00", {"silu.py": SILU})
    subprocess.run([*GIT, "checkout", "-q", "-b", "side"], cwd=clone, check=True)
    committed(clone, "2026-03-01T20:00:00+01:00", {"gemm.py": source_of("gemm")})
    subprocess.run([*GIT, "checkout", "-q", "main"], cwd=clone, check=True)
    subprocess.run([*GIT, "merge", "-q", "--no-ff", "-m", "late", "side"], cwd=clone, check=True)
    _, files = take_in(tmp_path / "all", DEADLINE)
    assert files == {"ada": {"silu.py": SILU}}


def test_a_students_configuration_runs_nothing(tmp_path: Path) -> None:
    clone, ran = tmp_path / "all" / "eve", tmp_path / "ran"
    committed(clone, "2026-03-01T10:00:00+01:00", {"silu.py": SILU, ".gitattributes": "*.py filter=x diff=x\n"})
    for key in ("core.fsmonitor", "core.pager", "filter.x.smudge", "diff.x.textconv", "alias.log", "tar.tar.command",
                "core.sshCommand", "alias.rev-list"):
        subprocess.run([*GIT, "config", key, f"!touch {ran}" if key.startswith("alias") else f"touch {ran}"],
                       cwd=clone, check=True)
    ran.unlink(missing_ok=True)
    _, files = take_in(tmp_path / "all", DEADLINE)
    assert files == {"eve": {"silu.py": SILU}} and not ran.exists()
    # The bait works: git itself takes it.
    subprocess.run(["git", "archive", "--format=tar", "HEAD"], cwd=clone, capture_output=True, check=False)
    assert ran.exists()


def test_a_damaged_clone_costs_its_owner_alone(tmp_path: Path) -> None:
    for name in ("ada", "bo", "cy", "di"):
        committed(tmp_path / "all" / name, "2026-03-01T10:00:00+01:00", {"silu.py": SILU})
    shutil.rmtree(tmp_path / "all" / "bo" / ".git" / "objects")
    (tmp_path / "all" / "bo" / ".git" / "objects").mkdir()
    (tmp_path / "all" / "cy" / ".git" / "HEAD").write_text("ref: ../../../etc/passwd\n")
    (tmp_path / "all" / "di" / ".git" / "HEAD").write_text("ref: refs/heads/none\n")
    manifest, files = take_in(tmp_path / "all", DEADLINE)
    found = by_folder(manifest)
    assert files == {"ada": {"silu.py": SILU}, "bo": {}, "cy": {}, "di": {}}
    for name, says in (("bo", "git cannot read it"), ("cy", "a branch expected"), ("di", "has no commit")):
        assert says in found[name].problems[0] and "\n" not in found[name].problems[0]
