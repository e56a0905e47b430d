"""Reading of requests: bounded bodies, and what stands in a path. Each raises Denied."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from http import HTTPStatus
from urllib.parse import quote

import anyio
from starlette.requests import Request

from grader.server.access import Denied

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
    too_large = Denied(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"Too large: at most {most // 1024} kB; send the kernel "
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
        raise Denied(HTTPStatus.REQUEST_TIMEOUT, "The file took too long to arrive; send it again.") from None
    # For `request.form()`, which reads what was read.
    request._body = b"".join(parts)
    return request._body


def number_in(request: Request, name: str) -> int:
    """Return a number in a request's path."""
    text = str(request.path_params[name])
    if not text.isascii() or not text.isdecimal() or len(text) > 15:
        raise Denied(HTTPStatus.NOT_FOUND, "There is nothing here; go to the first page.")
    return int(text)


def assignment_in(request: Request, names: Sequence[str]) -> str:
    """Return the assignment in a request's path, one of `names`."""
    name = str(request.path_params["assignment"])
    if name not in names:
        raise Denied(HTTPStatus.NOT_FOUND, f"{quote(name[:60])} is no assignment of this course; go to the first "
                     "page.")
    return name
