"""`kernelmark serve` and `kernelmark tokens`."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Annotated

import typer

from grader.commands import grade
from grader.console import COURSE, TAS, complain, console, course_option, names_in, require, say, usage

MOST_NAME = 100
Out = Annotated[Path, typer.Option(help="The folder of results, where the server keeps its queue and its records.")]


def add_to(app: typer.Typer) -> None:
    app.command(rich_help_panel=TAS)(serve)
    app.command(rich_help_panel=TAS)(tokens)


def serve(
    context: typer.Context, out: Out = Path("results"),
    listen: Annotated[str, typer.Option(help="The address and port to listen on.")] = "127.0.0.1:8000",
    course: Annotated[Path, course_option("The course file: points, thresholds, limits, policy, isolation.")] = COURSE,
    only: Annotated[str, typer.Option(help="Assignments to take, e.g. silu,gemm. Default: the course's.")] = "",
    jobs: Annotated[int, typer.Option(min=0, help="Lanes on a machine without a GPU; 0: one for each core.")] = 0,
    lanes: grade.Address = "", key: grade.Key = None,
    tls_certificate: Annotated[Path | None, typer.Option(
        help="A certificate: needed off the loopback, where there is no --proxy.")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="The certificate's key.")] = None,
    proxy: Annotated[str, typer.Option(
        help="The address of a proxy that ends TLS, whose forwarded headers are believed.")] = "",
    user_header: Annotated[str, typer.Option(
        help="The header in which that proxy says who has signed in, such as X-Remote-User.")] = "",
    trial: Annotated[bool, typer.Option("--trial", help="Print a link for a trial student and for staff.")] = False,
    allow_degraded: Annotated[bool, typer.Option(
        "--allow-degraded", help="Grade at any isolation level: only for code that you trust.")] = False,
) -> None:
    """Serve a course: students send files by browser or `kernelmark submit`, which lanes grade.

    Attempts are the same records as those of `kernelmark grade`. Ctrl-C ends the server; the next one
    grades the files that still wait. Exit status: 2 for a usage or configuration error.
    """
    require("server", "starlette", "uvicorn", "multipart")
    # Late: these need the extra, and are slow to import.
    from grader.server.serving import Address, ServerOptions, serve_course

    host, _, port = listen.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65_535:
        usage(f"--listen {listen}: give an address and a port, such as 127.0.0.1:8000")
    options = ServerOptions(
        out, course, tuple(names_in(only)), jobs, allow_degraded=allow_degraded, trial=trial,
        far=grade.opener(context.obj, lanes, key, out),
        address=Address(host.strip("[]"), int(port), tls_certificate, tls_key, proxy, user_header))
    serve_course(options, say, complain)


def tokens(
    roster: Annotated[Path | None, typer.Argument(help="A roster: everybody in it gets a new link.")] = None,
    out: Out = Path("results"),
    address: Annotated[str, typer.Option(help="The server's address in the links.")] = "http://127.0.0.1:8000",
    staff: Annotated[str, typer.Option(help="Names of staff who get a new link, as anna,ben.")] = "",
    revoke: Annotated[str, typer.Option(help="Names whose links end.")] = "",
) -> None:
    """Print a secret link for each student, as CSV for a mail merge. Without a roster, list who has one.

    A new link replaces an earlier one. Only hashes of links are stored. Exit status: 2 for a usage error.
    """
    require("server", "starlette", "uvicorn", "multipart")
    # Late, see serve.
    from grader.classroom.attempts.store import FOLDER, Store
    from grader.course.roster import read_roster
    from grader.server.queue import ServerQueue

    try:
        if not address.startswith(("http://", "https://")):
            usage(f"--address {address}: give an address, such as https://kernels.example.edu")
        # All is read and checked before any link changes.
        students = read_roster(roster) if roster is not None else []
        wanted = [*names_in(staff), *(student.id for student in students)]
        for unfit in (name for name in wanted if "/" in name or name.startswith(".") or len(name) > MOST_NAME):
            usage(f"{unfit[:80]!r} cannot be a folder's name; give this person another id")
        out.mkdir(parents=True, exist_ok=True)
        Store.create(out)
        queue = ServerQueue(out / FOLDER)
        if unknown := queue.unknown(names_in(revoke)):
            usage(f"--revoke: nobody is called {', '.join(unknown)}; kernelmark tokens lists everybody")
        made = queue.admit([*((name, name, True) for name in names_in(staff)),
                            *((student.id, student.name, False) for student in students)])
        queue.revoke(names_in(revoke))
        sheet = io.StringIO()
        if made:
            writer = csv.writer(sheet, lineterminator="\n")
            writer.writerow(["id", "link"])
            writer.writerows((name, f"{address.rstrip('/')}/#{token}") for name, token in made)
        elif not revoke:
            writer = csv.writer(sheet, lineterminator="\n")
            writer.writerow(["id", "name", "staff", "link", "since"])
            writer.writerows((person.name, person.shown, "yes" if person.staff else "no", "yes" if has else "no", since)
                             for person, has, since in queue.people())
        console.print(sheet.getvalue(), end="", markup=False, soft_wrap=True, highlight=False)
    except OSError as error:
        usage(f"--out {error.filename or out}: {error.strerror}; choose a writable folder")
