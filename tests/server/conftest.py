"""A course server without lanes: files wait, and attempts are recorded by the tests."""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from grader.classroom.attempts.attempt import Attempt
from grader.classroom.attempts.recording import record
from grader.classroom.attempts.store import FOLDER, Store
from grader.course import catalogue
from grader.course.course import read_course
from grader.grading.lanes import LocalLanes
from grader.home import ROOT
from grader.results.profile import KernelProfile, LaunchProfile
from grader.server.access import ServerAccess
from grader.server.app import CourseServer
from grader.server.facts import ServerFacts
from grader.server.queue import FILE, ServerQueue
from grader.server.work import ServerGrading, ServerGround
from tests.pages import samples


@dataclass
class PartProcess:
    """A server and everybody's tokens. `attempt` is the number of Ada's attempt, `job` that of her file."""

    server: CourseServer
    facts: ServerFacts
    queue: ServerQueue
    tokens: dict[str, str]
    attempt: int = 0
    job: int = 0

    def client(self, who: str = "") -> TestClient:
        """A browser that is signed in as somebody."""
        client = TestClient(self.server.app(), base_url="http://course.test", follow_redirects=False)
        if who:
            assert client.post("/enter", data={"link": f"http://course.test/#{self.tokens[who]}"}).status_code == 303
        return client

    def judged(self, content: bytes, note: str = "", verdict: str = "wrong_answer") -> tuple[int, int]:
        """Let Ada send a file and a lane judge it; the numbers of the file and of its attempt."""
        ada = self.queue.person_of(self.tokens["ada"])
        assert ada is not None
        job = self.queue.receive(ada, "silu", "silu.py", content, note)
        assert self.queue.take() is not None
        draft = Attempt(student="ada", slug="ada", members=("ada",), assignment="silu", submission=str(job), tests="2",
                        environment="3", rules="4", submitted_at="2026-11-29T10:00:00+00:00")
        out = self.facts.ground.out
        with Store.create(out) as store:
            late, result = self.facts.ground.course.late, samples.result("ada", {"silu": verdict})
            assert record(store, out, late, {"silu": draft}, result, "log") == []
            attempt = store.attempts("ada")[-1].id
        self.queue.finish(job, attempt, verdict.replace("_", " "), verdict)
        sent = self.queue.job(job)
        assert sent is not None
        launch = LaunchProfile(kernel="adas_kernel", microseconds=1, moved=1e6, dram=50, occupancy=50)
        self.queue.keep_profile(sent, KernelProfile(case="64x64", launches=[launch]).model_dump_json(), b"ada's report")
        return job, attempt

    def contents(self) -> list[bytes]:
        """What is stored of files, the newest first."""
        with sqlite3.connect(self.facts.ground.out / FOLDER / FILE) as rows:
            return [content for (content,) in rows.execute(
                "select content from jobs join files using (sha) order by jobs.id desc")]

    def program(self, who: str) -> TestClient:
        return TestClient(self.server.app(), headers={"Authorization": f"Bearer {self.tokens[who]}"})


@pytest.fixture
def served(tmp_path: Path) -> Iterator[PartProcess]:
    course = read_course(ROOT / "course.toml", frozenset(catalogue.files()))
    Store.create(tmp_path)
    queue = ServerQueue(tmp_path / FOLDER)
    ground = ServerGround(tmp_path, course, "a course", ("silu", "gemm"))
    # It is never started: files wait, and the tests record attempts.
    facts = ServerFacts(ground, queue, ServerGrading(ground, queue, lambda: LocalLanes([{}]), 1, print))
    tokens = dict(queue.admit([("ada", "Ada L.", False), ("bob", "Bob", False), ("tess", "Tess", True)]))
    process = PartProcess(CourseServer(facts, ServerAccess(queue, secure=False)), facts, queue, tokens)
    process.job, process.attempt = process.judged(b"# ada's own words\n", "first try")
    yield process
    queue.close()
