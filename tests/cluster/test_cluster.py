"""Lanes on other machines give what local ones give, to nobody without the key, and for no other version."""

import contextlib
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from distributed import Client

from grader.cluster.scheduler import endpoint, write_key
from grader.commands import cluster as command
from grader.errors import UserError
from grader.home import ROOT
from grader.sandbox.forkserver import isolation
from tests.cluster.cluster import Cluster, class_of, until
from tests.command import kernelmark

# What two gradings of the same files with the same seed do not share: times, and with how many signs pytest fills the
# line that tells them.
TIMES = re.compile(r'<h3>Slowest</h3>.*?</ol>|"(seconds|graded_at)": ("[^"]*"|[\d.e-]+)|[\d.,]+ (µ|m)?s\b|'
                   r"[\d.]+s\b( \(\d+:\d\d:\d\d\))?|\d{4}-\d\d-\d\d.\d\d:\d\d(:\d\d)?(\+00:00)?|={3,}", re.DOTALL)
# A lane takes half a minute for some of the sample class on a free machine.
CLASS_SECONDS = 300


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("cluster")) as found:
        found.lane()
        yield found


def written(out: Path) -> dict[str, str]:
    """What a grading has written for people and programs, by file, without times and dates."""
    return {str(path.relative_to(out)): TIMES.sub("", path.read_text(errors="replace"))
            for path in out.rglob("*") if path.is_file() and ".attempts" not in path.parts}


@pytest.mark.timeout(2 * CLASS_SECONDS)
@pytest.mark.parametrize(("only", "names"), [
    ("silu", ("alice", "carol")),
    ("copy_first_column,rmsnorm_matrix", ("alice", "judith"))], ids=["right", "mended"])
def test_some_of_the_sample_class_get_the_same_results_here_and_there(
    cluster: Cluster, tmp_path: Path, only: str, names: tuple[str, ...]
) -> None:
    some = [word for name in names for word in ("--student", name)]
    words = ("--only", only, *some, "--seed", "7", "--allow-degraded")
    students, out = ROOT / "examples/class", tmp_path / "out"
    process, log = cluster.grade(students, out, *words)
    assert process.wait(CLASS_SECONDS) == 0, log.read_text()
    # Results name the command that gives them again, with the folder that they go to.
    out.rename(tmp_path / "there")
    here = kernelmark("grade", students, "--out", out, *words, apart=True, seconds=CLASS_SECONDS)
    assert here.returncode == 0, here
    ours, theirs = written(out), written(tmp_path / "there")
    assert ours.keys() == theirs.keys()
    assert [name for name in ours if ours[name] != theirs[name]] == []
    result = json.loads((tmp_path / "there" / "alice" / "result.json").read_text())
    assert result["environment"]["seed"] == "7"


REFUSED = {
    "plain, for all": ("tcp://0.0.0.0:8786", False, "use tls://0.0.0.0:8786 and --key FILE"),
    "plain, on the loopback": (
        "tcp://127.0.0.1:8786", False, "from any account of this machine, would control every lane"),
    "plain with a key": ("tcp://localhost:8786", True, "use tls://localhost:8786 and --key FILE"),
    "no key": ("tls://127.0.0.1:8786", False, "no key given; pass --key FILE"),
    "no scheme": ("127.0.0.1:8786", True, "give an address such as tls://host:8786"),
    "no port": ("tls://host:much", True, "give an address such as tls://host:8786"),
}


@pytest.mark.parametrize(("address", "with_key", "said"), REFUSED.values(), ids=REFUSED)
def test_nothing_is_without_tls_and_key(tmp_path: Path, address: str, with_key: bool, said: str) -> None:
    key = tmp_path / "key.pem"
    write_key(key)
    with pytest.raises(UserError, match=re.escape(said)):
        endpoint(address, key if with_key else None)


