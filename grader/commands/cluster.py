"""`kernelmark scheduler`, `lane`, `cluster-key`, and `--lanes` of a grading."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.console import INFRASTRUCTURE_ERROR, TAS, complain, require, say

if TYPE_CHECKING:
    from grader.cluster.lanes import ClusterLanes

Key = Annotated[Path | None, typer.Option(help="The cluster's key, a file that kernelmark cluster-key made.")]


def add_to(app: typer.Typer) -> None:
    app.command(rich_help_panel=TAS)(scheduler)
    app.command(rich_help_panel=TAS)(lane)
    app.command("cluster-key", rich_help_panel=TAS)(cluster_key)


def scheduler(
    listen: Annotated[str, typer.Option(help="The address to listen on.")] = "tls://0.0.0.0:8786",
    key: Key = None,
) -> None:
    """Run the scheduler that connects lanes and gradings, until it is stopped. Exit status: 2 for a usage error."""
    require("cluster", "distributed", "cryptography")
    # Late, as in all of these commands: dask.distributed may be missing, and is slow to import.
    from grader.cluster.scheduler import endpoint, serve

    serve(endpoint(listen, key), say)


def lane(
    address: Annotated[str, typer.Argument(help="The scheduler's address, such as tls://host:8786.")],
    key: Key = None,
    jobs: Annotated[int, typer.Option(min=0, help="Lanes on a machine without a GPU; 0: one for each core.")] = 0,
) -> None:
    """Grade for everyone who asks the scheduler: one lane for each GPU, or for each core, until it is stopped.

    Exit status: 2 for a usage error; 3 if the scheduler is lost or has dismissed the lane.
    """
    require("cluster", "distributed", "cryptography")
    # Late, see scheduler.
    from grader.cluster.lane import run
    from grader.cluster.scheduler import endpoint

    if not run(endpoint(address, key), jobs, say):
        say(f"{address}: the scheduler is gone, or has dismissed this lane")
        raise typer.Exit(INFRASTRUCTURE_ERROR)


def cluster_key(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The file to make.")],
) -> None:
    """Make the key of a cluster, valid for a year. It gives control of every lane."""
    require("cluster", "distributed", "cryptography")
    # Late, see scheduler.
    from grader.cluster.scheduler import write_key

    write_key(path)
    say(f"{path}: copy it to the machines of the cluster and nowhere else")


def far_lanes(address: str, key: Path | None, submissions: Path) -> Callable[[int], ClusterLanes]:
    """Return a function that opens the lanes of `--lanes`, given the least isolation level; it raises UserError."""
    require("cluster", "distributed", "cryptography")
    # Late, see scheduler.
    from grader.cluster.lanes import ClusterLanes
    from grader.cluster.scheduler import endpoint

    at = endpoint(address, key, submissions)
    return lambda minimum: ClusterLanes(at, minimum, complain)
