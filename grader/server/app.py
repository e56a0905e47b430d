"""The pages and the interface of a course server, as one table of routes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from anyio.to_thread import run_sync
from jinja2 import DictLoader, Environment, StrictUndefined
from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from grader.pages import profile, text
from grader.results.text import clean, plural
from grader.results.verdicts import VERDICTS
from grader.server.access import (
    COOKIE,
    HEADERS,
    NOBODY,
    POST,
    REPORT_HEADERS,
    Denial,
    ServerAccess,
    ServerRoute,
    assignment_in,
    body_of,
    moment,
    number_in,
)
from grader.server.facts import MOST_SHOWN, ServerFacts, difference
from grader.server.queue import OVER, QueuedFile, ServerPerson, TooManyError
from grader.server.streams import LiveStreams

TEMPLATES = Path(__file__).parent / "templates"
STYLE = Path(text.__file__).parent / "templates" / "style.css"
NOTE_SIGNS = 2_000
FORM_BYTES = 16 << 10
"""Bytes of a form beside the file in it."""
Facts = Callable[[Request, ServerPerson], Any]
Answer = Callable[[Request, ServerPerson], Awaitable[Response]]


class CourseServer:
    """The server of a course: `routes` are all that it answers to."""

    def __init__(self, facts: ServerFacts, access: ServerAccess) -> None:
        self.facts, self.access = facts, access
        self._streams = LiveStreams(facts.queue, access)
        # Read once: an installation that is replaced under a running server must not change its pages.
        files = {path.name: path.read_text(encoding="utf-8") for path in TEMPLATES.iterdir()}
        self._pages = Environment(loader=DictLoader(files), autoescape=True, undefined=StrictUndefined,
                                  trim_blocks=True, lstrip_blocks=True)
        self._pages.filters.update(points=text.points, figure=text.figure, prose=text.prose)
        self._pages.filters.update(moment=moment, plural=plural)
        self._pages.globals.update(verdicts=VERDICTS, profile_cells=profile.cells, profile_headings=profile.HEADINGS)
        names, style = facts.ground.names, STYLE.read_text(encoding="utf-8") + files["server.css"]
        self.routes = [
            ServerRoute("/", self.home, "anyone"),
            ServerRoute("/style.css", self._send(style, "text/css"), "anyone"),
            ServerRoute("/live.js", self._send(files["live.js"], "text/javascript"), "anyone"),
            ServerRoute("/health", self._json(lambda *_: {"kernelmark": facts.version, **facts.health()}), "anyone"),
            ServerRoute("/enter", self.enter, "anyone", POST),
            ServerRoute("/leave", self.leave, "student", POST, form=True),
            ServerRoute("/send", self.send, "student", POST, form=True),
            ServerRoute("/cancel/{number}", self._done(self._cancel), "student", POST, form=True),
            ServerRoute("/link", self.link, "student", POST, form=True),
            ServerRoute("/choose/{number}", self._done(self._choose), "student", POST, form=True),
            ServerRoute("/events", self.events),
            ServerRoute("/kernel/{assignment}", self._shown(
                "kernel", lambda request, person: facts.history(person, assignment_in(request, names)))),
            ServerRoute("/attempt/{number}", self.attempt),
            ServerRoute("/profile/{number}.ncu-rep", self.profile_report),
            ServerRoute("/profile/{number}", self._shown("profile", self._profile)),
            ServerRoute("/diff/{old}/{new}", self._shown("diff", self._difference)),
            ServerRoute("/log", self._shown(
                "log", lambda _, person: {"entries": facts.log(person), "most": MOST_SHOWN})),
            ServerRoute("/log.md", self.log_text),
            ServerRoute("/leaderboard/{assignment}", self._shown(
                "leaderboard", lambda request, person: facts.leaderboard(person, assignment_in(request, names)))),
            ServerRoute("/desk", self._shown("desk", lambda *_: facts.desk()), "staff"),
            ServerRoute("/desk/{what}", self._done(self._staff_does), "staff", POST, form=True),
            ServerRoute("/class/{path:path}", self.class_file, "staff"),
            ServerRoute("/api/me", self._json(lambda _, person: {
                "name": person.name, "staff": person.staff, "files": sorted(facts.files), "course": facts.title,
                "kernelmark": facts.version})),
            ServerRoute("/api/files", self._json(lambda _, person: facts.listed(person))),
            ServerRoute("/api/files/{number}", self._json(lambda *parts: facts.state(self._own(*parts), True))),
            ServerRoute("/api/files/{number}/events", self.followed),
            ServerRoute("/api/files/{number}/profile", self.profile_report),
            ServerRoute("/api/files/{number}/cancel", self._json(
                lambda *parts: {"cancelled": bool(self._cancel(*parts))}), "student", POST),
            ServerRoute("/api/files/{name}", self.receive, "student", POST),
        ]

    def app(self) -> Starlette:
        app = Starlette(
            routes=[Route(route.path, self._guarded(route), methods=[route.method]) for route in self.routes],
            exception_handlers={404: self._missing, 405: self._missing})
        # A redirect would name the host that a request claims.
        app.router.redirect_slashes = False
        return app

    def _guarded(self, route: ServerRoute) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            try:
                response = await route.answer(request, await run_sync(self.access.authenticate, route, request))
            except Denial as refused:
                response = self._refused(request, refused)
            except ClientDisconnect:
                response = Response(status_code=HTTPStatus.BAD_REQUEST)
            except HTTPException as error:
                response = self._refused(request, Denial(HTTPStatus(error.status_code), "This cannot be read; send it "
                                                         "again."))
            except Exception as error:
                self.facts.grading.failed(f"{route.path}: {type(error).__name__}: {error}")
                response = self._refused(request, Denial(
                    HTTPStatus.INTERNAL_SERVER_ERROR, "The server failed, and has recorded that; try again."))
            for name, value in HEADERS.items():
                response.headers.setdefault(name, value)
            return response

        return answer

    async def _missing(self, request: Request, error: Exception) -> Response:
        status = HTTPStatus(getattr(error, "status_code", 404))
        said = "There is nothing here; go to the first page." if status == HTTPStatus.NOT_FOUND else (
            "This page takes no such request; go to the first page.")
        response = self._refused(request, Denial(status, said))
        response.headers.update(HEADERS)
        return response

    def _refused(self, request: Request, refused: Denial) -> Response:
        if request.url.path.startswith("/api/"):
            response: Response = JSONResponse({"error": refused.said}, refused.status)
        else:
            response = self._page("refused.html.j2", request, NOBODY, status=refused.status, said=refused.said,
                                  title=refused.status.phrase)
        if refused.after:
            response.headers["Retry-After"] = str(int(refused.after) + 1)
        return response

    def _page(self, name: str, request: Request, person: ServerPerson, status: int = 200, **values: Any) -> Response:
        key = self.access.form_key(request) if person.id else ""
        html = self._pages.get_template(name).render(
            person=person, key=key, course=self.facts.title, signed_on=self.access.signed_on(request), **values)
        return Response(html, status, media_type="text/html")

    async def _form(self, request: Request, most: int = FORM_BYTES) -> Mapping[str, str | tuple[str, bytes]]:
        """Return a form's fields, once its key is checked: a text, or the name and the contents of a file. A form of
        more than `most` bytes is not read."""
        await body_of(request, most)
        async with request.form() as form:
            fields = {name: (Path(value.filename or "").name, await value.read()) if isinstance(value, UploadFile)
                      else value for name, value in form.items()}
        if not self.access.form_holds(request, str(fields.get("key", ""))):
            raise Denial(HTTPStatus.FORBIDDEN, "This form is too old; open the page again, and send it once more.")
        return fields

    # Answers that follow from facts.

    def _send(self, text: str, kind: str) -> Answer:
        async def answer(request: Request, person: ServerPerson) -> Response:
            return Response(text, media_type=kind)

        return answer

    def _json(self, facts: Facts) -> Answer:
        async def answer(request: Request, person: ServerPerson) -> Response:
            return JSONResponse(await run_sync(facts, request, person))

        return answer

    def _shown(self, name: str, facts: Facts) -> Answer:
        async def answer(request: Request, person: ServerPerson) -> Response:
            return self._page(f"{name}.html.j2", request, person, **await run_sync(facts, request, person))

        return answer

    def _done(self, do: Callable[..., str]) -> Answer:
        """Return the answer to a form: once its key is checked, `do` does what it asks for, and returns the page to
        show."""
        async def answer(request: Request, person: ServerPerson) -> Response:
            fields = await self._form(request)
            return RedirectResponse(await run_sync(do, request, person, fields), HTTPStatus.SEE_OTHER)

        return answer

    # For everybody.

    async def home(self, request: Request, person: ServerPerson) -> Response:
        if not person.id:
            name = clean(self.access.signed_on(request), 100)
            return self._page("enter.html.j2", request, NOBODY,
                              said=f"{name} is not in this course; ask your course." if name else "")
        return self._page("home.html.j2", request, person, **await run_sync(self.facts.home, person))

    async def enter(self, request: Request, person: ServerPerson) -> Response:
        if self.access.from_elsewhere(request):
            raise Denial(HTTPStatus.FORBIDDEN, "Another site wants to sign you in; open the first page, and paste your "
                         "own link there.")
        await body_of(request, FORM_BYTES)
        async with request.form() as form:
            token = str(form.get("link", "")).strip().rpartition("#")[2]
        owner = await run_sync(self.access.queue.person_of, token)
        if owner is not None and person.id not in (0, owner.id):
            raise Denial(HTTPStatus.CONFLICT, f"You are signed in as {person.name}; sign out first.")
        if owner is None:
            # A whole class may sign in from one address, beside somebody who guesses.
            if wait := self.access.entering.wait(self.access.address(request)):
                raise Denial(HTTPStatus.TOO_MANY_REQUESTS, "Too many wrong links; wait a minute.", wait)
            return self._page("enter.html.j2", request, NOBODY, status=HTTPStatus.UNAUTHORIZED,
                              said="Nobody has this link any more; ask your course for a new one.")
        response = RedirectResponse("/", HTTPStatus.SEE_OTHER)
        self.access.enter(response, token)
        return response

    async def leave(self, request: Request, person: ServerPerson) -> Response:
        await self._form(request)
        response = RedirectResponse("/", HTTPStatus.SEE_OTHER)
        response.delete_cookie(COOKIE)
        return response

    async def link(self, request: Request, person: ServerPerson) -> Response:
        await self._form(request)
        if self.access.credential(request)[0] != "user":
            raise Denial(HTTPStatus.CONFLICT, "Your course sends links; ask it for a new one.")
        ((_, token),) = await run_sync(self.access.queue.admit, [(person.name, person.shown, person.staff)])
        return self._page("link.html.j2", request, person,
                          link=f"{'https' if self.access.secure else 'http'}://{request.url.netloc}/#{token}")

    # For students, in a browser.

    async def send(self, request: Request, person: ServerPerson) -> Response:
        fields = await self._form(request, self.facts.most_bytes + FORM_BYTES)
        upload, pasted = fields.get("file"), str(fields.get("pasted", ""))
        if isinstance(upload, tuple) and upload[0]:
            name, content = upload
        elif pasted.strip():
            name, content = str(fields.get("name", "")), pasted.replace("\r\n", "\n").encode()
        else:
            raise Denial(HTTPStatus.BAD_REQUEST, "Choose a file, or paste one, and send it again.")
        await self._receive(person, name, content, str(fields.get("note", "")), profile="profile" in fields)
        return RedirectResponse("/", HTTPStatus.SEE_OTHER)

    def _choose(self, request: Request, person: ServerPerson, fields: Mapping[str, object]) -> str:
        if not (name := self.facts.choose(person, number_in(request, "number"))):
            raise Denial(HTTPStatus.CONFLICT, "This attempt cannot be chosen; look at your attempts, and at what your "
                         "course says.")
        return f"/kernel/{name}"

    async def attempt(self, request: Request, person: ServerPerson) -> Response:
        page = await run_sync(self.facts.report, person, number_in(request, "number"))
        if page is None:
            raise Denial(HTTPStatus.NOT_FOUND, "You have no such attempt; open your work log.")
        return Response(page, media_type="text/html", headers=REPORT_HEADERS)

    async def profile_report(self, request: Request, person: ServerPerson) -> Response:
        profiled = await run_sync(self._profile, request, person)
        if not profiled["report"]:
            raise Denial(HTTPStatus.NOT_FOUND, "This report is not kept: the newest of an assignment is.")
        return Response(profiled["report"], media_type="application/octet-stream", headers={
            "Content-Disposition": 'attachment; filename="{0.assignment}-{0.id}.ncu-rep"'.format(profiled["job"])})

    def _profile(self, request: Request, person: ServerPerson) -> dict[str, Any]:
        job = self._own(request, person)
        if (stored := self.facts.profile(job)) is None:
            raise Denial(HTTPStatus.NOT_FOUND, "There is no profile of this file; tick the box when you send it.")
        return {"job": job, "profile": stored[0], "report": stored[1]}

    def _difference(self, request: Request, person: ServerPerson) -> dict[str, Any]:
        numbers = {name: number_in(request, name) for name in ("old", "new")}
        old, new = (self.facts.text_of(person, number) for number in numbers.values())
        if old is None or new is None:
            raise Denial(HTTPStatus.NOT_FOUND, "You have no such attempt; open your work log.")
        return {"lines": difference(old, new), **numbers}

    async def log_text(self, request: Request, person: ServerPerson) -> Response:
        return PlainTextResponse(await run_sync(self.facts.log_text, person), media_type="text/markdown")

    async def events(self, request: Request, person: ServerPerson) -> Response:
        def states() -> list[dict[str, Any]]:
            return [self.facts.state(job) for job in self.facts.queue.jobs(person, most=20)]

        return self._streams.follow(request, person, states, lambda sent: False)

    # For programs.

    async def receive(self, request: Request, person: ServerPerson) -> Response:
        content = await body_of(request, self.facts.most_bytes)
        note = unquote(request.headers.get("x-note", ""))
        job = await self._receive(person, request.path_params["name"], content, note,
                                  profile=request.headers.get("x-profile") == "1")
        return JSONResponse(await run_sync(self.facts.state, job), HTTPStatus.CREATED)

    async def followed(self, request: Request, person: ServerPerson) -> Response:
        job = await run_sync(self._own, request, person)

        def state() -> dict[str, Any]:
            now = self.facts.queue.job(job.id)
            return self.facts.state(now or job)

        return self._streams.follow(request, person, state, lambda sent: sent["state"] in OVER)

    # For staff.

    def _staff_does(self, request: Request, person: ServerPerson, fields: Mapping[str, object]) -> str:
        if not self.facts.do(request.path_params["what"], str(fields.get("number", ""))):
            raise Denial(HTTPStatus.BAD_REQUEST, "That cannot be done any more: the file's state has changed, or a "
                         "newer file has come; open the desk again.")
        return "/desk"

    async def class_file(self, request: Request, person: ServerPerson) -> Response:
        file = await run_sync(self.facts.class_file, request.path_params["path"])
        if file is None:
            raise Denial(HTTPStatus.NOT_FOUND, "The class has no such page yet; open the class page.")
        content, kind = file
        return Response(content, media_type=kind, headers=REPORT_HEADERS)

    # Shared by several routes.

    async def _receive(
        self, person: ServerPerson, name: str, content: bytes, note: str, *, profile: bool
    ) -> QueuedFile:
        if wait := self.access.sending.wait(person.name):
            raise Denial(HTTPStatus.TOO_MANY_REQUESTS, "Too many files in a minute; wait a little.", wait)
        if (assignment := self.facts.files.get(name)) is None:
            raise Denial(HTTPStatus.BAD_REQUEST, f"{clean(name, 60) or 'A file without a name'} is no file of this "
                          f"course; send one of {', '.join(sorted(self.facts.files))}.")
        if not content:
            raise Denial(HTTPStatus.BAD_REQUEST, f"{name} is empty; save it, and send it again.")
        if len(content) > self.facts.most_bytes:
            raise Denial(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"{name} is too large: at most "
                          f"{self.facts.most_bytes // 1024} kB; send the kernel alone.")
        if refused := await run_sync(self.facts.refused, assignment, name, content):
            raise Denial(HTTPStatus.CONFLICT, refused)
        try:
            number = await run_sync(partial(
                self.access.queue.receive, person, assignment, name, content, clean(note, NOTE_SIGNS),
                per_day=self.facts.ground.course.submissions.per_day, profile=profile))
        except TooManyError as error:
            raise Denial(HTTPStatus.CONFLICT, str(error)) from None
        except Exception as error:
            raise Denial(HTTPStatus.INSUFFICIENT_STORAGE, f"Not received: the server cannot store it ({error}); try "
                          "again later.") from None
        job = await run_sync(self.access.queue.job, number)
        assert job is not None
        return job

    def _own(self, request: Request, person: ServerPerson) -> QueuedFile:
        job = self.facts.queue.job(number_in(request, "number"))
        if job is None or job.person.id != person.id:
            raise Denial(HTTPStatus.NOT_FOUND, "You have sent no file with this number; the first page, or kernelmark "
                         "status, lists yours.")
        return job

    def _cancel(self, request: Request, person: ServerPerson, fields: object = None) -> str:
        if not self.facts.queue.cancel(self._own(request, person).id, "you cancelled it"):
            raise Denial(HTTPStatus.CONFLICT, "This file does not wait any more; look at its state on the first page.")
        return "/"
