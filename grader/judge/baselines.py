"""The baselines' worker: one for a lane, clean and long-lived, so that what compiles is paid for once.

It runs our own code alone and needs no sandbox; no submission's worker ever shares its processes or its zygote.
"""

from __future__ import annotations

import math
from contextlib import suppress

from grader.assignment import Assignment
from grader.catalogue import baseline_source
from grader.forkserver.handle import InfrastructureError, Zygote
from grader.judge.clock import Clock
from grader.judge.duel import Side
from grader.judge.history import History
from grader.judge.session import Lost, Session
from grader.plan import wire

# torch.compile may take most of a minute.
CALL_SECONDS = 180.0
# Interpreted kernels are a submission's; a baseline has none.
MAX_PROGRAMS = 1
LIMITS = wire.Limits(memory_mb=65_536, file_mb=4096, processes=4096, cpu_seconds=86_400)
FUNCTIONS = ("eager", "compiled")


class Baselines:
    """Every assignment's baselines on one device. Each is loaded when first asked for. `history` is how fast they were,
    in workers before this one too."""

    def __init__(self, *, cuda: bool, history: History | None = None) -> None:
        self.history = history or History()
        self._cuda = cuda
        self._zygote = Zygote(interpret=not cuda, layers=wire.Layers())
        self._session: Session | None = None
        self._clock: Clock | None = None
        self._loaded: list[tuple[str, str]] = []

    def side(self, assignment: Assignment, source: bytes | None = None) -> Side:
        """The baseline's side of a duel. Raises InfrastructureError if it cannot be had.

        `source` stands for the text of the assignment's `baseline.py`. Without a GPU there is no compiled one.
        """
        if self._session is None:
            self._session = Session(
                self._zygote, assignment, b"", LIMITS.model_copy(update={"cuda": self._cuda}), MAX_PROGRAMS,
                CALL_SECONDS, math.inf, self._cuda)
            self._clock = Clock(self._session)
        for function in FUNCTIONS[: 2 if self._cuda else 1]:
            if (assignment.name, function) not in self._loaded:
                self._load(assignment, function, source or baseline_source(assignment.name))
        which = [self._loaded.index((assignment.name, f)) for f in FUNCTIONS[: 2 if self._cuda else 1]]
        return Side(self._session, self._clock, which[0], which[1] if len(which) > 1 else None)

    @property
    def alive(self) -> bool:
        return self._zygote.alive and (self._session is None or not self._session.over)

    def close(self) -> None:
        """Ends the worker and its zygote."""
        with suppress(InfrastructureError):
            if self._session is not None:
                self._session.close()
        if self._clock is not None:
            self._clock.close()
        self._zygote.close()

    def _load(self, assignment: Assignment, function: str, source: bytes) -> None:
        assert self._session is not None
        file = f"baseline_{assignment.name}_{function}.py"
        lost = self._session.load_function(assignment, file, function, source, record=False)
        if isinstance(lost, Lost):
            self.close()
            raise InfrastructureError(f"the baseline of {assignment.name} cannot be had: {lost.message}")
        self._loaded.append((assignment.name, function))
