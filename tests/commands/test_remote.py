"""The client of a course server, against answers that no server of this version gives."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from grader.home import ROOT

STATE = {"id": 1, "assignment": "silu", "file": "silu.py", "state": "finished", "said": "passed, 60 of 60 points",
         "received_at": "2026-11-30T01:00:00+00:00"}


class _NewerServer(BaseHTTPRequestHandler):
    """A server whose results this kernelmark cannot read."""

    def do_GET(self) -> None:
        path = self.path
        body = json.dumps([STATE] if path == "/api/files" else STATE | {"result": {"schema": "kernelmark/result/v9"}})
        if path.endswith("/events"):
            body = f"data: {json.dumps(STATE)}\n\n"
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def signed_in(tmp_path: Path) -> Iterator[dict[str, str]]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _NewerServer) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        settings = {"address": f"http://127.0.0.1:{server.server_port}", "token": "x" * 43}
        (tmp_path / "kernelmark").mkdir()
        (tmp_path / "kernelmark" / "server.json").write_text(json.dumps(settings))
        yield {**os.environ, "XDG_CONFIG_HOME": str(tmp_path), "COLUMNS": "200"}
        server.shutdown()
        thread.join()


def run(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "grader", *words], cwd=ROOT, capture_output=True, text=True,
                          check=False, env=environment)


def test_a_server_of_another_version_is_named(signed_in: dict[str, str]) -> None:
    result = run(signed_in, "submit", "--again", "1")
    assert result.returncode == 2 and len(result.stderr.splitlines()) == 1, result
    assert "silu.py: passed, 60 of 60 points; its report is on the server's page" in result.stderr
    assert "update it" in result.stderr
    # It knows nothing of which attempt counts.
    listed = run(signed_in, "status")
    assert listed.returncode == 0 and "passed, 60 of 60 points" in listed.stdout, listed


def test_one_of_files_and_a_number_is_asked_for(signed_in: dict[str, str]) -> None:
    for words in ((), ("silu.py", "--again", "1")):
        result = run(signed_in, "submit", *words)
        assert result.returncode == 2 and "one of both" in result.stderr
