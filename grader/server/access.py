"""Access to a course server: tokens, forms, the number of requests, and what may be read of one."""

from __future__ import annotations

import datetime
import hashlib
import hmac
import secrets
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Literal
from urllib.parse import quote

import anyio
from starlette.requests import Request
from starlette.responses import Response

from grader.server.queue import ServerPerson, ServerQueue

COOKIE, POST = "kernelmark", "POST"
NOBODY = ServerPerson(0, "", "", False)
Who = Literal["anyone", "student", "staff"]
"""The users of a route. Staff may use students' routes."""

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
                               "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cache-Control": "no-store",
}
"""Headers of every answer. Pages have no inline scripts and styles."""
REPORT_HEADERS = HEADERS | {
    "Content-Security-Policy": "sandbox allow-scripts allow-popups; default-src 'none'; style-src 'unsafe-inline'; "
                               "script-src 'unsafe-inline'; img-src data:"}
"""Headers of reports, which have scripts of their own: the sandbox gives them an origin without cookies."""


class Denial(Exception):
    """A request that is refused: the status, one sentence on what to do, and the seconds after which to try again."""

    def __init__(self, status: HTTPStatus, said: str, after: float = 0) -> None:
        super().__init__(said)
        self.status, self.said, self.after = status, said, after


@dataclass(frozen=True)
class ServerRoute:
    """A route: its path, its method, who may use it, and whether it is a form, which carries a key."""

    path: str
    answer: Callable[[Request, ServerPerson], Awaitable[Response]]
    who: Who = "student"
    method: str = "GET"
    form: bool = False


@dataclass
class RateLimit:
    """At most `most` events of one key in `seconds`."""

    most: int
    seconds: float
    _seen: dict[str, deque[float]] = field(default_factory=dict)

    def wait(self, key: str) -> float:
        """Record an event, and return the seconds until the next one is allowed; 0 if this one is."""
        now, seen = time.monotonic(), self._seen.setdefault(key, deque())
        while seen and seen[0] <= now - self.seconds:
            seen.popleft()
        if len(seen) >= self.most:
            return seen[0] + self.seconds - now
        seen.append(now)
        if len(self._seen) > 10_000:
            self._seen = {who: times for who, times in self._seen.items() if times and times[-1] > now - self.seconds}
        return 0


