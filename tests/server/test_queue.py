"""The queue: turns, places, what replaces what, tokens, and what a killed server leaves."""

import sqlite3
import threading
from pathlib import Path

import pytest

from grader.errors import UserError
from grader.server.queue import _SCHEMA, FILE, ServerPerson, ServerQueue, TooManyError, now


@pytest.fixture
def queue(tmp_path: Path) -> ServerQueue:
    return ServerQueue(tmp_path)


def people(queue: ServerQueue, *names: str) -> list[ServerPerson]:
    admitted = [queue.person_of(token) for _, token in queue.admit([(name, name.title(), False) for name in names])]
    return [person for person in admitted if person is not None]


def test_a_token_is_known_by_its_hash_alone_and_ends(queue: ServerQueue, tmp_path: Path) -> None:
    ((name, token),) = queue.admit([("ada", "Ada L.", False)])
    person = queue.person_of(token)
    assert person is not None and (person.name, person.shown, person.staff) == ("ada", "Ada L.", False)
    assert queue.person_of("") is queue.person_of(token[:-1]) is queue.person_of(token + "x") is None
    assert token.encode() not in (tmp_path / FILE).read_bytes() + b"".join(
        path.read_bytes() for path in tmp_path.glob(f"{FILE}-*"))
    ((_, second),) = queue.admit([(name, "Ada L.", False)])
    assert queue.person_of(token) is None and queue.person_of(second) is not None
    for twin in ("ADA", "a\u1d48a"):
        with pytest.raises(UserError, match="too alike"):
            queue.admit([("eve", "Eve", False), (twin, "a twin", False)])
    assert queue.person_of(second) is not None and queue.unknown(["nobody", "Ada", "eve"]) == ["nobody", "eve"]
    queue.revoke(["ada"])
    assert queue.person_of(second) is None
    assert [(server_person.name, has) for server_person, has, _ in queue.people()] == [("ada", False)]


def test_students_take_turns(queue: ServerQueue) -> None:
    ada, bob, cy = people(queue, "ada", "bob", "cy")
    for assignment in ("silu", "gemm", "transpose"):
        queue.receive(ada, assignment, f"{assignment}.py", assignment.encode())
    first, second = queue.receive(bob, "silu", "silu.py", b"b"), queue.receive(cy, "silu", "silu.py", b"c")
    order = [(job.person.name, job.assignment) for job in queue.waiting()]
    assert order == [("ada", "silu"), ("bob", "silu"), ("cy", "silu"), ("ada", "gemm"), ("ada", "transpose")]
    assert [queue.place(number) for number in (first, second, 999)] == [2, 3, 0]
    taken = [queue.take() for _ in range(4)]
    # One file of each student at a time.
    assert [one and (one[0].person.name, one[1]) for one in taken] == [
        ("ada", b"silu"), ("bob", b"b"), ("cy", b"c"), None]
    assert taken[0] is not None
    queue.finish(taken[0][0].id, 1, "")
    following = queue.take()
    assert following is not None and following[0].assignment == "gemm"


