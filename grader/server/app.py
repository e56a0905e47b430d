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
from grader.results.profile import KernelProfile
from grader.results.text import clean, plural
from grader.results.verdicts import VERDICTS
from grader.server.access import COOKIE, HEADERS, NOBODY, POST, REPORT_HEADERS, Denied, ServerAccess, ServerRoute
from grader.server.facts import MOST_SHOWN, ServerFacts, difference
from grader.server.queue import OVER, QueuedFile, ServerPerson, TooManyError
from grader.server.reading import assignment_in, body_of, moment, number_in
from grader.server.streams import LiveStreams

TEMPLATES = Path(__file__).parent / "templates"
STYLE = Path(text.__file__).parent / "templates" / "style.css"
NOTE_SIGNS = 2_000
FORM_BYTES = 16 << 10
"""Bytes of a form beside the file in it."""


class CourseServer:
    """The server of a course: `routes` are all that it answers to."""

    def __init__(self, facts: ServerFacts, access: ServerAccess) -> None:
        self.facts, self.access = facts, access
        self._streams = LiveStreams(facts.queue, access)
        # Read once: an installation that is replaced under a running server must not change its pages.
        files = {path.name: path.read_text(encoding="utf-8") for path in TEMPLATES.iterdir()}
        self._style = STYLE.read_text(encoding="utf-8") + files["server.css"]
        self._script = files["live.js"]
        self._pages = Environment(loader=DictLoader(files), autoescape=True, undefined=StrictUndefined,
                                  trim_blocks=True, lstrip_blocks=True)
        self._pages.filters.update(points=text.points, figure=text.figure, prose=text.prose)
        self._pages.filters.update(moment=moment, plural=plural)
        self._pages.globals.update(verdicts=VERDICTS, profile_cells=profile.cells, profile_headings=profile.HEADINGS)
        self.routes = [
            ServerRoute("/", self.home, "anyone"),
            ServerRoute("/style.css", self.style, "anyone"),
            ServerRoute("/live.js", self.script, "anyone"),
            ServerRoute("/health", self.health, "anyone"),
            ServerRoute("/enter", self.enter, "anyone", POST),
            ServerRoute("/leave", self.leave, "student", POST, form=True),
            ServerRoute("/send", self.send, "student", POST, form=True),
            ServerRoute("/cancel/{number}", self.cancel, "student", POST, form=True),
            ServerRoute("/link", self.link, "student", POST, form=True),
            ServerRoute("/choose/{number}", self.choose, "student", POST, form=True),
            ServerRoute("/events", self.events),
            ServerRoute("/kernel/{assignment}", self.kernel),
            ServerRoute("/attempt/{number}", self.attempt),
            ServerRoute("/profile/{number}.ncu-rep", self.profile_report),
            ServerRoute("/profile/{number}", self.profile),
            ServerRoute("/diff/{old}/{new}", self.diff),
            ServerRoute("/log", self.log),
            ServerRoute("/log.md", self.log_text),
            ServerRoute("/leaderboard/{assignment}", self.leaderboard),
            ServerRoute("/desk", self.staff, "staff"),
            ServerRoute("/desk/{what}", self.staff_does, "staff", POST, form=True),
            ServerRoute("/class/{path:path}", self.class_file, "staff"),
            ServerRoute("/api/me", self.me),
            ServerRoute("/api/files", self.listed),
            ServerRoute("/api/files/{number}", self.file_state),
            ServerRoute("/api/files/{number}/events", self.followed),
            ServerRoute("/api/files/{number}/profile", self.profile_report),
            ServerRoute("/api/files/{number}/cancel", self.cancelled, "student", POST),
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
                response = await route.answer(request, await run_sync(self.access.admitted, route, request))
            except Denied as refused:
                response = self._refused(request, refused)
            except ClientDisconnect:
                response = Response(status_code=HTTPStatus.BAD_REQUEST)
            except HTTPException as error:
                response = self._refused(request, Denied(HTTPStatus(error.status_code), "This cannot be read; send it "
                                                         "again."))
            except Exception as error:
                self.facts.grading.failed(f"{route.path}: {type(error).__name__}: {error}")
                response = self._refused(request, Denied(
                    HTTPStatus.INTERNAL_SERVER_ERROR, "The server failed, and has recorded that; try again."))
            for name, value in HEADERS.items():
                response.headers.setdefault(name, value)
            return response

        return answer

    async def _missing(self, request: Request, error: Exception) -> Response:
        status = HTTPStatus(getattr(error, "status_code", 404))
        said = "There is nothing here; go to the first page." if status == HTTPStatus.NOT_FOUND else (
            "This page takes no such request; go to the first page.")
        response = self._refused(request, Denied(status, said))
        response.headers.update(HEADERS)
        return response

    def _refused(self, request: Request, refused: Denied) -> Response:
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
            raise Denied(HTTPStatus.FORBIDDEN, "This form is too old; open the page again, and send it once more.")
        return fields

    # For everybody.

    async def style(self, request: Request, person: ServerPerson) -> Response:
        return Response(self._style, media_type="text/css")

    async def script(self, request: Request, person: ServerPerson) -> Response:
        return Response(self._script, media_type="text/javascript")

    async def health(self, request: Request, person: ServerPerson) -> Response:
        return JSONResponse({"kernelmark": self.facts.version, **await run_sync(self.facts.health)})

    async def home(self, request: Request, person: ServerPerson) -> Response:
        if not person.id:
            name = clean(self.access.signed_on(request), 100)
            return self._page("enter.html.j2", request, NOBODY,
                              said=f"{name} is not in this course; ask your course." if name else "")
        return self._page("home.html.j2", request, person, **await run_sync(self.facts.home, person))

    async def enter(self, request: Request, person: ServerPerson) -> Response:
        if self.access.from_elsewhere(request):
            raise Denied(HTTPStatus.FORBIDDEN, "Another site wants to sign you in; open the first page, and paste your "
                         "own link there.")
        await body_of(request, FORM_BYTES)
        async with request.form() as form:
            token = str(form.get("link", "")).strip().rpartition("#")[2]
        owner = await run_sync(self.access.queue.who, token)
        if owner is not None and person.id not in (0, owner.id):
            raise Denied(HTTPStatus.CONFLICT, f"You are signed in as {person.name}; sign out first.")
        if owner is None:
            # A whole class may sign in from one address, beside somebody who guesses.
            if wait := self.access.entering.wait(self.access.address(request)):
                raise Denied(HTTPStatus.TOO_MANY_REQUESTS, "Too many wrong links; wait a minute.", wait)
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
            raise Denied(HTTPStatus.CONFLICT, "Your course sends links; ask it for a new one.")
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
            raise Denied(HTTPStatus.BAD_REQUEST, "Choose a file, or paste one, and send it again.")
        await self._received(person, name, content, str(fields.get("note", "")), profile="profile" in fields)
        return RedirectResponse("/", HTTPStatus.SEE_OTHER)

    async def cancel(self, request: Request, person: ServerPerson) -> Response:
        await self._form(request)
        await run_sync(self._cancel, request, person)
        return RedirectResponse("/", HTTPStatus.SEE_OTHER)

    async def choose(self, request: Request, person: ServerPerson) -> Response:
        await self._form(request)
        name = await run_sync(self.facts.choose, person, number_in(request, "number"))
        if not name:
            raise Denied(HTTPStatus.CONFLICT, "This attempt cannot be chosen; look at your attempts, and at what your "
                         "course says.")
        return RedirectResponse(f"/kernel/{name}", HTTPStatus.SEE_OTHER)

    async def kernel(self, request: Request, person: ServerPerson) -> Response:
        history = await run_sync(self.facts.history, person, assignment_in(request, self.facts.ground.names))
        return self._page("kernel.html.j2", request, person, **history)

    async def attempt(self, request: Request, person: ServerPerson) -> Response:
        page = await run_sync(self.facts.report, person, number_in(request, "number"))
        if page is None:
            raise Denied(HTTPStatus.NOT_FOUND, "You have no such attempt; open your work log.")
        return Response(page, media_type="text/html", headers=REPORT_HEADERS)

    async def profile(self, request: Request, person: ServerPerson) -> Response:
        job, (profile, report) = await run_sync(self._profile, request, person)
        return self._page("profile.html.j2", request, person, job=job, profile=profile, report=report)

    async def profile_report(self, request: Request, person: ServerPerson) -> Response:
        job, (_, report) = await run_sync(self._profile, request, person)
        if not report:
            raise Denied(HTTPStatus.NOT_FOUND, "This report is not kept: the newest of an assignment is.")
        return Response(report, media_type="application/octet-stream", headers={
            "Content-Disposition": f'attachment; filename="{job.assignment}-{job.id}.ncu-rep"'})

    def _profile(self, request: Request, person: ServerPerson) -> tuple[QueuedFile, tuple[KernelProfile, bytes]]:
        job = self._own(request, person)
        if (profile := self.facts.profile(job)) is None:
            raise Denied(HTTPStatus.NOT_FOUND, "There is no profile of this file; tick the box when you send it.")
        return job, profile

    async def diff(self, request: Request, person: ServerPerson) -> Response:
        old = await run_sync(self.facts.text_of, person, number_in(request, "old"))
        new = await run_sync(self.facts.text_of, person, number_in(request, "new"))
        if old is None or new is None:
            raise Denied(HTTPStatus.NOT_FOUND, "You have no such attempt; open your work log.")
        return self._page("diff.html.j2", request, person, lines=await run_sync(difference, old, new),
                          old=number_in(request, "old"), new=number_in(request, "new"))

    async def log(self, request: Request, person: ServerPerson) -> Response:
        return self._page("log.html.j2", request, person, entries=await run_sync(self.facts.log, person),
                          most=MOST_SHOWN)

    async def log_text(self, request: Request, person: ServerPerson) -> Response:
        return PlainTextResponse(await run_sync(self.facts.log_text, person), media_type="text/markdown")

    async def leaderboard(self, request: Request, person: ServerPerson) -> Response:
        board = await run_sync(self.facts.leaderboard, person, assignment_in(request, self.facts.ground.names))
        return self._page("leaderboard.html.j2", request, person, **board)

    async def events(self, request: Request, person: ServerPerson) -> Response:
        def states() -> list[dict[str, Any]]:
            return [self.facts.state(job) for job in self.facts.queue.jobs(person, most=20)]

        return self._streams.follow(request, person, states, lambda sent: False)

    # For programs.

    async def me(self, request: Request, person: ServerPerson) -> Response:
        return JSONResponse({"name": person.name, "staff": person.staff, "files": sorted(self.facts.files),
                             "course": self.facts.title, "kernelmark": self.facts.version})

    async def listed(self, request: Request, person: ServerPerson) -> Response:
        return JSONResponse(await run_sync(self.facts.listed, person))

    async def receive(self, request: Request, person: ServerPerson) -> Response:
        content = await body_of(request, self.facts.most_bytes)
        note = unquote(request.headers.get("x-note", ""))
        job = await self._received(person, request.path_params["name"], content, note,
                                   profile=request.headers.get("x-profile") == "1")
        return JSONResponse(await run_sync(self.facts.state, job), HTTPStatus.CREATED)

    async def file_state(self, request: Request, person: ServerPerson) -> Response:
        job = await run_sync(self._own, request, person)
        return JSONResponse(await run_sync(self.facts.state, job, True))

    async def followed(self, request: Request, person: ServerPerson) -> Response:
        job = await run_sync(self._own, request, person)

        def state() -> dict[str, Any]:
            now = self.facts.queue.job(job.id)
            return self.facts.state(now or job)

        return self._streams.follow(request, person, state, lambda sent: sent["state"] in OVER)

    async def cancelled(self, request: Request, person: ServerPerson) -> Response:
        return JSONResponse({"cancelled": await run_sync(self._cancel, request, person)})

    # For staff.

    async def staff(self, request: Request, person: ServerPerson) -> Response:
        return self._page("desk.html.j2", request, person, **await run_sync(self.facts.desk))

    async def staff_does(self, request: Request, person: ServerPerson) -> Response:
        fields = await self._form(request)
        done = await run_sync(self.facts.do, request.path_params["what"], str(fields.get("number", "")))
        if not done:
            raise Denied(HTTPStatus.BAD_REQUEST, "That cannot be done any more: the file's state has changed, or a "
                         "newer file has come; open the desk again.")
        return RedirectResponse("/desk", HTTPStatus.SEE_OTHER)

    async def class_file(self, request: Request, person: ServerPerson) -> Response:
        file = await run_sync(self.facts.class_file, request.path_params["path"])
        if file is None:
            raise Denied(HTTPStatus.NOT_FOUND, "The class has no such page yet; open the class page.")
        content, kind = file
        return Response(content, media_type=kind, headers=REPORT_HEADERS)

    # Shared by several routes.

    async def _received(
        self, person: ServerPerson, name: str, content: bytes, note: str, *, profile: bool
    ) -> QueuedFile:
        if wait := self.access.sending.wait(person.name):
            raise Denied(HTTPStatus.TOO_MANY_REQUESTS, "Too many files in a minute; wait a little.", wait)
        if (assignment := self.facts.files.get(name)) is None:
            raise Denied(HTTPStatus.BAD_REQUEST, f"{clean(name, 60) or 'A file without a name'} is no file of this "
                          f"course; send one of {', '.join(sorted(self.facts.files))}.")
        if not content:
            raise Denied(HTTPStatus.BAD_REQUEST, f"{name} is empty; save it, and send it again.")
        if len(content) > self.facts.most_bytes:
            raise Denied(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"{name} is too large: at most "
                          f"{self.facts.most_bytes // 1024} kB; send the kernel alone.")
        if refused := await run_sync(self.facts.refused, assignment, name, content):
            raise Denied(HTTPStatus.CONFLICT, refused)
        try:
            number = await run_sync(partial(
                self.access.queue.receive, person, assignment, name, content, clean(note, NOTE_SIGNS),
                per_day=self.facts.ground.course.submissions.per_day, profile=profile))
        except TooManyError as error:
            raise Denied(HTTPStatus.CONFLICT, str(error)) from None
        except Exception as error:
            raise Denied(HTTPStatus.INSUFFICIENT_STORAGE, f"Not received: the server cannot store it ({error}); try "
                          "again later.") from None
        job = await run_sync(self.access.queue.job, number)
        assert job is not None
        return job

    def _own(self, request: Request, person: ServerPerson) -> QueuedFile:
        job = self.facts.queue.job(number_in(request, "number"))
        if job is None or job.person.id != person.id:
            raise Denied(HTTPStatus.NOT_FOUND, "You have sent no such file; look at the list on the first page.")
        return job

    def _cancel(self, request: Request, person: ServerPerson) -> bool:
        if not self.facts.queue.cancel(self._own(request, person).id, "you cancelled it"):
            raise Denied(HTTPStatus.CONFLICT, "This file does not wait any more; look at its state on the first page.")
        return True
