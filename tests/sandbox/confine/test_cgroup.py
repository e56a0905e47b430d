"""Cgroups, the real ones where this process may make them; where not, folders and files laid out like them."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.sandbox.confine import cgroup
from grader.sandbox.confine.cgroup import Cgroup, NoCgroup
from tests.sandbox.confine.restricted import NOBODY, by_nobody

MEMORY_MB = 64
PROCESSES = 12
TIMEOUT = 30

# A shell, or first what it waited for.
KILLED = {-9, 137}
# Of a user on version 2, with systemd and without.
REMEDIES = ("systemd-run --user --scope -p Delegate=yes kernelmark grade …", "")

ALLOCATES = "print(len(b'a' * ({} << 20)))"
# Says how many children it got; at most 50, all ended by itself.
FORKS = """
import os, signal, time
children = []
try:
    while len(children) < 50:
        pid = os.fork()
        if pid == 0:
            time.sleep(20)
            os._exit(0)
        children.append(pid)
except BlockingIOError:
    pass
print(len(children))
for pid in children:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
"""


@pytest.fixture
def group() -> Iterator[Cgroup]:
    try:
        group = cgroup.create(MEMORY_MB, PROCESSES)
    except NoCgroup as error:
        pytest.skip(f"no cgroup here: {error}")
    yield group
    assert group.close()


def run(group: Cgroup, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*group.command(), *command], capture_output=True, text=True, timeout=TIMEOUT, check=False)


def test_a_command_runs_inside_with_its_arguments_as_they_are(group: Cgroup) -> None:
    inside = run(group, "cat", "/proc/self/cgroup").stdout
    for folder in group.folders:
        assert f"/{folder.name}\n" in inside
    words = ["a b", "'; exit 3; '", "$HOME", "--", ""]
    assert run(group, "printf", "%s|", *words).stdout == "".join(f"{word}|" for word in words)


def test_a_command_that_cannot_join_does_not_run(group: Cgroup) -> None:
    assert group.close()
    ended = run(group, "echo", "outside")
    assert (ended.returncode, ended.stdout) == (cgroup.NOT_JOINED, "")


def test_memory_over_the_limit_kills_and_is_counted(group: Cgroup) -> None:
    assert run(group, sys.executable, "-c", ALLOCATES.format(MEMORY_MB // 4)).returncode == 0
    assert group.oom_kills() == 0
    assert run(group, sys.executable, "-c", ALLOCATES.format(3 * MEMORY_MB)).returncode == -9
    assert group.oom_kills() == 1


def test_forks_end_at_the_limit(group: Cgroup) -> None:
    ended = run(group, sys.executable, "-c", FORKS)
    assert ended.stdout.strip() == str(PROCESSES - 1), ended
    assert group.refused_forks() >= 1


def test_usage_is_of_what_runs_inside(group: Cgroup) -> None:
    assert group.usage()[1] == 0
    hold = "x = b'a' * (20 << 20); print('ready', flush=True); input()"
    with subprocess.Popen(
        [*group.command(), sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        memory, processes = group.usage()
        assert 20 << 20 < memory < MEMORY_MB << 20
        assert processes == 1
        process.communicate(b"\n", timeout=TIMEOUT)


def test_kill_ends_everything_and_close_leaves_nothing(group: Cgroup) -> None:
    shells = [subprocess.Popen([*group.command(), "/bin/sh", "-c", "sleep 60 & sleep 60"]) for _ in range(3)]
    deadline = time.monotonic() + TIMEOUT
    while group.usage()[1] < 9 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert group.usage()[1] == 9
    assert group.kill()
    assert {shell.wait(TIMEOUT) for shell in shells} <= KILLED
    assert not [folder for folder in group.folders if (folder / "cgroup.procs").read_text()]
    assert group.close() and group.close()
    assert not [folder for folder in group.folders if folder.exists()]


def test_what_a_dead_grader_left_is_swept_and_the_living_ones_are_not(group: Cgroup) -> None:
    with subprocess.Popen(["true"]) as dead:
        dead.wait(TIMEOUT)
    living = cgroup.create(MEMORY_MB, PROCESSES)
    name = living.folders[0].name.replace(str(os.getpid()), str(dead.pid), 1)
    left = Cgroup([folder.with_name(name) for folder in group.folders])
    for folder in left.folders:
        folder.mkdir()
    with subprocess.Popen([*left.command(), "sleep", "60"], stdin=subprocess.DEVNULL) as orphan:
        while left.usage()[1] == 0:
            time.sleep(0.01)
        cgroup.create(MEMORY_MB, PROCESSES).close()
        assert orphan.wait(TIMEOUT) == -9
    assert not [folder for folder in left.folders if folder.exists()]
    assert all(folder.exists() for folder in (*group.folders, *living.folders))
    assert living.close()


def test_without_the_right_to_write_the_reason_is_told() -> None:
    def refused() -> tuple[str, str]:
        try:
            cgroup.create(MEMORY_MB, PROCESSES)
        except NoCgroup as error:
            return error.reason, error.remedy
        return "made one", ""

    reason, remedy = by_nobody(refused)
    assert reason.startswith((f"uid {NOBODY} cannot make a cgroup: ", "no cgroup with the controller ")), reason
    # Two runs on one machine have the same reason.
    assert "kernelmark-" not in reason, reason
    first = any(h.version == 1 and "memory" in h.controllers for h in cgroup.hierarchies())
    assert remedy == "sudo kernelmark grade …" if first else remedy in REMEDIES


# What only a delegated cgroup of version 2 does, on a hierarchy of version 2 with whatever controllers it offers.

# Run inside a cgroup: a grader with a child, as a lane is, that asks twice, as two lanes do.
DELEGATES = """
import subprocess, sys
from grader.sandbox.confine.cgroup import NoCgroup, delegate, hierarchies
with subprocess.Popen(["sleep", "60"]) as lane:
    try:
        for _ in range(2):
            own = [h.folder for h in hierarchies() if h.version == 2][0]
            base = delegate(own, frozenset(sys.argv[1:]))
            inner = base / "inner"
            inner.mkdir()
            print(base, (inner / "cgroup.controllers").read_text().split(), (base / "cgroup.procs").read_text())
            inner.rmdir()
    except NoCgroup as error:
        print("none:", error)
    finally:
        lane.kill()
