"""A real server: sent by the command and by a browser, judged by its lanes, killed and started again."""

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.classroom.attempts.store import FOLDER, Store
from grader.home import ROOT
from grader.server.queue import FILE
from tests.authoring.test_student_kit import ELSEWHERE

COMMAND = [sys.executable, "-m", "grader"]
WRONG = "import triton\n\n\ndef silu(x, out):\n    out.copy_(x)\n"


class RealServer:
    """A server on a folder of results, which may be killed and started again."""

    def __init__(self, out: Path, *more: str) -> None:
        self.out, self._more = out, more
        self.links: dict[str, str] = {}
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, "serve", "--out", str(self.out), "--listen", "127.0.0.1:0", "--only", "silu,transpose",
             "--trial", *self._more], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert self.process.stdout is not None
        self.said = []
        for line in self.process.stdout:
            self.said.append(line)
            if match := re.match(r"(trial-\w+): (http\S+#\S+)", line):
                self.links[match[1]] = match[2]
            if line.startswith("Serving"):
                return
        raise AssertionError("".join(self.said))

    def end(self, number: int = signal.SIGINT) -> int:
        self.process.send_signal(number)
        status = self.process.wait(60)
        if self.process.stdout is not None:
            self.said.append(self.process.stdout.read())
            self.process.stdout.close()
        return status

    def run(self, *words: str, home: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*COMMAND, *words], cwd=ROOT, capture_output=True, text=True, check=False,
                              env={**os.environ, "XDG_CONFIG_HOME": str(home), "COLUMNS": "200"})


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RealServer]:
    made = RealServer(tmp_path / "results")
    try:
        yield made
    finally:
        if made.process.poll() is None:
            made.end(signal.SIGKILL)


def test_a_student_sends_from_a_terminal(server: RealServer, tmp_path: Path) -> None:
    assert server.run("submit", "reference/silu.py", home=tmp_path).stderr.startswith("kernelmark: not signed in; run")
    bad = server.run("login", "http://far.example/#" + "x" * 43, home=tmp_path)
    assert bad.returncode == 2 and "has no TLS" in bad.stderr
    result = server.run("login", server.links["trial-student"], home=tmp_path)
    assert result.returncode == 0 and "Signed in to" in result.stdout, result
    kept = tmp_path / "kernelmark/server.json"
    assert kept.stat().st_mode & 0o777 == 0o600
    right = server.run("submit", "reference/silu.py", "--note", "the reference", "--profile", home=tmp_path)
    assert right.returncode == 0 and "passed  60 of 60 points measured" in right.stdout, right
    assert "Not profiled: the machine that graded it has no GPU." in right.stdout
    missing = server.run("submit", "nowhere/silu.py", home=tmp_path)
    assert missing.returncode == 2 and "nowhere/silu.py: No such file or directory; name a file" in missing.stderr
    long = server.run("submit", "reference/silu.py", "--note", "x" * 501, home=tmp_path)
    assert long.returncode == 2 and "at most 500: shorten it" in long.stderr
    (tmp_path / "silu.py").write_text(WRONG)
    wrong = server.run("submit", str(tmp_path / "silu.py"), home=tmp_path)
    assert wrong.returncode == 1 and "against the rules" in wrong.stdout, wrong
    listed = server.run("status", home=tmp_path)
    assert re.search(r"2 .*silu\.py .*against the rules.*\n1 .*silu\.py .*passed, 60 of 60", listed.stdout), listed
    assert listed.stdout.count("counts") == 2, listed
    again = server.run("submit", "--again", "1", home=tmp_path)
    assert again.returncode == 0 and "passed  60 of 60 points measured" in again.stdout, again
    (tmp_path / "gemm.py").write_text("x = 1\n")
    refused = server.run("submit", str(tmp_path / "gemm.py"), home=tmp_path)
    assert refused.returncode == 2 and "no file of this course; send one of silu.cu, silu.py" in refused.stderr
    # The same bytes again have an answer, which counts from now on. A student's own machine needs no Linux.
    (tmp_path / "silu.py").write_bytes((ROOT / "reference/silu.py").read_bytes())
    environment = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path), "COLUMNS": "200"}
    far = subprocess.run([sys.executable, "-c", ELSEWHERE, "win32", "submit", str(tmp_path / "silu.py")], cwd=ROOT,
                         capture_output=True, text=True, check=False, env=environment)
    assert far.returncode == 0 and "passed  60 of 60 points measured" in far.stdout, far
    counts = json.loads((server.out / "trial-student/result.json").read_text())["assignments"]["silu"]
    assert counts["verdict"] == "accepted"
    # Its attempts are those of `grade`, and another server has to wait.
    with Store.existing(server.out) as store:
        assert [(attempt.student, attempt.verdict) for attempt in store.attempts()] == [
            ("trial-student", "accepted"), ("trial-student", "policy_violation"), ("trial-student", "accepted")]
    assert (server.out / "trial-student/report.html").is_file()
    second = subprocess.run([*COMMAND, "serve", "--out", str(server.out), "--listen", "127.0.0.1:0"], cwd=ROOT,
                            capture_output=True, text=True, check=False)
    assert second.returncode == 2 and "is at work there" in second.stderr, second
    explained = server.run("explain-grade", "--out", str(server.out), "trial-student", home=tmp_path)
    assert "silu" in explained.stdout, explained
    assert server.end() == 0, server.said


