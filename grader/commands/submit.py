"""The commands `login`, `submit` and `status`."""

from __future__ import annotations

import importlib.util
from importlib.metadata import version
from pathlib import Path, PurePath
from typing import Annotated, Any

import typer
from pydantic import ValidationError
from rich.table import Table
from rich.text import Text

from grader.console import INFRASTRUCTURE_ERROR, NOT_RIGHT, RIGHT, STUDENTS, complain, console, say, usage
from grader.errors import UserError, advised
from grader.results.profile import KernelProfile
from grader.results.result import Result
from grader.results.text import clean


def add_to(app: typer.Typer) -> None:
    for command in (login, submit, status):
        app.command(rich_help_panel=STUDENTS)(command)


def login(
    link: Annotated[str, typer.Argument(help="The link that your course sent you. Without it, you are asked for it.")]
    = "",
) -> None:
    """Sign in to your course's server: keeps its address and your token on this computer."""
    _installed()
    # Late: httpx2 may be missing.
    from grader.commands.remote import CourseClient, split_link

    with advised("make your configuration folder writable"):
        address, token = split_link(link or _prompt_for_link())
        client = CourseClient(address, token)
        account = client.me()
        client.store(token)
    say(f"Signed in to {account['course']} as {account['name']}. It takes {', '.join(account['files'])}.")


def _prompt_for_link() -> str:
    try:
        return str(typer.prompt("Your link", hide_input=True))
    except typer.Abort:
        usage("no link given; run kernelmark login with the link that your course sent you")


def submit(
    files: Annotated[list[Path] | None, typer.Argument(help="Kernels to send, such as silu.py gemm.py.")] = None,
    note: Annotated[str, typer.Option(help="What you tried, for your work log.")] = "",
    profile: Annotated[bool, typer.Option(
        "--profile", help="Once it is right, profile it on the course's GPU; saves Nsight Compute's report.")] = False,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait for the verdict, or only send.")] = True,
    again: Annotated[int | None, typer.Option(
        metavar="NUMBER", help="Send nothing; follow a file that you have sent, by its number.")] = None,
) -> None:
    """Send kernels to your course's server, and show what it says of them, speed included where it has a GPU.

    Ctrl-C leaves them queued: `kernelmark status` lists them, `kernelmark submit --again NUMBER` follows one. Exit
    status: 0 if all are right, 1 if not, 2 for a usage error, 3 if the grader failed.
    """
    _installed()
    # Late, see login.
    from grader.commands.remote import CourseClient, named_files

    if bool(files) == (again is not None):
        usage("submit: name kernels to send, such as silu.py, or pass --again with the number of a file that you have "
              "sent; one of both")
    try:
        client, contents = CourseClient.signed_in(), named_files(files or ())
        if again is not None:
            state = next(client.follow(again))
            raise typer.Exit(_follow(client, Path(PurePath(state["file"]).name), state))
        taken = client.me()["files"]
        if wrong := [path for path, _ in contents if path.name not in taken]:
            usage(f"{wrong[0]}: no file of this course; send one of {', '.join(taken)}")
        sent = []
        for path, content in contents:
            sent.append((path, client.send(path.name, content, note, profile=profile)))
            say(f"{path}: received as {sent[-1][1]['id']}, {sent[-1][1]['said']}")
        if not wait:
            raise typer.Exit(RIGHT)
        statuses = [_follow(client, path, state) for path, state in sent]
    except KeyboardInterrupt:
        complain("what was received stays in the queue; kernelmark status lists it, kernelmark submit "
                 "--again NUMBER follows it")
        raise
    raise typer.Exit(max(statuses, default=RIGHT))


def _follow(client: Any, path: Path, state: dict[str, Any]) -> int:
    """Show a file's states until it is judged, then its result. Returns the exit status."""
    # Late: jinja2 and rich's tables are slow to import, and sending needs neither.
    from grader.pages import terminal

    with console.status(f"{path.name}: {state['said']}") as shown:
        for now in client.follow(state["id"]):
            state = now
            shown.update(f"{path.name}: {now['said']}")
    if state["state"] != "finished":
        complain(f"{path}: {state['said']}")
        return INFRASTRUCTURE_ERROR if state["state"] == "failed" else NOT_RIGHT
    answer = client.state(state["id"])
    try:
        result = Result.model_validate(answer["result"])
    except ValidationError:
        raise UserError(f"{path}: {state['said']}; its report is on the server's page, since the server has another "
                          f"kernelmark than this computer ({version('kernelmark')}): update it") from None
    assignment = result.assignments[state["assignment"]]
    console.print(terminal.kernel(assignment, str(path), state["file"]), crop=False)
    if assignment.repair is not None:
        console.print(terminal.mended(assignment, str(path)), crop=False)
    if answer.get("profile"):
        _profile(client, path, state["id"], KernelProfile.model_validate_json(answer["profile"]))
    return RIGHT if assignment.right or not assignment.judged else NOT_RIGHT


def _profile(client: Any, path: Path, number: int, profile: KernelProfile) -> None:
    """Show a profile, and save its report beside the file."""
    # Late, see _followed.
    from grader.pages.profile import HEADINGS, cells

    if profile.trouble:
        say(profile.trouble)
        return
    table = Table(*HEADINGS, box=None, pad_edge=False)
    for launch in profile.launches:
        table.add_row(*map(Text, cells(launch)))
    console.print(table)
    if report := client.profile_report(number):
        saved = path.with_suffix(".ncu-rep")
        saved.write_bytes(report)
        say(f"Written: {saved}")


def status() -> None:
    """List the kernels that you have sent, the newest first, and which of them count.

    Exit status: 2 for a usage error.
    """
    _installed()
    # Late, see login.
    from grader.commands.remote import CourseClient

    files = CourseClient.signed_in().files()
    table = Table(box=None, pad_edge=False)
    for heading in ("number", "file", "received", "state", "counts"):
        table.add_column(heading, overflow="fold")
    for file in files:
        table.add_row(*(Text(clean(str(file[key]), 200)) for key in ("id", "file", "received_at", "said")),
                      "counts" if file.get("counts") else "")
    console.print(table if files else "Nothing sent yet.")


def _installed() -> None:
    if importlib.util.find_spec("httpx2") is None:
        usage("httpx2 is not installed; pip install httpx2")
