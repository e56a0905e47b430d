"""Every route of a course server: who may use it, what it takes, and that nobody reads what is another's."""

import datetime
import json
import re
import resource
import threading
import time
from dataclasses import replace

import pytest
from httpx2 import Headers
from starlette.testclient import TestClient

from grader.classroom.attempts.selected import select_attempts
from grader.classroom.attempts.store import Store
from grader.server import access, facts, streams
from grader.server.app import TEMPLATES, CourseServer
from tests.rows import beside
from tests.server.conftest import PartProcess

WHO = ("", "ada", "bob", "tess")
SAFE = "default-src 'none'"

# The path, the method, and the status for nobody, for the owner, for another student, and for staff.
OUTCOMES: list[tuple[str, str, tuple[int, ...]]] = [
    *((path, method, expected) for asked, expected in beside(__file__).items() for method, path in [asked.split()]),
    ("/api/files/" + "9" * 23, "GET", (401, 404, 404, 404)),
    ("/attempt/" + "9" * 5000, "GET", (401, 404, 404, 404)),
    ("/class/" + "a" * 5000 + ".html", "GET", (401, 403, 403, 404)),
]


def key_of(client: TestClient) -> str:
    """The key of the forms on a signed-in browser's first page."""
    return str(re.findall(r'name="key" value="(\w+)"', client.get("/").text)[0])


def test_every_route_is_in_the_table(served: PartProcess) -> None:
    tried = {(path.format(job=1, attempt=1), method) for path, method, _ in OUTCOMES}
    for route in served.server.routes:
        pattern = re.sub(r"\{\w+(:\w+)?\}", ".+", route.path)
        assert any(method == route.method and re.fullmatch(pattern, path) for path, method in tried), route.path


@pytest.mark.parametrize(("path", "method", "expected"), OUTCOMES)
def test_who_may_do_what(served: PartProcess, path: str, method: str, expected: tuple[int, ...]) -> None:
    path = path.format(job=served.job, attempt=served.attempt)
    for who, status in zip(WHO, expected, strict=True):
        if not status:
            continue
        client = served.client(who)
        data = {"key": key_of(client)} if who and method == "POST" else {}
        answer = client.request(method, path, data=data or None)
        assert answer.status_code == status, (who, answer.text[:300])
        assert SAFE in answer.headers["content-security-policy"]
        assert "script-src 'unsafe-inline'" not in answer.headers["content-security-policy"] or answer.headers[
            "content-security-policy"].startswith("sandbox allow-scripts")


def test_a_form_without_its_key_changes_nothing(served: PartProcess) -> None:
    client = served.client("ada")
    for key in ("", "0" * 64, key_of(served.client("bob")), "ü"):
        for path in ("/send", "/leave", "/link", f"/cancel/{served.job}", f"/choose/{served.attempt}"):
            answer = client.post(path, data={"key": key, "name": "silu.py", "pasted": "x = 1"})
            assert answer.status_code == 403 and "too old" in answer.text
    assert len(served.queue.jobs()) == 1


def test_a_link_signs_in_and_a_wrong_one_does_not(served: PartProcess) -> None:
    client = served.client("ada")
    (cookie,) = client.cookies.jar
    assert cookie.has_nonstandard_attr("HttpOnly") and cookie.get_nonstandard_attr("SameSite") == "lax"
    client.post("/leave", data={"key": key_of(client)})
    assert client.get("/log").status_code == 401
    served.queue.revoke(["ada"])
    answer = client.post("/enter", data={"link": served.tokens["ada"]})
    assert answer.status_code == 401 and "ask your course for a new one" in answer.text
    for _ in range(20):
        answer = client.post("/enter", data={"link": "guess"})
    assert answer.status_code == 429 and int(answer.headers["retry-after"]) > 0
    assert answer.headers["content-type"].startswith("text/html")
    # Somebody else at the same address has the right one.
    assert served.client("bob").get("/log").status_code == 200


