"""A lane: one process in which gradings run one after another, with a zygote for each kind of device.

Light to import, so that a new lane can have its zygote importing torch while it imports torch itself.
"""

from __future__ import annotations

import atexit
from functools import cache

from grader.judge.zygote import Zygote
from grader.worker import sandbox

_zygotes: dict[str, Zygote] = {}


def start_lane(device: str = "cpu") -> None:
    """Prepares a process of its own for gradings: it ends with the one that started it, and whatever a submission
    leaves behind falls to it."""
    sandbox.die_with_parent()
    sandbox.adopt_orphans()
    lane_zygote(device)
    import torch

    # A lane is one core: oracles that spread over all of them would slow the other lanes' workers.
    torch.set_num_threads(1)


def lane_zygote(device: str = "cpu") -> Zygote:
    """This process's zygote for a device: started when first needed, replaced when lost, kept for every submission."""
    zygote = _zygotes.get(device)
    if zygote is None or not zygote.alive:
        if zygote is not None:
            zygote.close()
        _register_cleanup()
        zygote = _zygotes[device] = Zygote(interpret=device == "cpu")
    return zygote


def close_lane() -> None:
    """Ends this process's zygotes, and with them their workers."""
    while _zygotes:
        _zygotes.popitem()[1].close()


@cache
def _register_cleanup() -> None:
    atexit.register(close_lane)
