"""The scheduler, which connects lanes and gradings. It holds a submission only while a lane grades it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable

from distributed import Scheduler

from grader.cluster.key import ClusterError, Endpoint, quiet


def serve(at: Endpoint, say: Callable[[str], None]) -> None:
    """Listen until this process is asked to end. Raises ClusterError."""
    quiet()
    asyncio.run(_serve(at, say))


async def _serve(at: Endpoint, say: Callable[[str], None]) -> None:
    ended = ending()
    try:
        # No retries: a lane's death is reported at once, and the grading itself sends the job to another lane.
        scheduler = await Scheduler(
            protocol="tls://", host=at.host, port=at.port, security=at.security, allowed_failures=0,
            dashboard=False, dashboard_address="127.0.0.1:0")
    except (OSError, ValueError) as error:
        raise ClusterError(f"{at}: {error}; choose an address of this machine and a free port") from None
    try:
        say(f"scheduler at {scheduler.address}")
        await ended.wait()
    finally:
        await scheduler.close()


def ending() -> asyncio.Event:
    """Return an event that is set when this process is asked to end."""
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            asyncio.get_running_loop().add_signal_handler(number, ended.set)
    return ended
