"""Plans and baselines run on a GPU: by an executor, a process of our own with a CUDA context of its own, on the judge's
memory.

What happened is told as values. After any `Lost` the executor is over, and its process has been killed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

import torch

from grader.executor import messages
from grader.forkserver import conversation
from grader.forkserver.handle import InfrastructureError, Zygote
from grader.judge.arena import Arena, Piece
from grader.judge.buffers import memory_file
from grader.plan import wire
from grader.plan.compiled import Binary
from grader.plan.messages import Given
from grader.plan.plan import Plan

# The first needs a CUDA context, and waits for machines where several are made at once.
OPEN_SECONDS = 60.0
LOAD_SECONDS = 30.0
# torch.compile may take most of a minute.
BASELINE_SECONDS = 180.0
LIMITS = wire.Limits(memory_mb=65_536, cuda=True, file_mb=4096, processes=4096, cpu_seconds=86_400)

M = TypeVar("M", bound=wire.Message)
Slot = Mapping[str, Piece]
"""The tensors of one call, by the name of the parameter."""


@dataclass(frozen=True)
class Done:
    """`seconds` of a replay. `touched`: the plan's temporaries, by their index, around which a kernel wrote."""

    seconds: float = 0.0
    touched: tuple[int, ...] = ()


@dataclass(frozen=True)
class Lost:
    """No answer: what CUDA reported, a call beyond its time, or a process that is gone.

    `kernel` and `line` (of the launch) where one launch alone can be meant.
    """

    kind: messages.FaultKind | Literal["time_limit", "crash"]
    message: str
    kernel: str = ""
    line: int = 0


@dataclass(frozen=True)
class Look:
    """A copy made after the last slot, in the same stream: single elements of `source` to `target`.

    `positions` (int64) index the whole of `source`, taken as one flat tensor of `target`'s dtype: see `position`. The
    judge writes them before each replay.
    """

    source: Arena
    positions: Piece
    target: Piece

    @staticmethod
    def position(piece: Piece, element: int) -> int:
        """Where an element of a piece lies in its arena."""
        return piece.offset // piece.tensor.itemsize + element


@dataclass(frozen=True)
class Captured:
    """Calls prepared for `Executor.replay`. Without `graph` the host makes them one after another."""

    number: int
    graph: bool


class Executor:
    """One executor, from its start to its end. Programs stay loaded; `bind` drops slots and captures.

    The constructor returns when the process is forked; its CUDA context is made meanwhile, and waited for by the first
    call. `zygote` has the role "executor" and no other worker. Compiled baselines are kept in the folder `cache`.
    """

    def __init__(self, zygote: Zygote, cache: Path) -> None:
        raise NotImplementedError

    @property
    def over(self) -> bool:
        raise NotImplementedError

    def load(self, plan: Plan, binaries: Sequence[Binary], *, seconds: float = LOAD_SECONDS) -> int | Lost:
        """Loads a plan's machine code. Returns the program's number."""
        raise NotImplementedError

    def load_baseline(
        self, source: bytes, file: str, function: str, given: Sequence[Given], *, seconds: float = BASELINE_SECONDS
    ) -> int | Lost:
        """Runs a file of ours and finds its function, which is called with `given`, in that order, and returns its
        result or writes it to the output. Returns the program's number."""
        raise NotImplementedError

    def bind(self, slots: Sequence[Slot], *looks: Look, seconds: float = LOAD_SECONDS) -> Lost | None:
        """Maps the arenas of these slots and looks, and no others: what was bound before is let go of."""
        raise NotImplementedError

    def run(self, program: int, slot: int, call: int = 0, *, seconds: float) -> Done | Lost:
        """Runs a program once on a slot, on freshly poisoned temporaries, and waits for it.

        `call` 0 is a plan's first call, after its setup; 1 the steady one, after setup and first call on copies of the
        slot's tensors. What a baseline returns is copied to the output. What the judge has asked of its own device
        before is waited for.
        """
        raise NotImplementedError

    def capture(
        self, program: int, slots: Sequence[int], look: Look | None = None, *, seconds: float
    ) -> Captured | Lost:
        """Prepares a program's calls on these slots, in this order, for `replay`; no slots make an empty graph.

        Of a plan the steady call is taken; the state that it finds is that after setup and first call, before each
        replay anew. Everything is run once, so that the slots' outputs are written.
        """
        raise NotImplementedError

    def replay(self, captured: Captured, *, seconds: float) -> Done | Lost:
        """Replays. `Done.seconds` is the host's clock around launch, look and synchronisation, inside the executor.

        What the judge has asked of its own device before is waited for, outside of the clock.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Kills the process; idempotent. Raises InfrastructureError if it cannot be killed."""
        raise NotImplementedError


class Executors:
    """Executors for one lane, one after another: whichever is taken is fresh, and the next is started ahead.

    At most one of those taken may be alive when the next is taken.
    """

    def __init__(self, cache: Path) -> None:
        raise NotImplementedError

    def take(self) -> Executor:
        """A fresh executor. Raises InfrastructureError if none can be had."""
        raise NotImplementedError

    def close(self) -> None:
        """Ends all of them."""
        raise NotImplementedError
