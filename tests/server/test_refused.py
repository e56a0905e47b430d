"""Files that a server does not receive, though they are sent as they should be."""

import datetime
import resource
from dataclasses import replace

import pytest

from grader.server import facts
from tests.server.conftest import Served


def test_a_closed_assignment_and_a_full_disk_receive_nothing(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, course = served.program("ada"), served.facts.ground.course
    closes = {"silu": datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)}
    closed = course.model_copy(update={"submissions": course.submissions.model_copy(update={"closes": closes})})
    with monkeypatch.context() as patched:
        patched.setattr(served.facts, "ground", replace(served.facts.ground, course=closed))
        answer = program.post("/api/files/silu.py", content=b"x = 1\n")
        assert answer.status_code == 409 and "silu closed at 2026-01-01T00:00+00:00; ask your course" in answer.text
        assert program.post("/api/files/gemm.py", content=b"x = 1\n").status_code == 201
    with monkeypatch.context() as patched:
        patched.setattr(facts, "LEAST_FREE", 1 << 60)
        answer = program.post("/api/files/silu.py", content=b"x = 1\n")
        assert answer.status_code == 409 and "disk is full; tell your course, and try again later" in answer.text
    # The disk itself has no room.
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, limits[1]))
    try:
        answer = program.post("/api/files/silu.py", content=b"#" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert answer.status_code == 507 and "Not received: the server cannot store it" in answer.text
    assert "try again later" in answer.text
    assert [job.state for job in served.queue.jobs()] == ["waiting", "finished"]
    assert program.post("/api/files/silu.py", content=b"#" * 100_000).status_code == 201
