"""What `docs/cluster.md` has a TA type or write, run as it stands there, with the loopback for all machines."""

import os
import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import yaml

from grader.home import ROOT
from tests.cluster.cluster import until
from tests.command import SECONDS, hand_in, load

TEXT = (ROOT / "docs/cluster.md").read_text()
SECTIONS = {title: re.findall(r"```\w+\n(.*?)```", body, re.DOTALL)
            for title, _, body in (part.partition("\n") for part in TEXT.split("\n## "))}


class Desk:
    """A folder with a class of two, the command on the path, and a port for the scheduler."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.log = folder, folder / "log"
        self.log.touch()
        for name in ("ada", "bob"):
            hand_in(folder / "class", name)
        (folder / "bin").mkdir()
        self.program("kernelmark", f'exec {shlex.join(["env", "--default-signal", sys.executable])} -m grader "$@"')
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self._started: list[subprocess.Popen[bytes]] = []

    def program(self, name: str, text: str) -> None:
        path = self.folder / "bin" / name
        path.write_text(f"#!/bin/bash\n{text}\n")
        path.chmod(0o755)

    def run(self, text: str, *, wait: bool = True) -> None:
        """Runs a block in a shell; what it leaves in the background goes on."""
        for name in ("//desk:", "//scheduler:"):
            text = text.replace(name, "//127.0.0.1:")
        text = text.replace("8786", str(self.port)).replace("/key/", f"{self.folder}/")
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                ["bash", "-e", "-c", text], cwd=self.folder, stdout=log, stderr=log, start_new_session=True,
                env={**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)})
        self._started.append(process)
        if wait:
            assert process.wait(SECONDS) == 0, self.log.read_text()

    def graded(self) -> dict[str, str]:
        return {name: one.verdict for name, one in load(self.folder / "results").items()}

    def end(self) -> None:
        for group in {process.pid for process in self._started}:
            for member in psutil.process_iter():
                try:
                    if os.getsid(member.pid) == group:
                        member.terminate()
                        member.wait(SECONDS)
                except (psutil.Error, ProcessLookupError):
                    continue
        for process in self._started:
            process.wait(SECONDS)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    found = Desk(tmp_path)
    yield found
    found.end()


@pytest.mark.full
def test_two_machines(desk: Desk) -> None:
    begin, helps, grade = SECTIONS["Two machines"]
    desk.run(begin)
    until(desk.log, "scheduler at tls://")
    desk.run(helps)
    desk.run(grade)
    assert desk.graded() == {"ada": "accepted", "bob": "accepted"}
    assert desk.log.read_text().count(" joined: cpu") == 2


@pytest.mark.full
def test_slurm(desk: Desk) -> None:
    """But for Slurm itself: here `srun` starts as many tasks as the script asks for, side by side."""
    begin, _, grade = SECTIONS["Two machines"]
    (script,) = SECTIONS["Slurm"]
    (tasks,) = re.findall(r"^#SBATCH --ntasks=(\d+) ", script, re.MULTILINE)
    desk.program("srun", f'for task in $(seq {tasks}); do "$@" --jobs 1 & done; wait')
    desk.run(begin)
    until(desk.log, "scheduler at tls://")
    desk.run(script, wait=False)
    desk.run(grade)
    assert desk.graded() == {"ada": "accepted", "bob": "accepted"}


def test_what_kubernetes_is_given_fits_together() -> None:
    service, scheduler, lanes = yaml.safe_load_all(SECTIONS["Kubernetes"][0])
    for one in (scheduler, lanes):
        spec = one["spec"]["template"]["spec"]
        (container,), (volume,) = spec["containers"], spec["volumes"]
        # Others may not read the key.
        assert volume["secret"]["defaultMode"] == 0o400 and container["volumeMounts"][0]["name"] == volume["name"]
    assert service["spec"]["selector"].items() <= scheduler["spec"]["template"]["metadata"]["labels"].items()
    assert service["metadata"]["name"] in " ".join(lanes["spec"]["template"]["spec"]["containers"][0]["command"])


@pytest.mark.full
def test_kubernetes(desk: Desk) -> None:
    """But for Kubernetes itself: what its containers run, as often as there are replicas."""
    begin, _, grade = SECTIONS["Two machines"]
    _, scheduler, lanes = yaml.safe_load_all(SECTIONS["Kubernetes"][0])
    desk.run(begin.splitlines()[0])
    for one in (scheduler, lanes):
        (container,) = one["spec"]["template"]["spec"]["containers"]
        for _ in range(one["spec"].get("replicas", 1)):
            desk.run(shlex.join(container["command"]), wait=False)
        if one is scheduler:
            until(desk.log, "scheduler at tls://")
    desk.run(grade)
    assert desk.graded() == {"ada": "accepted", "bob": "accepted"}
