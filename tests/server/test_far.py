"""A server on lanes of a cluster: lanes and the scheduler are killed, and everybody's file is judged once."""

import signal
import threading
import time
from pathlib import Path

import httpx2
import pytest

from grader.classroom.attempts.store import FOLDER, Store
from grader.commands.remote import CourseClient
from grader.home import ROOT
from grader.server.queue import ServerQueue
from tests.cluster.cluster import Cluster, recorded, until

STUDENTS = ("ada", "bob", "eve", "zoe")


def sent(client: CourseClient, text: str) -> str:
    """The state in which a file that is sent ends."""
    return str(list(client.follow(client.send("silu.py", text.encode())["id"]))[-1]["state"])


@pytest.mark.timeout(240)
def test_lost_lanes_and_a_lost_scheduler_cost_nobody_an_attempt(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    Store.create(out)
    queue = ServerQueue(out / FOLDER)
    tokens = dict(queue.admit([(name, name, False) for name in STUDENTS]))
    queue.close()
    # It takes a while to plan.
    reference = f"import time\ntime.sleep(2)\n{(ROOT / 'reference/silu.py').read_text()}"
    states: dict[str, str] = {}
    with Cluster(tmp_path) as cluster:
        lanes = [cluster.lane(), cluster.lane()]
        server, log = cluster.start("serve", "--out", out, "--listen", "127.0.0.1:0", "--only", "silu",
                                    "--lanes", cluster.address)
        address = until(log, "Ctrl-C", server).split(" at ")[1].split(",")[0]
        until(log, "joined", server)

        def student(name: str, moment: str) -> None:
            states[f"{name} {moment}"] = sent(CourseClient(address, tokens[name]), f"{reference}\n# {name} {moment}\n")

        def everybody(moment: str) -> list[threading.Thread]:
            threads = [threading.Thread(target=student, args=(name, moment)) for name in STUDENTS]
            for thread in threads:
                thread.start()
            return threads

        def at_work(lanes: int) -> None:
            """Wait until so many lanes have a file, and a moment in which they begin to plan it."""
            while httpx2.get(f"{address}/health").json()["started"] < lanes:
                time.sleep(0.05)
            time.sleep(0.5)

        threads = everybody("first")
        at_work(2)
        lanes[0].kill()
        for thread in threads:
            thread.join()
        assert " died while grading " in log.read_text()
        threads = everybody("second")
        at_work(1)
        cluster.scheduler.kill()
        cluster.scheduler.wait()
        until(log, "does not answer", server)
        cluster.listen()
        cluster.lane()
        for thread in threads:
            thread.join()
        server.send_signal(signal.SIGINT)
        assert server.wait(60) == 0, log.read_text()
        # A server goes on by itself: no command is to be given again.
        assert "same command" not in log.read_text()
    assert states == {f"{name} {moment}": "finished" for name in STUDENTS for moment in ("first", "second")}
    assert recorded(out) == {name: ["accepted"] * 2 for name in STUDENTS}
