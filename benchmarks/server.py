"""A course server under a class: files an hour, seconds from sending to a verdict, and how fast pages and places are.

python benchmarks/server.py --students 300 --kernels 6 [--minutes 25] [--attempts 10000] [--alone]

Students are threads that send reference kernels, each at a random moment of so many minutes and with a comment of its
own so that no answer is known yet, and follow them as `kernelmark submit` does. `--attempts` records so many attempts
before, for the time of pages. With `--alone` the queue is paused, so that nothing is judged.
"""

from __future__ import annotations

import argparse
import platform
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from datetime import datetime
from pathlib import Path

import httpx2

from grader.classroom.attempts.attempt import Attempt
from grader.classroom.attempts.store import FOLDER, Store
from grader.commands.remote import CourseClient
from grader.home import ROOT
from grader.server.queue import ServerQueue

KERNELS = ("silu", "transpose", "rmsnorm_matrix", "copy_first_column", "rmsnorm_vector", "gemm")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--students", type=int, default=30)
    parser.add_argument("--kernels", type=int, default=2)
    parser.add_argument("--attempts", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--alone", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), asked.students, KERNELS[:asked.kernels], asked.attempts, 60 * asked.minutes, asked.alone)


def measure(out: Path, students: int, kernels: tuple[str, ...], before: int, spread: float, alone: bool) -> None:
    with Store.create(out) as store:
        store.add([(Attempt(
            student=f"old{number % 300}", slug=f"old{number % 300}", assignment="silu", submission=str(number),
            tests="", environment="", rules="", verdict="accepted"), None) for number in range(before)], "log")
    queue = ServerQueue(out / FOLDER)
    tokens = [token for _, token in queue.admit([(f"s{number:03}", "", False) for number in range(students)])]
    queue.set("paused", "1" if alone else "")
    queue.close()
    server = subprocess.Popen([sys.executable, "-m", "grader", "serve", "--out", str(out), "--listen", "127.0.0.1:0"],
                              cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    address = re.findall(r"http://\S+?(?=,)", server.stdout.readline())[0]
    received: list[float] = []
    # Made before: a client reads its certificates, which would take the processors from all others.
    clients = [CourseClient(address, token) for token in tokens]
    started = time.monotonic()

    def student(client: CourseClient, number: int) -> None:
        sent = []
        moments = sorted(random.uniform(0, spread) for _ in kernels)
        for name, moment in zip(kernels, moments, strict=True):
            time.sleep(max(0, started + moment - time.monotonic()))
            text = (ROOT / f"reference/{name}.py").read_bytes() + f"\n# {number}\n".encode()
            begun = time.monotonic()
            sent.append(client.send(f"{name}.py", text)["id"])
            received.append(time.monotonic() - begun)
        for file in [] if alone else sent:
            for _ in client.follow(file):
                pass

    threads = [threading.Thread(target=student, args=(client, number)) for number, client in enumerate(clients)]
    for thread in threads:
        thread.start()
    pages: list[float] = []
    with httpx2.Client(base_url=address, headers={"Authorization": f"Bearer {tokens[0]}"}) as browser:
        while any(thread.is_alive() for thread in threads) or len(pages) < 20:
            begun = time.monotonic()
            browser.get("/").raise_for_status()
            pages.append(time.monotonic() - begun)
            time.sleep(0.5)
    seconds = time.monotonic() - started
    memory = int(re.findall(r"VmHWM:\s+(\d+)", Path(f"/proc/{server.pid}/status").read_text())[0]) // 1024
    server.send_signal(signal.SIGINT)
    server.wait(60)
    files = students * len(kernels)
    queue = ServerQueue(out / FOLDER)
    # Seconds from the record, since a student follows a file only when all of them are sent.
    jobs = queue.jobs(most=files)
    queue.close()
    judged = [_seconds(job.received_at, job.ended_at) for job in jobs if job.ended_at]
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}; {students} students, "
          f"{len(kernels)} kernels each, {before:,} attempts before")
    print(f"{files} files in {seconds:.0f} s: {3600 * files / seconds:,.0f} an hour")
    print(f"received, and its place reported, within {statistics.median(received):.3f} s (median), "
          f"{statistics.quantiles(received, n=20)[-1]:.3f} s (95 %)")
    if judged:
        print(f"judged within {statistics.median(judged):.1f} s (median), {statistics.quantiles(judged, n=20)[-1]:.1f} "
              f"s (95 %): {dict(Counter(job.verdict or job.state for job in jobs))}")
    print(f"a student's page in {statistics.median(pages):.3f} s (median), "
          f"{statistics.quantiles(pages, n=20)[-1]:.3f} s (95 %); the server's own process takes {memory} MiB at most")


def _seconds(begun: str, ended: str) -> float:
    return (datetime.fromisoformat(ended) - datetime.fromisoformat(begun)).total_seconds()


if __name__ == "__main__":
    main()