def test_a_clock_that_jumps_locks_nobody_out(queue: ServerQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    ada, bob = people(queue, "ada", "bob")

    def sent_and_judged(at: str) -> None:
        monkeypatch.setattr("grader.server.queue.now", lambda: at)
        number = queue.receive(ada, "silu", "silu.py", at.encode(), per_day=1)
        assert queue.take() is not None
        queue.finish(number, 1, "")

    sent_and_judged("2036-01-01T00:00:00+00:00")
    monkeypatch.undo()
    sent_and_judged(now())
    with pytest.raises(TooManyError):
        sent_and_judged(now())
    # Who was served while the clock was ahead has a turn like everybody else.
    monkeypatch.undo()
    queue.receive(bob, "silu", "silu.py", b"bob's")
    assert queue.take() is not None
    for person in (bob, ada):
        queue.receive(person, "gemm", "gemm.py", b"next")
    assert [job.person.name for job in queue.waiting()] == ["ada", "bob"]


def test_a_course_may_let_a_student_have_several_files_in_work(queue: ServerQueue) -> None:
    ada, bob = people(queue, "ada", "bob")
    for assignment in ("silu", "gemm", "transpose"):
        queue.receive(ada, assignment, f"{assignment}.py", assignment.encode())
    queue.receive(bob, "silu", "silu.py", b"bob's")
    assert [one and one[1] for one in (queue.take(2) for _ in range(4))] == [b"silu", b"bob's", b"gemm", None]
    # Of one assignment, one at a time: the second would be held against an answer that is not there yet.
    queue.receive(bob, "silu", "silu.py", b"bob's next")
    assert queue.take(2) is None and queue.take(3) is not None and queue.take(9) is None


def test_a_newer_file_takes_the_place_of_one_that_waits(queue: ServerQueue) -> None:
    (ada,) = people(queue, "ada")
    old = queue.receive(ada, "silu", "silu.py", b"old")
    new = queue.receive(ada, "silu", "silu.cu", b"new", "tiles")
    jobs = {job.id: job for job in queue.jobs(ada)}
    assert (jobs[old].state, jobs[old].why) == ("cancelled", "a newer file took its place")
    assert (jobs[new].state, jobs[new].file, jobs[new].note) == ("waiting", "silu.cu", "tiles")
    assert queue.cancel(new, "you cancelled it") and not queue.cancel(new, "again")
    assert queue.take() is None


def test_a_paused_queue_receives_but_starts_nothing(queue: ServerQueue) -> None:
    (ada,) = people(queue, "ada")
    queue.set("paused", "1")
    number = queue.receive(ada, "silu", "silu.py", b"x")
    assert queue.take() is None and queue.place(number) == 1
    queue.set("paused", "")
    assert queue.take() is not None


def test_what_a_killed_server_had_begun_is_taken_up_once(tmp_path: Path) -> None:
    queue = ServerQueue(tmp_path)
    (ada,) = people(queue, "ada")
    number = queue.receive(ada, "silu", "silu.py", b"x")
    for states in ("waiting", "failed"):
        assert queue.take() is not None
        # No `close`, as after kill -9.
        queue = ServerQueue(tmp_path)
        assert queue.recover() == (states == "waiting")
        job = queue.job(number)
        assert job is not None and job.state == states
    before = queue.job(number)
    assert queue.requeue(number) and not queue.requeue(number) and not queue.requeue(number + 100)
    after = queue.job(number)
    assert before is not None and after is not None
    assert (after.state, after.received_at, after.tries) == ("waiting", before.received_at, 0)


def test_an_end_by_hand_is_no_try(queue: ServerQueue) -> None:
    (ada,) = people(queue, "ada")
    number = queue.receive(ada, "silu", "silu.py", b"x")
    for _ in range(3):
        assert queue.take() is not None
        queue.put_back(number)
    job = queue.job(number)
    assert job is not None and (job.state, job.tries) == ("waiting", 0)


def test_nobody_is_admitted_twice_at_once(queue: ServerQueue) -> None:
    with pytest.raises(UserError, match="too alike"):
        queue.admit([("tess", "tess", True), ("ada", "Ada", False), ("tess", "Tess", False)])
    assert queue.people() == []


def test_a_file_of_another_program_is_an_error_in_a_line(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"no database, but long enough to be looked at as one" * 100)
    with pytest.raises(UserError, match="restore the file, or serve into a new folder"):
        ServerQueue(tmp_path)


def test_threads_take_every_file_once(queue: ServerQueue) -> None:
    for number, person in enumerate(people(queue, *(f"s{number:02}" for number in range(40)))):
        queue.receive(person, "silu", "silu.py", str(number).encode())
    taken: list[bytes] = []

    def lane() -> None:
        while (one := queue.take()) is not None:
            taken.append(one[1])
            queue.finish(one[0].id, 1, "")

    threads = [threading.Thread(target=lane) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken, key=int) == [str(number).encode() for number in range(40)]
    assert queue.counts() == {"finished": 40}


def test_rows_are_on_disk_when_a_file_is_received(tmp_path: Path) -> None:
    queue = ServerQueue(tmp_path)
    (ada,) = people(queue, "ada")
    queue.receive(ada, "silu", "silu.py", b"kernel")
    other = sqlite3.connect(tmp_path / FILE)
    assert other.execute("select content from files").fetchone() == (b"kernel",)
    assert other.execute("pragma journal_mode").fetchone() == ("wal",)


def test_an_older_file_is_not_judged_again_where_a_newer_one_has_come(queue: ServerQueue) -> None:
    (ada,) = people(queue, "ada")
    old = queue.receive(ada, "silu", "silu.py", b"old")
    assert queue.take() is not None
    queue.finish(old, None, "the grader failed")
    new = queue.receive(ada, "silu", "silu.py", b"new")
    assert not queue.requeue(old)
    assert queue.cancel(new, "you cancelled it") and queue.requeue(old)


def test_contents_of_cancelled_files_are_deleted(queue: ServerQueue, tmp_path: Path) -> None:
    (ada,) = people(queue, "ada")
    for number in range(5):
        queue.receive(ada, "silu", "silu.py", str(number).encode())
    other = sqlite3.connect(tmp_path / FILE)
    assert other.execute("select content from files").fetchall() == [(b"4",)]


def test_a_queue_of_another_version_is_not_touched(queue: ServerQueue, tmp_path: Path) -> None:
    queue.close()
    other = sqlite3.connect(tmp_path / FILE)
    other.execute("pragma user_version = 99")
    other.close()
    with pytest.raises(UserError, match="a queue of version 99"):
        ServerQueue(tmp_path)


def test_a_queue_of_version_2_is_taken_on(tmp_path: Path) -> None:
    old = sqlite3.connect(tmp_path / FILE)
    old.executescript(f"""{_SCHEMA} insert into people values (1, 'ada', 'ada', 'Ada', 0, null, ''); insert into jobs(
        person, assignment, file, sha, note, received_at, state, lane) values
        (1, 'silu', 'silu.py', 'x', '', '', 'waiting', 'lane 1'); insert into files values ('x', x'6b');
        pragma user_version = 2;""")
    old.close()
    queue = ServerQueue(tmp_path)
    (job,) = queue.waiting()
    assert (job.file, job.profile, queue.place(job.id)) == ("silu.py", 0, 1)
    assert queue.take() == (queue.job(job.id), b"k")


def test_a_lane_that_finds_nothing_wakes_nobody(queue: ServerQueue) -> None:
    before = queue.version
    assert queue.take() is None and queue.version == before


def test_the_limit_of_a_day_holds_for_requests_at_once(queue: ServerQueue) -> None:
    (ada,) = people(queue, "ada")
    refused: list[str] = []

    def send(number: int) -> None:
        try:
            queue.receive(ada, "silu", "silu.py", str(number).encode(), per_day=3)
        except TooManyError as error:
            refused.append(str(error))
        if (taken := queue.take()) is not None:
            queue.finish(taken[0].id, 1, "")

    threads = [threading.Thread(target=send, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(20, 24):
        send(number)
    assert queue.counts()["finished"] == 3 and "waiting" not in queue.counts()
    assert refused[-1].startswith("You may send 3 files of silu in 24 hours; send the next one after")
    assert queue.receive(ada, "gemm", "gemm.py", b"x", per_day=3)
