"""A server behind nginx, with the configuration of docs/server.md as it stands there: TLS, live pages, a sign-on."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from grader.home import ROOT
from tests.server.test_serving import RealServer

pytestmark = pytest.mark.skipif(not shutil.which("nginx") or not shutil.which("chromium"),
                                reason="no nginx, or no chromium")
SERVER, SIGN_ON = re.findall(r"```nginx\n(.*?)```", (ROOT / "docs/server.md").read_text(), re.DOTALL)
# {PLAIN}hello, as nginx takes passwords.
USERS = "trial-student:{PLAIN}hello\nstranger:{PLAIN}hello\n"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


@contextmanager
def nginx(folder: Path, upstream: str, text: str) -> Iterator[str]:
    """nginx with a server block; its address. Only ports and files are other than in the documentation."""
    port = free_port()
    result = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", str(folder / "kernels.key"),
         "-out", str(folder / "kernels.pem")], capture_output=True, check=False)
    assert result.returncode == 0, result.stderr
    (folder / "kernels.users").write_text(USERS)
    for old, new in {
            "listen 443": f"listen 127.0.0.1:{port}", "kernels.example.edu": "localhost", "/etc/ssl/": f"{folder}/",
            "/etc/nginx/": f"{folder}/", "127.0.0.1:8000": upstream}.items():
        text = text.replace(old, new)
    temporary = "".join(f"{name}_temp_path {folder}/{name};" for name in (
        "client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    # As Debian's own file, but in a folder of ours, and as this user.
    user = "user root;" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(
        f"{user} daemon off; pid {folder}/pid; error_log {folder}/error.log; events {{}}\n"
        f"http {{ access_log off; {temporary}\n{text}\n}}\n")
    words = ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")]
    with subprocess.Popen(words, stderr=subprocess.PIPE) as process:
        try:
            until = time.monotonic() + 10
            while time.monotonic() < until:
                try:
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                except OSError:
                    assert process.poll() is None, process.stderr and process.stderr.read()
                    time.sleep(0.05)
            yield f"https://localhost:{port}"
        finally:
            process.terminate()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RealServer]:
    made = RealServer(tmp_path / "results", "--proxy", "127.0.0.1", "--user-header", "X-Remote-User")
    try:
        yield made
    finally:
        assert made.end() == 0, made.said


@pytest.mark.timeout(240)
def test_a_browser_and_a_terminal_reach_it_through_nginx(server: RealServer, tmp_path: Path) -> None:
    from playwright.sync_api import sync_playwright

    from tests.pages.conftest import ARGUMENTS

    upstream, token = re.findall(r"http://(\S+)/#(\S+)", server.links["trial-student"])[0]
    terminal = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path), "SSL_CERT_FILE": str(tmp_path / "kernels.pem")}

    def kernelmark(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-m", "grader", *words], cwd=ROOT, capture_output=True, text=True,
                              check=False, env=terminal)

    with nginx(tmp_path, upstream, SERVER) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        context = browser.new_context(ignore_https_errors=True)
        page = context.new_page()
        page.goto(f"{address}/#{token}")
        page.click("button:has-text('Sign in')")
        page.wait_for_selector("#file")
        (cookie,) = context.cookies()
        assert cookie["secure"] and cookie["httpOnly"] and cookie["sameSite"] == "Lax"
        page.set_input_files("#file", str(ROOT / "reference/silu.py"))
        page.click("button:has-text('Send')")
        # Live through the proxy: nobody reloads the page.
        page.wait_for_selector("li[data-state=finished] a", timeout=90_000)
        large = page.request.post(f"{address}/send", data=b"x" * (2 << 20))
        assert large.status == 413
        assert kernelmark("login", f"{address}/#{token}").returncode == 0
        sent = kernelmark("submit", "reference/silu.py")
        assert sent.returncode == 0 and "passed" in sent.stdout, sent
        context.close()
    signed_on = re.sub(r"  location / \{.*?\n  \}\n", lambda _: SIGN_ON, SERVER, flags=re.DOTALL)
    with nginx(tmp_path, upstream, signed_on) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        page = browser.new_page(ignore_https_errors=True,
                                http_credentials={"username": "trial-student", "password": "hello"})
        page.goto(address)
        assert "Trial student" in page.inner_text("header")
        page.click("button:has-text('make a link')")
        (link,) = re.findall(r"kernelmark login '(\S+)'", page.inner_text("main"))
        assert kernelmark("login", link).returncode == 0
        assert kernelmark("status").stdout.count("silu.py") == 2
        # A name that a stranger sends along is not believed.
        stranger = browser.new_page(ignore_https_errors=True, http_credentials={
            "username": "stranger", "password": "hello"}, extra_http_headers={"X-Remote-User": "trial-staff"})
        stranger.goto(address)
        assert "stranger is not in this course" in stranger.inner_text("main")
        for path in ("desk", "api/me"):
            answer = stranger.goto(f"{address}/{path}")
            assert answer is not None and answer.status == 401