@pytest.mark.parametrize(("name", "content", "status", "said"), [
    ("silu.py", b"x = 1\n", 201, "number 1 in the queue"),
    ("silu.cu", b"// x\n", 201, "number 1 in the queue"),
    ("silu.py", b"", 400, "silu.py is empty"),
    ("silu.py", b"x" * (128 * 1024 + 1), 413, "at most 128 kB"),
    ("transpose.py", b"x = 1\n", 400, "no file of this course; send one of gemm.cu, gemm.py, silu.cu, silu.py"),
    ("..%2F..%2Fsilu.py", b"x", 404, "nothing here"),
    ("%E2%80%AEsilu.py", b"x", 400, "no file of this course"),
])
def test_what_is_received(served: PartProcess, name: str, content: bytes, status: int, said: str) -> None:
    answer = served.program("ada").post(f"/api/files/{name}", content=content)
    assert answer.status_code == status, answer.text
    assert said in answer.text
    assert [job.state for job in served.queue.jobs()] == (["waiting", "finished"] if status == 201 else ["finished"])
    if status == 201:
        assert served.contents() == [content, b"# ada's own words\n"]


def test_a_body_without_a_length_is_bounded_too(served: PartProcess) -> None:
    answer = served.program("ada").post("/api/files/silu.py", content=(b"x" * 65_536 for _ in range(64)))
    assert answer.status_code == 413 and len(served.queue.jobs()) == 1


