"""A course server that is killed again and again while students send: nothing received is lost or judged twice.

python benchmarks/server_kills.py --kills 100 [--students 4] [--most 16] [--pause 8]

Each time the server is killed (SIGKILL) at a random moment, at most so many seconds after it was started. Students send
files all the while, after pauses of so many seconds on average, each with contents of its own. At the end the server
may finish, and its answers to each student are compared with its queue and its attempts.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

from grader.classroom.attempts.store import FOLDER, Store
from grader.commands.remote import CourseClient
from grader.errors import UserError
from grader.home import ROOT
from grader.server.queue import ServerQueue

KERNELS = ("silu", "transpose", "copy_first_column")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--students", type=int, default=4)
    parser.add_argument("--most", type=float, default=16)
    parser.add_argument("--pause", type=float, default=8)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        killed(Path(folder), asked.kills, asked.students, asked.most, asked.pause)


def killed(out: Path, kills: int, students: int, most: float, pause: float) -> None:
    Store.create(out)
    queue = ServerQueue(out / FOLDER)
    tokens = [token for _, token in queue.admit([(f"s{number}", "", False) for number in range(students)])]
    queue.close()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "grader", "serve", "--out", str(out), "--listen", f"127.0.0.1:{port}", "--only",
               ",".join(KERNELS)]
    confirmed: dict[int, str] = {}
    over = threading.Event()
    references = {name: (ROOT / f"reference/{name}.py").read_text() for name in KERNELS}

    def student(token: str, name: int) -> None:
        client, number = CourseClient(f"http://127.0.0.1:{port}", token), 0
        while not over.is_set():
            number += 1
            kernel = KERNELS[number % len(KERNELS)]
            content = f"{references[kernel]}\n# {name} {number}\n".encode()
            # If it is down, or is killed before it answers, it has not confirmed the file.
            with contextlib.suppress(UserError):
                confirmed[client.send(f"{kernel}.py", content)["id"]] = hashlib.sha256(content).hexdigest()
            over.wait(random.uniform(0, 2 * pause))

    threads = [threading.Thread(target=student, args=(token, name)) for name, token in enumerate(tokens)]
    for thread in threads:
        thread.start()
    begun = time.monotonic()
    for _ in range(kills):
        server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
        time.sleep(random.uniform(0.5, most))
        assert server.poll() is None
        server.kill()
        server.wait()
    over.set()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - begun
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    watching = ServerQueue(out / FOLDER)
    while {"waiting", "started"} & watching.counts().keys():
        time.sleep(1)
    server.send_signal(signal.SIGINT)
    assert server.wait(60) == 0
    report(watching, out, confirmed, kills, seconds)


def report(queue: ServerQueue, out: Path, confirmed: dict[int, str], kills: int, seconds: float) -> None:
    jobs = {job.id: job for job in queue.jobs(most=1_000_000)}
    with Store.existing(out) as store:
        attempts = Counter(attempt.submission for attempt in store.attempts())
    lost = [number for number, sha in confirmed.items() if number not in jobs or jobs[number].sha != sha]
    states = Counter(f"{jobs[number].state}{f' ({jobs[number].why})' * (jobs[number].state != 'finished')}"
                     for number in confirmed if number in jobs)
    twice = [sha for sha, count in attempts.items() if count > 1]
    unrecorded = [job.id for job in jobs.values() if job.state == "finished" and attempts[job.sha] != 1]
    print(f"{kills} kills in {seconds:.0f} s; {len(confirmed)} files were confirmed, {len(jobs)} are in the queue")
    print(f"lost: {len(lost)}; judged twice: {len(twice)}; finished without an attempt: {len(unrecorded)}")
    print("; ".join(f"{count} {state}" for state, count in states.most_common()))
    raise SystemExit(bool(lost or twice or unrecorded))


if __name__ == "__main__":
    main()
