"""What a killed process leaves is removed by the next command, and what a living one or another user has is not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from grader import temporary
from grader.home import ROOT
from tests.command import eventually, kernelmark

# Each makes what it may leave behind below its argument, tells where, and waits to be killed.
MAKERS = {
    "an intake's class": "from grader.classroom.intake.main import IntakeOptions, taken_in\n"
                         "with taken_in(at / 'all', IntakeOptions({'silu': 'silu.py'}), at) as (_, made): wait(made)",
    "a fork server's home": "from grader.sandbox.forkserver.handle import ForkServer\n"
                            "from grader.plan import wire\n"
                            "os.environ['TMPDIR'] = str(at); ForkServer(layers=wire.Layers())\n"
                            "wait(next(at.glob('kernelmark-fork-server-*')))",
    "a file that is to replace another": "from grader.results import files\n"
                                         "Path.replace = lambda fresh, path: wait(fresh)\n"
                                         "files.replace(at / 'gradebook.csv', b'x')",
    "a folder that a submission closed": "made = temporary.make('check', at); (made / 'a' / 'b').mkdir(parents=True)\n"
                                         "(made / 'a').chmod(0); wait(made)",
    "another process's, by fork": "made = temporary.make('check', at)\n"
                                  "if os.fork() == 0: wait(temporary.make('probe', at))\n"
                                  "os.wait()",
}
START = """
import os, sys, time
from pathlib import Path
from grader import temporary
at = Path(sys.argv[1])
def wait(path):
    print(path, flush=True)
    time.sleep(600)
"""


def a_process(maker: str, at: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", f"{START}\n{MAKERS[maker]}\n", at], stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, start_new_session=True)


@pytest.mark.parametrize("maker", MAKERS)
def test_the_next_command_removes_what_a_killed_process_made(tmp_path: Path, maker: str) -> None:
    (tmp_path / "all" / "ann").mkdir(parents=True)
    (tmp_path / "all" / "ann" / "silu.py").touch()
    with a_process(maker, tmp_path) as process:
        try:
            assert process.stdout is not None
            path = Path(process.stdout.readline().strip())
            assert path.is_relative_to(tmp_path) and path.exists()
            assert kernelmark("assignments").returncode == 0
            # It is another process's, which lives.
            assert path.exists()
        finally:
            os.killpg(process.pid, 9)
    # A fork server hears of the end of its parent a moment later, and holds the parent's note until then.
    eventually(lambda: kernelmark("assignments").returncode == 0 and os.listdir(tmp_path) == ["all"])


def test_nothing_else_is_removed_whatever_a_note_says(tmp_path: Path) -> None:
    precious, ours = tmp_path / "results", tmp_path / "kernelmark-check-0"
    precious.mkdir()
    (ours / "in").mkdir(parents=True)
    (ours / "link").symlink_to(precious)
    linked = tmp_path / "kernelmark-check-1"
    linked.symlink_to(precious)
    subprocess.run([sys.executable, "-c", START + f"for path in {list(map(str, (precious, ours, linked)))}: "
                    "temporary.expect(Path(path))\nos.kill(os.getpid(), 9)", tmp_path], check=False,
                   env={**os.environ, "PYTHONPATH": str(ROOT)})
    temporary.sweep()
    assert os.listdir(tmp_path) == ["results"]


def test_a_folder_of_notes_that_another_user_made_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(temporary, "PLACES", (str(tmp_path), lambda: str(tmp_path / "other")))
    (tmp_path / "other").mkdir()
    (theirs := tmp_path / f"kernelmark-{os.geteuid()}").mkdir()
    theirs.chmod(0o777)
    (kept := tmp_path / "kernelmark-check-0").mkdir()
    (theirs / "note").write_bytes(os.fsencode(kept) + b"\0")
    temporary.sweep()
    assert kept.exists() and (theirs / "note").exists()
    (tmp_path / "other" / theirs.name).mkdir(mode=0o700)
    (tmp_path / "other" / theirs.name / "note").write_bytes(os.fsencode(kept) + b"\0cut off")
    temporary.sweep()
    assert not kept.exists() and os.listdir(tmp_path / "other" / theirs.name) == []