def test_files_are_limited_by_the_minute_and_by_the_day(served: PartProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    course = served.facts.ground.course
    rules = course.submissions.model_copy(update={"per_day": 3})
    limited = course.model_copy(update={"submissions": rules})
    monkeypatch.setattr(served.facts, "ground", replace(served.facts.ground, course=limited))
    program = served.program("ada")
    answers = []
    for number in range(3):
        answers.append(program.post("/api/files/silu.py", content=f"x = {number}".encode()))
        if (taken := served.queue.take()) is not None:
            served.queue.finish(taken[0].id, served.attempt, "")
    assert [answer.status_code for answer in answers] == [201, 201, 409]
    assert "You may send 3 files of silu in 24 hours; send the next one after 20" in answers[-1].text
    assert program.post("/api/files/gemm.py", content=b"x = 1").status_code == 201
    served.server.access.sending = access.RateLimit(2, 60)
    answers = [program.post("/api/files/gemm.py", content=b"x = 1") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [201, 201, 429]
    assert "wait a little" in answers[-1].json()["error"] and int(answers[-1].headers["retry-after"]) > 0


def test_a_file_is_sent_by_form_and_seen_by_its_owner_alone(served: PartProcess) -> None:
    client = served.client("ada")
    key = key_of(client)
    sent = client.post("/send", data={"key": key, "note": "<b>tiles</b>"}, files={"file": ("gemm.py", b"x = 1\n")})
    assert sent.status_code == 303
    pasted = client.post("/send", data={"key": key, "name": "silu.py", "pasted": "x = 1\r\ny = 2\r\n"})
    assert pasted.status_code == 303
    assert [job.file for job in served.queue.jobs(most=2)] == ["silu.py", "gemm.py"]
    assert served.contents()[:2] == [b"x = 1\ny = 2\n", b"x = 1\n"]
    assert "number 1 in the queue" in client.get("/").text
    assert [one["file"] for one in served.program("bob").get("/api/files").json()] == []
    log = client.get("/log").text
    assert "first try" in log and "<b>tiles" not in log
    assert "first try" not in served.client("bob").get("/log").text + served.client("tess").get("/log").text


def test_a_difference_is_its_owners_alone(served: PartProcess) -> None:
    _, new = served.judged(b"# ada's own words, twice\n")
    path = f"/diff/{served.attempt}/{new}"
    assert "own words, twice" in served.client("ada").get(path).text
    assert [served.client(who).get(path).status_code for who in ("bob", "tess")] == [404, 404]


def test_a_student_chooses_which_attempt_counts(served: PartProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    _, new = served.judged(b"# another\n")
    client = served.client("ada")
    assert "Your last attempt counts" in client.get("/kernel/silu").text
    course = served.facts.ground.course
    chosen = course.model_copy(update={"late": course.late.model_copy(update={"count": "chosen"})})
    monkeypatch.setattr(served.facts, "ground", replace(served.facts.ground, course=chosen))
    old = f"/choose/{served.attempt}"
    key = key_of(client)
    assert f'action="{old}"' in client.get("/kernel/silu").text
    bob = served.client("bob")
    assert bob.post(old, data={"key": key_of(bob)}).status_code == 409
    assert client.post(old, data={"key": key}).status_code == 303
    page = client.get("/kernel/silu").text
    assert f'action="{old}"' not in page and f'action="/choose/{new}"' in page
    with Store.create(served.facts.ground.out) as store:
        assert [one.chosen for one in select_attempts(store.attempts(), store.decisions()).values()] == [True, False]
    closes = {"silu": datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)}
    rules = chosen.submissions.model_copy(update={"closes": closes})
    monkeypatch.setattr(served.facts, "ground", replace(
        served.facts.ground, course=chosen.model_copy(update={"submissions": rules})))
    assert client.post(f"/choose/{new}", data={"key": key}).status_code == 409


@pytest.mark.parametrize(("count", "expected"), [("latest", [True, False]), ("best", [False, True])])
def test_lists_say_which_attempt_counts(
    served: PartProcess, monkeypatch: pytest.MonkeyPatch, count: str, expected: list[bool]
) -> None:
    course = served.facts.ground.course
    rules = course.model_copy(update={"late": course.late.model_copy(update={"count": count})})
    monkeypatch.setattr(served.facts, "ground", replace(served.facts.ground, course=rules))
    _, right = served.judged(b"# right\n", verdict="accepted")
    _, last = served.judged(b"# wrong again\n")
    assert [one["counts"] for one in served.program("ada").get("/api/files").json()] == [*expected, False]
    # The first page, the report on disk and the class page show the same one.
    shows = {"latest": last, "best": right}[count]
    assert f'href="/attempt/{shows}">' in served.client("ada").get("/").text.partition("Your kernels")[2]
    result = json.loads((served.facts.ground.out / "ada/result.json").read_text())
    assert (result["assignments"]["silu"]["verdict"] == "accepted") == (count == "best")
    score = 60 if count == "best" else 0
    assert f'"ada","Ada L.",{score},' in served.client("tess").get("/class/gradebook.csv").text


def test_a_leaderboard_has_what_counts_under_pseudonyms(served: PartProcess) -> None:
    bob = served.client("bob")
    assert "Nobody's kernel is right yet" in bob.get("/leaderboard/silu").text
    served.judged(b"# right\n", verdict="accepted")
    page = bob.get("/leaderboard/silu").text
    assert (page.count("mine"), page.count('data-label="place"')) == (0, 1)
    # Keys of forms and pseudonyms are random letters, three of which may be hers.
    assert re.search(r"\bada\b", page.casefold()) is None
    assert "(you)" in served.client("ada").get("/leaderboard/silu").text
    served.judged(b"# wrong again\n")
    assert "Nobody's kernel is right yet" in bob.get("/leaderboard/silu").text
    assert "3 attempts." in served.client("ada").get("/kernel/silu").text


def test_a_profile_is_its_owners_and_the_newest_report_is_kept(served: PartProcess) -> None:
    client = served.client("ada")
    page = client.get(f"/profile/{served.job}").text
    assert "adas_kernel" in page and f"/profile/{served.job}.ncu-rep" in page
    report = client.get(f"/profile/{served.job}.ncu-rep")
    assert report.content == b"ada's report" and "attachment" in report.headers["content-disposition"]
    told = served.program("ada").get(f"/api/files/{served.job}").json()
    assert json.loads(told["profile"])["launches"][0]["kernel"] == "adas_kernel"
    served.judged(b"# another\n")
    assert client.get(f"/api/files/{served.job}/profile").status_code == 404
    assert "adas_kernel" in client.get(f"/profile/{served.job}").text
    client.post("/send", data={"key": key_of(client), "profile": "1"}, files={"file": ("gemm.py", b"x = 1\n")})
    served.program("ada").post("/api/files/silu.py", content=b"x = 1\n", headers={"X-Profile": "1"})
    assert [bool(job.profile) for job in served.queue.jobs()] == [True, True, False, False]


def test_a_stream_ends_with_its_person(served: PartProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "BEAT_SECONDS", 0.1)
    threading.Timer(0.5, served.queue.revoke, [["ada"]]).start()
    # The test's client returns once the stream has ended.
    answer = served.program("ada").get("/events")
    assert answer.status_code == 200 and answer.text.count("data: ") == 1
    monkeypatch.setattr(streams, "MOST_STREAMS", 0)
    answer = served.client("bob").get("/events")
    assert answer.status_code == 429 and "Too many pages are open; close some." in answer.text


def test_the_stream_of_a_judged_file_ends_with_its_verdict(served: PartProcess) -> None:
    with served.program("ada").stream("GET", f"/api/files/{served.job}/events") as answer:
        lines = [line for line in answer.iter_lines() if line.startswith("data: ")]
    (state,) = (json.loads(line[6:]) for line in lines)
    assert (state["state"], state["verdict"], state["attempt"]) == ("finished", "wrong_answer", served.attempt)
    told = served.program("ada").get(f"/api/files/{served.job}").json()
    assert told["result"]["assignments"]["silu"]["verdict"] == "wrong_answer"


def test_staff_pause_cancel_and_grade_again(served: PartProcess) -> None:
    tess = served.client("tess")
    key = key_of(tess)
    ada = served.queue.person_of(served.tokens["ada"])
    assert ada is not None
    waiting = served.queue.receive(ada, "gemm", "gemm.py", b"x")
    assert tess.post("/desk/pause", data={"key": key}).status_code == 303
    assert "Paused" in tess.get("/desk").text and "which is paused" in served.client("ada").get("/").text
    assert tess.post("/desk/cancel", data={"key": key, "number": waiting}).status_code == 303
    assert tess.post("/desk/cancel", data={"key": key, "number": "1; drop"}).status_code == 400
    tess.post("/desk/resume", data={"key": key})
    failed = served.queue.receive(ada, "gemm", "gemm.py", b"x")
    assert served.queue.take() is not None
    served.queue.finish(failed, None, "the grading process died")
    assert "the grading process died" in tess.get("/desk").text
    # It may speak of a hidden case.
    own = served.program("ada").get("/api/files").text + served.client("ada").get("/").text
    assert "the grading process died" not in own and "the grader failed, which costs nothing" in own
    assert tess.post("/desk/again", data={"key": key, "number": failed}).status_code == 303
    assert [job.state for job in served.queue.jobs()][:2] == ["waiting", "cancelled"]


def test_a_failure_of_the_server_is_recorded_and_told(served: PartProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served.facts, "history", lambda *_: 1 / 0)
    answer = served.client("ada").get("/kernel/silu")
    assert answer.status_code == 500 and "has recorded that" in answer.text and "division" not in answer.text
    assert "ZeroDivisionError" in served.client("tess").get("/desk").text


def test_templates_have_no_inline_scripts_and_styles() -> None:
    templates = [*TEMPLATES.glob("*.j2")]
    assert templates
    for path in templates:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"<script(?! src=)|<style|\son\w+=|\sstyle=|\|safe", text), path


def test_another_site_signs_nobody_in(served: PartProcess) -> None:
    link = {"link": served.tokens["bob"]}
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.test"}, {"Origin": "null"}):
        answer = served.client().post("/enter", data=link, headers=headers)
        assert answer.status_code == 403 and "set-cookie" not in answer.headers
    own = {"Origin": "http://course.test", "Sec-Fetch-Site": "same-origin"}
    answer = served.client("ada").post("/enter", data=link, headers=own)
    assert answer.status_code == 409 and "sign out first" in answer.text
    assert served.client().post("/enter", data=link, headers=own).status_code == 303


def signing_on(served: PartProcess, headers: list[tuple[str, str]], address: str = "testclient") -> TestClient:
    """A browser behind a proxy that names who has signed in; `address` is where requests come from."""
    server = CourseServer(served.facts, access.ServerAccess(
        served.queue, secure=True, proxy="testclient", user_header="X-Remote-User"))
    client = TestClient(server.app(), base_url="http://course.test", follow_redirects=False, client=(address, 50_000))
    client.headers = Headers(headers)
    return client


def test_a_proxy_says_who_has_signed_in_and_nobody_else_does(served: PartProcess) -> None:
    ada = [("X-Remote-User", "Ada")]
    client = signing_on(served, ada)
    assert "Ada L." in client.get("/").text and client.get(f"/attempt/{served.attempt}").status_code == 200
    assert client.get("/desk").status_code == 403
    for headers, address in ((ada, "10.0.0.9"), ([*ada, ("X-Remote-User", "tess")], "testclient"), (
            [("X-Remote-User", "nobody")], "testclient"), ([("X-Remote-User", "")], "testclient")):
        other = signing_on(served, headers, address)
        assert other.get("/log").status_code == 401, (headers, address)
    assert "nobody is not in this course" in signing_on(served, [("X-Remote-User", "nobody")]).get("/").text
    # A browser sends the sign-on's cookie with what other sites make it send.
    assert client.post("/api/files/silu.py", content=b"x = 1\n").status_code == 403
    assert client.post("/send", data={"name": "silu.py", "pasted": "x = 1"}).status_code == 403
    key = key_of(client)
    assert served.client("ada").post("/leave", data={"key": key}).status_code == 403
    page = client.post("/link", data={"key": key}).text
    (token,) = re.findall(r"https://course\.test/#([\w-]{43})", page)
    assert served.queue.person_of(served.tokens["ada"]) is None
    program = signing_on(served, [("Authorization", f"Bearer {token}")])
    assert program.post("/api/files/silu.py", content=b"x = 1\n").status_code == 201
    # A bearer's token goes before the sign-on's name.
    assert signing_on(served, [*ada, ("Authorization", "Bearer x")]).get("/log").status_code == 401
    served.queue.revoke(["ada"])
    assert client.get("/log").status_code == 401


def test_a_class_may_sign_in_from_one_address(served: PartProcess) -> None:
    link = {"link": served.tokens["ada"]}
    assert [served.client().post("/enter", data=link).status_code for _ in range(30)] == [303] * 30


def test_a_long_difference_is_quick_and_bad_forms_are_no_failure_of_ours(served: PartProcess) -> None:
    old, new = (served.judged("\n".join(f"{i % 115:x}" for i in numbers).encode())[1]
                for numbers in (range(40_000), range(40_000, 0, -1)))
    began = time.monotonic()
    answer = served.client("ada").get(f"/diff/{old}/{new}")
    assert answer.status_code == 200 and answer.text.count("\n") > 1_000
    assert time.monotonic() - began < 20
    client = served.client("ada")
    answer = client.post("/send", content=b"--x\r\nbroken", headers={"Content-Type": "multipart/form-data; boundary=x"})
    assert answer.status_code in (400, 403) and served.facts.grading.failures == []


def test_a_closed_assignment_and_a_full_disk_receive_nothing(
    served: PartProcess, monkeypatch: pytest.MonkeyPatch
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
