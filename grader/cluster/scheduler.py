"""The scheduler: where lanes and gradings meet. It holds no submission longer than a lane takes for it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable

from distributed import Scheduler

from grader.cluster.key import ClusterError, Endpoint, quiet


def serve(at: Endpoint, say: Callable[[str], None]) -> None:
    """Listens until it is told to end. Raises ClusterError."""
    quiet()
    asyncio.run(_serve(at, say))


async def _serve(at: Endpoint, say: Callable[[str], None]) -> None:
    told = ending()
    try:
        # A job is bound to its lane, so the death of one is told at once, and whoever grades sends the job elsewhere.
        scheduler = await Scheduler(
            protocol=f"{at.scheme}://", host=at.host, port=at.port, security=at.security, allowed_failures=0,
            dashboard=False, dashboard_address="127.0.0.1:0")
    except (OSError, ValueError) as error:
        raise ClusterError(f"{at}: {error}; an address of this machine, and a port that is free, expected") from None
    try:
        say(f"scheduler at {scheduler.address}")
        await told.wait()
    finally:
        await scheduler.close()


def ending() -> asyncio.Event:
    """Set once this process is told to end."""
    told = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            asyncio.get_running_loop().add_signal_handler(number, told.set)
    return told
