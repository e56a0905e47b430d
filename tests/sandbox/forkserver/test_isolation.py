"""Each layer refuses what it is there for, alone, and a worker without it manages just that."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from grader import home
from grader.errors import InfrastructureError
from grader.home import Home
from grader.plan import wire
from grader.sandbox.confine import bubblewrap, landlock, seccomp, surroundings
from grader.sandbox.confine.probe import ATTEMPTS
from grader.sandbox.forkserver import isolation
from grader.sandbox.forkserver.handle import ForkServer
from grader.sandbox.forkserver.isolation import REFUSED, SEALED, Isolation, level, measure, name_of, probe
from tests.sandbox.confine.attacks import tried

ROOT = os.geteuid() == 0
NONE = wire.Layers()
LIMITS = wire.Limits(memory_mb=1024, file_mb=1, processes=16, cpu_seconds=10)

FILES = {"read a file of the grader's", "write a file outside", "read the course's files"}
SOCKETS = {"connect to a port", "connect to a local socket", "open a network socket"}

# What each layer refuses by itself, where a worker without layers is sure to manage it. Tracing and reading processes
# takes one that is neither hidden nor privileged: test_landlock_processes.py and test_seccomp_refusals.py have one.
ALONE: dict[str, tuple[wire.Layers, set[str]]] = {
    "seccomp": (wire.Layers(seccomp=True), {
        *SOCKETS, "signal a process outside", "make memory that outlives it", "make a namespace", "act as root"}),
    "Landlock": (wire.Layers(landlock=True), FILES),
    "namespaces": (wire.Layers(namespaces=True), {
        *FILES, "signal a process outside", "connect to a port", "connect to a local socket",
        "see the grader's folders", "see processes outside"}),
    "another user": (wire.Layers(namespaces=True, uid=1_600_000_000), {"act as root"}),
}


def _skip_without(layers: wire.Layers) -> None:
    there, missing = isolation.offered()
    for name in ("namespaces", "landlock", "seccomp"):
        if getattr(layers, name) and not getattr(there, name):
            pytest.skip("; ".join(missing))
    if layers.uid is not None and not ROOT:
        pytest.skip("only root may choose another user")


@pytest.fixture(scope="module")
def bare() -> frozenset[str]:
    """What a worker manages that is only a process of its own."""
    managed, trouble = probe(NONE)
    assert not trouble
    return managed


@pytest.mark.parametrize(("layers", "refused"), ALONE.values(), ids=ALONE)
def test_a_layer_alone_refuses_what_a_worker_without_it_manages(
    bare: frozenset[str], layers: wire.Layers, refused: set[str]
) -> None:
    _skip_without(layers)
    if not ROOT:
        # As it is without privileges.
        refused = refused - {"act as root"}
    assert refused <= bare, refused - bare
    managed, trouble = probe(layers)
    assert not trouble
    assert not managed & refused


def test_every_attempt_is_claimed_by_a_level_and_the_other_way_round() -> None:
    claimed = [name for names in REFUSED.values() for name in names]
    assert sorted(claimed) == sorted(ATTEMPTS)


def test_a_level_takes_its_layers_and_a_probe_that_managed_nothing() -> None:
    full = wire.Layers(namespaces=True, uid=1, landlock=True, seccomp=True)
    nothing = frozenset[str]()
    assert level(full, nothing) == 3
    assert level(full.model_copy(update={"namespaces": False}), nothing) == 2
    assert level(full.model_copy(update={"namespaces": False, "landlock": False}), nothing) == 1
    assert level(full.model_copy(update={"seccomp": False}), nothing) == 0
    for number, names in REFUSED.items():
        for name in names:
            assert level(full, frozenset({name})) == number - 1, name


def test_this_machine_gets_the_strongest_it_offers() -> None:
    measured = measure()
    offered = measured.layers
    assert offered.landlock == (landlock.abi() >= landlock.LEAST_ABI)
    assert offered.seccomp == seccomp.available()
    if offered.seccomp and offered.landlock:
        assert measured.level >= 2, measured
    if offered.namespaces:
        assert measured.level >= 3, measured
    assert measured.level < SEALED or measured.cgroup
    assert measured.reasons


def test_without_bubblewrap_it_says_so_and_what_adds_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sh", "python3"):
        (tools / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("PATH", str(tools))
    bubblewrap.trouble.cache_clear()
    try:
        measured = measure.__wrapped__()
    finally:
        bubblewrap.trouble.cache_clear()
    assert measured.level <= 2
    assert any("apt install bubblewrap" in text for text in measured.missing)


def test_a_layer_that_cannot_be_had_is_a_failure_of_ours_with_its_reason() -> None:
    fork_server = ForkServer(layers=NONE)
    try:
        # No limit can be so high.
        with pytest.raises(InfrastructureError, match=r"^a worker did not get into its sandbox: OverflowError: .+$"):
            fork_server.spawn(LIMITS.model_copy(update={"file_mb": 2**62}), "probe")
    finally:
        fork_server.close()


def test_nothing_of_the_course_is_among_what_a_worker_reads() -> None:
    course = Path(surroundings.course_file()).parent
    for path in map(Path, surroundings.readable()):
        assert not course.is_relative_to(path), path
        assert not any(path.is_relative_to(course / name) for name in ("assignments", "reference", "examples", "tests"))


def test_what_lies_beside_a_hidden_folder_can_be_read_and_nothing_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = tmp_path / "lib" / "packages"
    course, grader = tmp_path / "src" / "course", packages / "grader"
    for folder in (packages / "torch", grader / "shipped" / "assignments", course / "assignments", course / ".venv"):
        folder.mkdir(parents=True)
    (tmp_path / "lib64").symlink_to(tmp_path / "lib")
    (packages / "link").symlink_to(grader / "shipped")
    (packages / "module.py").touch()
    monkeypatch.setattr(home, "PACKAGE", grader)
    monkeypatch.setattr(home, "SHIPPED", grader / "shipped")
    monkeypatch.setattr(home, "root", lambda: course)
    monkeypatch.setattr(surroundings, "readable", lambda: (str(tmp_path), str(course / ".venv")))
    assert surroundings.hidden() == (str(grader / "shipped"), str(course))
    whole, listed = surroundings.readable_paths()
    # Each place once, though a link leads there, too.
    assert whole == [str(path) for path in (packages / "module.py", packages / "torch", course / ".venv")]
    assert listed == [str(path) for path in (tmp_path, tmp_path / "lib", packages, tmp_path / "src")]


def test_what_is_hidden_is_so_by_every_way_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped, course = tmp_path / "real/lib/grader/shipped", tmp_path / "course"
    for folder in (shipped / "assignments", course / "assignments"):
        folder.mkdir(parents=True)
    (shipped / "silu.py").write_text("taken")
    # An environment that is reached through a link.
    link = tmp_path / "link"
    link.symlink_to("real")
    monkeypatch.setattr(home, "PACKAGE", shipped.parent)
    monkeypatch.setattr(home, "SHIPPED", shipped)
    monkeypatch.setattr(home, "root", lambda: course)
    readable = (*surroundings.readable(), str(link))
    monkeypatch.setattr(surroundings, "readable", lambda: readable)
    seen = (*readable, *surroundings.own_code())
    hidden = surroundings.hidden()
    assert hidden == (str(link / "lib/grader/shipped"), str(shipped))
    if trouble := bubblewrap.trouble(seen, hidden):
        pytest.skip(trouble)
    for path in (shipped / "silu.py", link / "lib/grader/shipped/silu.py"):
        shown = subprocess.run([*bubblewrap.command(seen, hidden), "/bin/cat", str(path)], capture_output=True,
                               text=True, check=False)
        assert shown.stdout == "" and "No such file" in shown.stderr, shown


# Where class, results, store and course lie, below an environment or a folder that packages were put into; and whether
# all that lies there would be read if it were not left out.
PLACES = {
    "in an environment's libraries": ("environment/lib/kept", True),
    "among what it shares": ("environment/share", True), "in the folder that is one": ("environment", False),
    "among packages": ("packages", True), "in a folder among packages": ("packages/kept", True),
}
READS = """
    found = []
    for name in {names}:
        try:
            found += [name] if open(name, "rb").read() else []
        except OSError:
            pass
    return " ".join(found) or "nothing"