def test_a_killed_server_loses_nothing_that_was_received(tmp_path: Path) -> None:
    server = RealServer(tmp_path / "results", "--jobs", "1")
    server.run("login", server.links["trial-student"], home=tmp_path)
    received = []
    try:
        for number, name in enumerate(("silu", "transpose")):
            kernel = tmp_path / f"{name}.py"
            kernel.write_text((ROOT / f"reference/{name}.py").read_text() + f"\n# {number}\n")
            result = server.run("submit", "--no-wait", str(kernel), home=tmp_path)
            assert result.returncode == 0, result
            received.append(int(re.findall(r"received as (\d+)", result.stdout)[0]))
        queue = sqlite3.connect(server.out / FOLDER / FILE)
        started, until = None, time.monotonic() + 60
        while started is None and time.monotonic() < until:
            started = queue.execute("select id from jobs where state = 'started'").fetchone()
            time.sleep(0.02)
        assert started is not None
        server.end(signal.SIGKILL)
        assert len(queue.execute("select id from jobs").fetchall()) == 2
        queue.close()
        server.start()
        server.run("login", server.links["trial-student"], home=tmp_path)
        until = time.monotonic() + 90
        while time.monotonic() < until:
            states = server.run("status", home=tmp_path).stdout
            if states.count("60 of 60") == 2:
                break
            time.sleep(0.5)
        assert states.count("60 of 60") == 2, states
    finally:
        server.end(signal.SIGINT if server.process.poll() is None else signal.SIGKILL)
    with Store.existing(server.out) as store:
        assert sorted(attempt.assignment for attempt in store.attempts()) == ["silu", "transpose"]


@pytest.mark.skipif(shutil.which("chromium") is None, reason="no chromium")
def test_a_student_sends_from_a_browser(server: RealServer, tmp_path: Path) -> None:
    from playwright.sync_api import Error, sync_playwright

    from tests.pages.conftest import ARGUMENTS

    errors: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 400, "height": 800})
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.goto(server.links["trial-student"])
        # Nobody is signed in by a link alone.
        page.click("button:has-text('Sign in')")
        page.wait_for_selector("#file")
        assert "#" not in page.url
        page.set_input_files("#file", str(ROOT / "reference/silu.py"))
        page.fill("#note", "from a browser")
        page.keyboard.press("Enter")
        # Live: nobody reloads the page.
        page.wait_for_selector("li[data-state=finished] a", timeout=90_000)
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= 400
        page.click("li[data-state=finished] a")
        page.wait_for_selector("h3")
        assert "SiLU" in page.inner_text("main")
        # A report has an origin of its own, so that its scripts reach nobody's cookie.
        with pytest.raises(Error, match="sandboxed"):
            page.evaluate("document.cookie")
        page.goto(server.links["trial-student"].partition("#")[0] + "kernel/silu")
        assert "from a browser" in page.inner_text("table")
        staff = browser.new_context(java_script_enabled=False).new_page()
        staff.goto(server.links["trial-staff"])
        staff.fill("#link", server.links["trial-staff"])
        staff.click("button:has-text('Sign in')")
        staff.click("text=desk")
        assert "1 judged" in staff.inner_text("main")
        staff.click("text=pause")
        assert "Paused" in staff.inner_text("main")
        staff.click("text=class page")
        assert "trial-student" in staff.inner_text("main")
        browser.close()
    assert errors == []


