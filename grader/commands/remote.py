"""The client of a course server: `kernelmark login`, `submit` and `status`."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import httpx2

from grader.errors import UserError, advised
from grader.results.files import replace

CONNECT_SECONDS, READ_SECONDS = 10.0, 60.0
RETRIES, RETRY_SECONDS = 20, 1.0


_TOKEN = re.compile(r"[A-Za-z0-9_-]{20,200}")
MOST_NOTE = 500
"""The most characters of a note that is sent along."""



def settings_file() -> Path:
    """Return the file with address and token, in the user's configuration folder."""
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "kernelmark" / "server.json"


def split_link(link: str) -> tuple[str, str]:
    """Return the address and the token in a link, `https://host/#token`. Raises UserError."""
    try:
        parts = urlsplit(link.strip())
        _ = parts.port
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname or not _TOKEN.fullmatch(parts.fragment):
        raise UserError("this is no link of a course server; paste all of it, from https to its end")
    loopback = (parts.hostname or "") in ("127.0.0.1", "localhost", "::1")
    if parts.scheme == "http" and not loopback:
        raise UserError("this link has no TLS, so that anybody on the way could read it; ask your course for one "
                          "that begins with https")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}", parts.fragment


class CourseClient:
    """A client of the server at an address. Each method raises UserError."""

    def __init__(self, address: str, token: str) -> None:
        self.address = address
        self._http = httpx2.Client(
            base_url=address, headers={"Authorization": f"Bearer {token}"}, follow_redirects=False,
            timeout=httpx2.Timeout(READ_SECONDS, connect=CONNECT_SECONDS))

    @classmethod
    def signed_in(cls) -> CourseClient:
        """Return the client of the server that `login` was given."""
        try:
            settings = json.loads(settings_file().read_text(encoding="utf-8"))
            return cls(settings["address"], settings["token"])
        except (OSError, ValueError, KeyError, TypeError):
            raise UserError("not signed in; run kernelmark login with the link that your course sent you") from None

    def store(self, token: str) -> Path:
        """Store address and token for the user alone, and return the file."""
        file = settings_file()
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace(file, json.dumps({"address": self.address, "token": token}).encode(), 0o600)
        return file

    def me(self) -> dict[str, Any]:
        """Return who is signed in, the course, and the files that it takes."""
        answer = self._request("GET", "/api/me")
        if not isinstance(answer, dict) or not {"name", "course", "files"} <= answer.keys():
            raise UserError(f"{self.address} is no course server; ask your course for its link")
        return answer

    def send(self, name: str, content: bytes, note: str = "", *, profile: bool = False) -> dict[str, Any]:
        """Send a file, and return its state."""
        if len(note) > MOST_NOTE:
            raise UserError(f"--note: {len(note)} characters; at most {MOST_NOTE}: shorten it")
        return dict(self._request("POST", f"/api/files/{quote(name)}", content=content,
                                  headers={"X-Note": quote(note), "X-Profile": str(int(profile))}))

    def files(self) -> list[dict[str, Any]]:
        return list(self._request("GET", "/api/files"))

    def state(self, number: int) -> dict[str, Any]:
        """Return a file's state, with its result once there is one."""
        return dict(self._request("GET", f"/api/files/{number}"))

    def profile_report(self, number: int) -> bytes:
        """Return the report of a file's profile, for Nsight Compute; b"" if there is none."""
        try:
            answer = self._http.get(f"/api/files/{number}/profile")
        except httpx2.HTTPError as error:
            raise UserError(f"{self.address} cannot be reached ({error}); the profile is on its page") from None
        return answer.content if answer.is_success else b""

    def follow(self, number: int) -> Iterator[dict[str, Any]]:
        """Yield a file's states until it is judged. A lost connection is opened again."""
        left = RETRIES
        while True:
            try:
                with self._http.stream("GET", f"/api/files/{number}/events") as answer:
                    if answer.status_code == httpx2.codes.TOO_MANY_REQUESTS or answer.is_server_error:
                        # A proxy answers so while the server starts again.
                        raise httpx2.HTTPError(f"status {answer.status_code}")
                    if answer.status_code != httpx2.codes.OK:
                        answer.read()
                        raise UserError(_refusal(answer))
                    for line in answer.iter_lines():
                        if line.startswith("data: "):
                            left = RETRIES
                            state = json.loads(line[6:])
                            yield state
                            if state["state"] in ("finished", "failed", "cancelled"):
                                return
            except httpx2.HTTPError as error:
                left -= 1
                if not left:
                    raise UserError(f"{self.address} cannot be reached ({error}); the file is queued all the same: "
                                      "kernelmark status shows it later") from None
            time.sleep(RETRY_SECONDS)

    def _request(self, method: str, path: str, **more: Any) -> Any:
        try:
            answer = self._http.request(method, path, **more)
        except httpx2.HTTPError as error:
            raise UserError(f"{self.address} cannot be reached ({error}); check the network, and try again") from None
        if answer.is_success:
            try:
                return answer.json()
            except ValueError:
                raise UserError(f"{self.address} is no course server; ask your course for its link") from None
        raise UserError(_refusal(answer))


def _refusal(answer: httpx2.Response) -> str:
    """Return what a server says about a request that it refuses."""
    try:
        said = str(answer.json()["error"])
    except (ValueError, KeyError, TypeError):
        said = f"the server answers {answer.status_code}; check your link, and try again later"
    if answer.status_code == httpx2.codes.UNAUTHORIZED:
        return "nobody has this link, or it has ended; run kernelmark login with the link from your course"
    after = answer.headers.get("retry-after", "")
    return said + (f" (in {after} s)" if after else "")


def named_files(paths: Sequence[Path]) -> list[tuple[Path, bytes]]:
    """Return files with their contents. Raises UserError for one that cannot be read."""
    files = []
    for path in paths:
        with advised("name a file that can be read", path):
            files.append((path, path.read_bytes()))
    return files