"""


@pytest.fixture
def unified() -> Iterator[Path]:
    """A cgroup of version 2 without processes."""
    second = [h.folder for h in cgroup.hierarchies() if h.version == 2]
    if not second:
        pytest.skip("no cgroups of version 2 are mounted")
    folder = second[0] / f"test-{os.getpid()}"
    try:
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"no cgroup of version 2 can be made: {error}")
    yield folder
    assert Cgroup([folder]).close()


def offered(folder: Path) -> list[str]:
    controllers = (folder / "cgroup.controllers").read_text().split()
    if not controllers:
        pytest.skip("no controller of version 2 is handed down to us")
    return controllers


def test_version_2_join_kill_and_close(unified: Path) -> None:
    group = Cgroup([unified])
    assert f"/{unified.name}\n" in run(group, "cat", "/proc/self/cgroup").stdout
    with subprocess.Popen([*group.command(), "/bin/sh", "-c", "sleep 60 & sleep 60"]) as shell:
        while len((unified / "cgroup.procs").read_text().split()) < 3:
            time.sleep(0.01)
        assert group.kill()
        assert shell.wait(TIMEOUT) in KILLED
    assert group.close()
    assert not unified.exists()


def test_a_delegated_cgroup_is_emptied_into_a_leaf_once(unified: Path) -> None:
    controllers = offered(unified)
    ended = run(Cgroup([unified]), sys.executable, "-c", DELEGATES, *controllers)
    line = f"{unified} {controllers} "
    assert ended.stdout.split("\n") == [line, line, ""], ended
    assert [path.name.rpartition("-")[2] for path in unified.iterdir() if path.is_dir()] == ["graders"]


def test_processes_of_others_are_not_moved(unified: Path) -> None:
    controllers = offered(unified)
    group = Cgroup([unified])
    with subprocess.Popen([*group.command(), "cat"], stdin=subprocess.PIPE) as other:
        while Path(f"/proc/{other.pid}/comm").read_text() != "cat\n":
            time.sleep(0.01)
        ended = run(group, sys.executable, "-c", DELEGATES, *controllers)
        assert ended.stdout.startswith("none: ") and ended.stdout.endswith("not the grader's: cat\n"), ended
        assert (unified / "cgroup.procs").read_text() == f"{other.pid}\n"
        assert not [path for path in unified.iterdir() if path.is_dir()]


# What can be looked at without the kernel: files laid out as it lays them out.


def about(folder: Path, mountinfo: str, membership: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "mountinfo").write_text(mountinfo)
    (folder / "cgroup").write_text(membership)
    return folder


def laid_out(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".", 1)).write_text(text)
    return folder


V1_FILES = {"memory__limit_in_bytes": "0", "memory__memsw.limit_in_bytes": "0", "memory__swappiness": "60"}
V2_FILES = {"memory__max": "max", "memory__swap.max": "max", "pids__max": "max"}


def test_own_cgroups_are_found_in_each_hierarchy(tmp_path: Path) -> None:
    memory = laid_out(tmp_path / "memory" / "a" / "b")
    pids = laid_out(tmp_path / "pids")
    two = laid_out(tmp_path / "uni fied" / "x", cgroup__controllers="cpu hugetlb\n")
    where = about(
        tmp_path / "proc",
        f"23 1 0:5 / /proc rw - proc proc rw\n"
        f"35 31 0:32 / {tmp_path}/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n"
        f"39 31 0:36 / {tmp_path}/pids rw,relatime - cgroup cgroup rw,pids\n"
        f"41 31 0:38 / {tmp_path}/uni\\040fied rw - cgroup2 cgroup2 rw\n",
        "8:pids:/\n4:memory:/a/b\n1:name=systemd:/elsewhere\n0::/x\n")
    assert cgroup.hierarchies(where) == [
        cgroup.Hierarchy(1, memory, frozenset({"memory"})),
        cgroup.Hierarchy(1, pids, frozenset({"pids"})),
        cgroup.Hierarchy(2, two, frozenset({"cpu", "hugetlb"}))]


@pytest.mark.parametrize(("root", "path", "inner"), [
    ("/", "/user.slice/run-1.scope", "user.slice/run-1.scope"),
    # A container without a cgroup namespace: the mount begins at its own cgroup.
    ("/docker/abc", "/docker/abc", "."),
    ("/docker/abc", "/docker/abc/lower", "lower"),
    ("/docker/abc", "/docker/abcd", None),
    # With one, seen from a process outside of it.
    ("/", "/../other", None),
    ("/", "/gone (deleted)", None),
])
def test_the_mount_may_show_a_part_of_the_tree(tmp_path: Path, root: str, path: str, inner: str | None) -> None:
    for folder in ("cg/user.slice/run-1.scope", "cg/lower", "cg/other", "other", "abcd"):
        laid_out(tmp_path / folder)
    where = about(tmp_path / "proc", f"41 31 0:38 {root} {tmp_path}/cg rw - cgroup2 cgroup rw\n", f"0::{path}\n")
    expected = [] if inner is None else [tmp_path / "cg" / inner]
    assert [hierarchy.folder for hierarchy in cgroup.hierarchies(where)] == expected


@pytest.mark.parametrize(("files", "written"), [
    (V1_FILES, {"memory.limit_in_bytes": "104857600", "memory.memsw.limit_in_bytes": "104857600",
                "memory.swappiness": "60"}),
    ({name: text for name, text in V1_FILES.items() if "memsw" not in name},
     {"memory.limit_in_bytes": "104857600", "memory.swappiness": "0"}),
    (V2_FILES, {"memory.max": "104857600", "memory.swap.max": "0", "pids.max": "12"}),
    ({name: text for name, text in V2_FILES.items() if "swap" not in name},
     {"memory.max": "104857600", "pids.max": "12"}),
])
def test_limits_of_either_version(tmp_path: Path, files: dict[str, str], written: dict[str, str]) -> None:
    folder = laid_out(tmp_path / "group", **files)
    controllers = {"memory"} | ({"pids"} if "pids__max" in files else set())
    cgroup.limit(folder, frozenset(controllers), 100, PROCESSES)
    assert {path.name: path.read_text() for path in folder.iterdir()} == written


def test_figures_of_version_2(tmp_path: Path) -> None:
    group = Cgroup([laid_out(
        tmp_path / "group", memory__current="4096\n", pids__current="3\n", pids__events="max 7\n",
        memory__events="low 0\nhigh 0\nmax 12\noom 5\noom_kill 2\noom_group_kill 1\n")])
    assert (group.usage(), group.oom_kills(), group.refused_forks()) == ((4096, 3), 2, 7)


def test_the_root_of_version_2_hands_down_what_is_missing(tmp_path: Path) -> None:
    root = laid_out(tmp_path / "cg", cgroup__subtree_control="cpu pids\n", cgroup__procs="1\n")
    assert cgroup.delegate(root, frozenset({"memory", "pids"})) == root
    assert (root / "cgroup.subtree_control").read_text() == "+memory"


@pytest.mark.parametrize(("mounted", "reason"), [
    ("", "no cgroup with the controller memory is mounted"),
    ("41 31 0:38 / {0}/cg rw - cgroup2 cgroup2 rw\n", "no cgroup with the controller pids is delegated"),
])
def test_without_controllers_the_reason_is_told(tmp_path: Path, mounted: str, reason: str) -> None:
    laid_out(tmp_path / "cg", cgroup__controllers="memory cpu\n")
    where = about(tmp_path / "proc", mounted.format(tmp_path), "0::/\n")
    with pytest.raises(NoCgroup, match=f"^{reason}$"):
        cgroup.create(MEMORY_MB, PROCESSES, about=where)


def test_close_never_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroup, "REMOVE_SECONDS", 0.05)
    # Files of an ordinary folder keep it from being removed, as processes that cannot die would.
    assert not Cgroup([laid_out(tmp_path / "group", cgroup__procs="")]).close()
    assert Cgroup([tmp_path / "never there"]).close()
    assert Cgroup([tmp_path / "never there"]).usage() == (0, 0)