@pytest.mark.skipif(shutil.which("chromium") is None, reason="no chromium")
def test_a_keyboard_is_enough(server: RealServer) -> None:
    from playwright.sync_api import Page, sync_playwright

    from tests.pages.conftest import ARGUMENTS

    def go(page: Page, selector: str) -> None:
        """Press Tab until what `selector` names has the focus."""
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate("selector => document.activeElement.matches(selector)", selector):
                # Whoever looks sees where the focus is.
                style = "getComputedStyle(document.activeElement)"
                assert page.evaluate(f"{style}.outlineStyle + {style}.boxShadow") != "nonenone", selector
                return
        raise AssertionError(f"Tab does not reach {selector}")

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        page = browser.new_page()
        page.goto(server.links["trial-student"])
        go(page, "main button")
        page.keyboard.press("Enter")
        page.wait_for_selector("#file")
        go(page, "summary")
        page.keyboard.press("Space")
        go(page, "#pasted")
        page.keyboard.insert_text((ROOT / "reference/silu.py").read_text())
        go(page, "[name=profile]")
        page.keyboard.press("Space")
        go(page, "main button")
        page.keyboard.press("Enter")
        page.wait_for_selector("li[data-state=finished] a", timeout=90_000)
        go(page, "li[data-state=finished] a[href^='/attempt/']")
        page.keyboard.press("Enter")
        page.wait_for_selector(".back a")
        go(page, ".back a")
        page.keyboard.press("Enter")
        page.wait_for_selector("h1:has-text('silu')")
        assert "1 attempt." in page.inner_text("main") and "passed" in page.inner_text("table")
        go(page, "nav a")
        page.keyboard.press("Enter")
        page.wait_for_selector("#file")
        go(page, "a[href^='/profile/']")
        page.keyboard.press("Enter")
        page.wait_for_selector("h1:has-text('Profile')")
        assert "has no GPU" in page.inner_text("main")
        browser.close()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze")
def test_systemd_takes_the_unit_of_the_documentation(tmp_path: Path) -> None:
    (unit,) = re.findall(r"```ini\n(.*?)```", (ROOT / "docs/server.md").read_text(), re.DOTALL)
    for old, new in {"/srv/course/.venv/bin/kernelmark": sys.executable, "User=kernelmark": "User=root"}.items():
        assert old in unit
        unit = unit.replace(old, new)

    def said(text: str) -> str:
        (tmp_path / "kernelmark.service").write_text(text)
        return subprocess.run(["systemd-analyze", "verify", tmp_path / "kernelmark.service"], capture_output=True,
                              text=True, check=False).stderr

    assert "kernelmark" not in said(unit)
    assert "Unknown" in said(unit.replace("Restart=", "Restarts="))


def test_off_the_loopback_it_needs_tls(tmp_path: Path) -> None:
    def said(*words: str) -> Any:
        result = subprocess.run([*COMMAND, "serve", "--out", str(tmp_path), *words], cwd=ROOT, capture_output=True,
                                text=True, check=False)
        assert result.returncode == 2
        return result.stderr

    assert "tokens need TLS" in said("--listen", "0.0.0.0:0")
    assert "give an address and a port" in said("--listen", "8000")
    assert "pass --proxy with its address" in said("--user-header", "X-Remote-User")
    assert "one without the other" in said("--tls-certificate", "x.pem")
    assert "no such assignment" in said("--only", "slu") or "is no assignment" in said("--only", "slu")


def test_links_are_made_for_a_roster(tmp_path: Path) -> None:
    roster = tmp_path / "roster.csv"
    roster.write_text("id,name\nada,Ada L.\nbob,Bob\n")
    words = [*COMMAND, "tokens", "--out", str(tmp_path / "results")]
    result = subprocess.run([*words, str(roster), "--staff", "tess", "--address", "https://course.test"], cwd=ROOT,
                            capture_output=True, text=True, check=False)
    assert re.fullmatch(r"id,link\ntess,https://course\.test/#\S{43}\nada,https://course\.test/#\S{43}\nbob,.*\n",
                        result.stdout), result
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False).stdout.splitlines()
    assert [line.split(",")[:4] for line in listed] == [
        ["id", "name", "staff", "link"], ["ada", "Ada L.", "no", "yes"], ["bob", "Bob", "no", "yes"],
        ["tess", "tess", "yes", "yes"]]
    gone = subprocess.run([*words, "--revoke", "ada,nobody"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert gone.returncode == 2 and "nobody is called nobody" in gone.stderr
    roster.write_text("id,name\n../ada,Ada L.\n")
    unfit = subprocess.run([*words, str(roster)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert unfit.returncode == 2 and "cannot be a folder's name" in unfit.stderr
    assert json.dumps(unfit.stdout) == '""'