"""


@pytest.mark.parametrize("layers", [wire.Layers(landlock=True), wire.Layers(namespaces=True)], ids=name_of)
@pytest.mark.parametrize(("place", "within"), PLACES.values(), ids=PLACES)
def test_no_worker_reads_class_results_store_or_course_wherever_they_lie(
    place: str, within: bool, layers: wire.Layers, monkeypatch: pytest.MonkeyPatch
) -> None:
    _skip_without(layers)
    with tempfile.TemporaryDirectory() as name:
        above, folder = Path(name), Path(name) / place
        above.chmod(0o755)
        names = ("class/ada/silu.py", "class/bob/silu.py", "results/ada/result.json", "results/.attempts/attempts.db",
                 "course/assignments/silu/hidden.toml", "course/course.toml")
        package = above / "packages/torch/__init__.py"
        for path in (package, above / "packages/torch-2.dist-info/RECORD", *map(folder.joinpath, names)):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("torch/__init__.py,,\ntorch-2.dist-info/RECORD,,\n")
        monkeypatch.setattr(sys, "exec_prefix", str(above / "environment"))
        monkeypatch.syspath_prepend(above / "packages")
        monkeypatch.setattr(surroundings, "needed_files", lambda: [str(package)])
        attack = READS.format(names=[str(package), *(str(folder / name) for name in names)])
        surroundings.readable.cache_clear()
        home.enter(Home(folder / "course", folder / "course/course.toml"))
        surroundings.withhold([folder / "class", folder / "class/ada", folder / "class/bob", folder / "results"])
        try:
            assert len(surroundings.withheld_files()) == 4
            assert tried(attack, layers=layers) == str(package)
            # One of these folders may be all there is.
            surroundings.withhold([folder])
            assert tried(attack, layers=layers) == str(package)
            home.enter(None)
            surroundings.withhold([])
            read = [str(folder / name) for name in names] if within else []
            assert tried(attack, layers=layers).split() == [str(package), *read]
        finally:
            home.enter(None)
            surroundings.withhold([])
            surroundings.readable.cache_clear()


def test_a_path_that_another_user_cannot_reach_is_named() -> None:
    # Above pytest's own folders stands one that is closed.
    with tempfile.TemporaryDirectory() as name:
        inner = Path(name) / "inner"
        inner.mkdir(mode=0o755)
        assert surroundings.open_to_others((str(inner),)) == name
        Path(name).chmod(0o711)
        assert surroundings.open_to_others((str(inner),)) == ""


def test_what_is_closed_to_roots_workers_is_named_with_whom_to_grade_as(monkeypatch: pytest.MonkeyPatch) -> None:
    if not ROOT:
        pytest.skip("only root meets what is closed to its workers")
    with tempfile.TemporaryDirectory() as name:
        package = Path(name) / "packages/torch.py"
        package.parent.mkdir()
        package.touch()
        os.chown(name, 1_600_000_000, -1)
        monkeypatch.setattr(surroundings, "readable", lambda: (str(package.parent),))
        monkeypatch.setattr(surroundings, "needed_files", lambda: [str(package)])
        with pytest.raises(InfrastructureError, match=f"{name} is closed to root's workers") as met:
            measure.__wrapped__()
        assert met.value.remedy == "sudo -u #1600000000 kernelmark …"
        Path(name).chmod(0o711)
        assert measure.__wrapped__().level > 0


def test_an_isolation_reads_as_number_and_name() -> None:
    assert str(Isolation(3, NONE, False, ())) == "3 namespaced"