class ServerAccess:
    """The rules of a server. `secure`: browsers reach it by HTTPS alone. `proxy` is the address whose forwarded headers
    are believed; `user_header` is the one in which it names who has signed in, if it does that."""

    def __init__(self, queue: ServerQueue, *, secure: bool, proxy: str = "", user_header: str = "") -> None:
        self.queue, self.secure, self.proxy, self.user_header = queue, secure, proxy, user_header
        self.sending, self.entering = RateLimit(30, 60), RateLimit(10, 60)
        if not queue.setting("secret"):
            queue.set("secret", secrets.token_urlsafe(32))
        self._secret = queue.setting("secret").encode()

    def address(self, request: Request) -> str:
        """Return the address that a request comes from."""
        peer = request.client.host if request.client else ""
        if self._is_proxied(request):
            return request.headers.get("x-forwarded-for", peer).split(",")[-1].strip() or peer
        return peer

    def _is_proxied(self, request: Request) -> bool:
        return bool(self.proxy) and request.client is not None and request.client.host == self.proxy

    def signed_on(self, request: Request) -> str:
        """Return the name that the proxy gives to whoever sends this request; "" if it gives none."""
        names = request.headers.getlist(self.user_header) if self.user_header and self._is_proxied(request) else []
        # Several names would be the proxy's and a stranger's.
        return names[0].strip() if len(names) == 1 else ""

    def credential(self, request: Request) -> tuple[Literal["bearer", "user", "cookie"], str]:
        """Return by what a request says who sends it, and the token or the name, "" if there is none. A browser sends
        all but a bearer's token with what other sites make it send."""
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        if kind.casefold() == "bearer":
            return "bearer", token.strip()
        if name := self.signed_on(request):
            return "user", name
        return "cookie", request.cookies.get(COOKIE, "")

    def person(self, request: Request) -> ServerPerson | None:
        kind, value = self.credential(request)
        return self.queue.person_named(value) if kind == "user" else self.queue.person_of(value) if value else None

    def authenticate(self, route: ServerRoute, request: Request) -> ServerPerson:
        """Return who sends a request for a route, NOBODY if nobody has signed in. Raises Denial."""
        person = self.person(request)
        if route.who != "anyone" and person is None:
            raise Denial(HTTPStatus.UNAUTHORIZED, "Sign in first, with the link that your course sent you.")
        if route.who == "staff" and person is not None and not person.staff:
            raise Denial(HTTPStatus.FORBIDDEN, "This page is for the course's staff; go to the first page.")
        # A cookie goes along with what other sites send, so what changes something needs a key or a header.
        changes = route.method == POST and route.who != "anyone"
        if changes and not route.form and self.credential(request)[0] != "bearer":
            raise Denial(HTTPStatus.FORBIDDEN, "Send the token in the header Authorization.")
        return person or NOBODY

    def form_key(self, request: Request) -> str:
        """Return the key that the forms of a signed-in browser carry, so that no other site can send them."""
        return hmac.new(self._secret, repr(self.credential(request)).encode(), hashlib.sha256).hexdigest()

    def form_holds(self, request: Request, key: str) -> bool:
        return hmac.compare_digest(self.form_key(request).encode(), key.encode("utf-8", "replace"))

    def from_elsewhere(self, request: Request) -> bool:
        """Return whether another site has made a browser send this request."""
        if site := request.headers.get("sec-fetch-site"):
            return site not in ("same-origin", "none")
        # An older browser. A proxy may have put another host in.
        origin = request.headers.get("origin", "")
        return origin != "" and origin.partition("://")[2] != request.headers.get("host", "")

    def enter(self, response: Response, token: str) -> None:
        response.set_cookie(COOKIE, token, max_age=180 * 86_400, httponly=True, secure=self.secure, samesite="lax")


BODY_SECONDS = 60.0
"""The seconds in which a request has to arrive."""


def moment(at: str | None) -> str:
    """Return a time of the records, ISO 8601, as pages show it: 29 Nov 19:14 UTC."""
    try:
        when = datetime.datetime.fromisoformat(at or "")
    except ValueError:
        return "–"
    return when.astimezone(datetime.UTC).strftime("%-d %b %H:%M UTC")


async def body_of(request: Request, most: int) -> bytes:
    """Return a request's body. One of more than `most` bytes is refused before it is read."""
    too_large = Denial(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"Too large: at most {most // 1024} kB; send the kernel "
                        "alone.")
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > most:
        raise too_large
    parts, size = [], 0
    try:
        with anyio.fail_after(BODY_SECONDS):
            async for part in request.stream():
                size += len(part)
                if size > most:
                    raise too_large
                parts.append(part)
    except TimeoutError:
        raise Denial(HTTPStatus.REQUEST_TIMEOUT, "The file took too long to arrive; send it again.") from None
    # For `request.form()`, which reads what was read.
    request._body = b"".join(parts)
    return request._body


def number_in(request: Request, name: str) -> int:
    """Return a number in a request's path."""
    text = str(request.path_params[name])
    if not text.isascii() or not text.isdecimal() or len(text) > 15:
        raise Denial(HTTPStatus.NOT_FOUND, "There is nothing here; go to the first page.")
    return int(text)


def assignment_in(request: Request, names: Sequence[str]) -> str:
    """Return the assignment in a request's path, one of `names`."""
    name = str(request.path_params["assignment"])
    if name not in names:
        raise Denial(HTTPStatus.NOT_FOUND, f"{quote(name[:60])} is no assignment of this course; go to the first "
                     "page.")
    return name