def test_a_key_is_its_owners_alone_and_no_students(tmp_path: Path) -> None:
    key, at = tmp_path / "class" / "key.pem", "tls://127.0.0.1:1"
    key.parent.mkdir()
    write_key(key)
    assert key.stat().st_mode & 0o777 == 0o600
    assert endpoint(at, key, tmp_path / "others").security is not None
    with pytest.raises(UserError, match="lies among the submissions"):
        endpoint(at, key, tmp_path / "class")
    with pytest.raises(UserError, match="File exists; choose a new file"):
        write_key(key)
    key.chmod(0o640)
    with pytest.raises(UserError, match="others may open it; run chmod 600 on it"):
        endpoint(at, key)
    key.chmod(0o600)
    for text in (b"no key\n", b"\xff\xfe", key.read_bytes().partition(b"-----BEGIN CERT")[0]):
        key.write_bytes(text)
        with pytest.raises(UserError, match="no private key with its certificate"):
            endpoint(at, key)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_key_that_root_gives_to_a_group_of_ours_is_taken() -> None:
    """As Kubernetes gives a secret to a pod that is not root's."""
    user, group, other = 1_700_000_001, 1_700_000_002, 1_700_000_003
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        write_key(key := Path(folder, "key.pem"))
        os.chown(key, 0, group)
        key.chmod(0o440)
        for member, owner, taken in ((group, 0, True), (other, 0, False), (group, other, False)):
            os.chown(key, owner, group)
            os.setegid(member)
            os.seteuid(user)
            try:
                with contextlib.nullcontext() if taken else pytest.raises(UserError, match="others may open it"):
                    assert endpoint("tls://127.0.0.1:1", key).security is not None
            finally:
                os.seteuid(0)
                os.setegid(0)


def test_the_commands_say_what_they_lack(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = kernelmark("scheduler", "--listen", "tcp://0.0.0.0:0")
    assert refused.returncode == 2 and len(refused.stderr.splitlines()) == 1
    lonely = kernelmark("grade", "examples/class", "--key", "key.pem")
    assert lonely.stderr.startswith("kernelmark: --key: of no use without --lanes")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UserError, match=r"; run \.venv/bin/pip install -e '\.\[cluster\]'$"):
        command.lane("tls://127.0.0.1:1")


def test_without_the_key_nobody_gets_in(cluster: Cluster, tmp_path: Path) -> None:
    write_key(tmp_path / "other.pem")
    port = cluster.address.rpartition(":")[2]
    class_of(tmp_path / "class", ["ada"])
    graded = ("grade", tmp_path / "class", "--out", tmp_path / "out", "--lanes")
    other = ("--key", tmp_path / "other.pem")
    for refused, said in (
            (kernelmark("lane", cluster.address, "--jobs", "1", *other), "start a scheduler there with the same key"),
            (kernelmark(*graded, cluster.address, *other, apart=True), "start a scheduler there with the same key"),
            (kernelmark(*graded, f"tcp://127.0.0.1:{port}", apart=True), "use tls://127.0.0.1")):
        assert refused.returncode == 2 and refused.stderr.count("\n") == 1, refused
        assert said in refused.stderr
    # Nor who speaks the protocol without TLS, from another account of this machine.
    with pytest.raises(OSError, match="Connection reset"):
        Client(f"tcp://127.0.0.1:{port}", timeout=3)
    assert not (tmp_path / "out" / "ada").exists()


def test_a_lane_of_another_version_or_with_less_isolation_gets_no_job(tmp_path: Path) -> None:
    other, bare = tmp_path / "other", tmp_path / "bin"
    for name in ("grader", "assignments", "reference"):
        shutil.copytree(ROOT / name, other / name)
    shutil.copy(ROOT / "course.toml", other)
    with (other / "assignments/silu/assignment.py").open("a") as stream:
        stream.write("# Another tolerance.\n")
    # Without bubblewrap.
    bare.mkdir()
    class_of(tmp_path / "class", ["ada"])
    weak = isolation.measure().level > 2
    with Cluster(tmp_path) as cluster:
        if weak:
            cluster.lane(wait=False, path=str(bare))
        cluster.lane(cwd=other)
        grade, log = cluster.grade(
            tmp_path / "class", tmp_path / "out", "--only", "silu", "--min-isolation", "3" if weak else "0")
        for words in ("refused: its assignments", "waiting for one", *(["refused: isolation"] if weak else [])):
            until(log, words, grade)
        refused = "\n".join(sorted(line for line in log.read_text().splitlines() if "refused" in line))
        assert re.search(r"lane \S+ refused: its assignments are not this course's, so start it in a copy of the "
                         r"course's folder$", refused, re.MULTILINE)
        if weak:
            assert re.search(
                r"refused: isolation level 2 confined \(.*\), and 3 namespaced is required; --allow-", refused)
        assert refused.count("refused") == 1 + weak and " joined: " not in log.read_text()
