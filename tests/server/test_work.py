"""A server's grading without its pages: lanes that die, a queue that pauses, folders of people."""

import multiprocessing
import threading
from pathlib import Path

import pytest

from grader.classroom.attempts.store import FOLDER, Store
from grader.course import catalogue
from grader.course.course import read_course
from grader.grading.lanes import LocalLanes
from grader.home import ROOT
from grader.server.queue import ServerPerson, ServerQueue
from grader.server.work import ServerGrading, ServerGround
from tests.classroom.attempts.made import add, draft
from tests.command import eventually

STUDENTS = ("ada", "bob", "eve")


@pytest.mark.timeout(300)
def test_lanes_that_die_over_every_file_pause_the_queue_and_nothing_is_lost(tmp_path: Path) -> None:
    Store.create(tmp_path)
    queue = ServerQueue(tmp_path / FOLDER)
    people = [queue.person_of(token) for _, token in queue.admit([(name, name, False) for name in STUDENTS])]
    content = (ROOT / "reference/silu.py").read_bytes()
    numbers = [queue.receive(person, "silu", "silu.py", content) for person in people if person is not None]
    ground = ServerGround(tmp_path, read_course(ROOT / "course.toml", frozenset(catalogue.files())), "x", ("silu",))
    said: list[str] = []
    grading = ServerGrading(ground, queue, lambda: LocalLanes([{}]), 1, said.append)
    healthy = threading.Event()

    def kill() -> None:
        while not healthy.wait(0.05):
            if grading.running():
                for process in multiprocessing.active_children():
                    process.kill()

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        grading.start()
        eventually(lambda: queue.setting("paused") == "1", 120)
        assert queue.counts() == {"failed": 3} and "the queue is paused" in said[-1]
        healthy.set()
        assert all(queue.requeue(number) for number in numbers)
        queue.set("paused", "")
        eventually(lambda: queue.counts() == {"finished": 3}, 120)
    finally:
        healthy.set()
        killer.join()
        grading.end()
    with Store.existing(tmp_path) as store:
        assert sorted((attempt.student, attempt.verdict) for attempt in store.attempts() if not attempt.failed) == [
            (name, "accepted") for name in STUDENTS]
    queue.close()


def test_a_person_keeps_the_folder_of_earlier_gradings(tmp_path: Path) -> None:
    course = read_course(ROOT / "course.toml", frozenset(catalogue.files()))
    with Store.create(tmp_path) as store:
        add(store, draft(student="Ada"), draft(student="bob", slug="bob-2"))
        ground = ServerGround(tmp_path, course, "x", ("silu",))
        ground.read_folders(store)

    def folder(name: str) -> tuple[str, str]:
        return ground.folder_of(ServerPerson(1, name, name, False))

    assert (folder("ada"), folder("bob"), folder("a_b")) == (("Ada", "Ada"), ("bob", "bob-2"), ("a_b", "a_b"))
    assert folder("a?b") == ("a?b", "a_b-2") == folder("a?b")
