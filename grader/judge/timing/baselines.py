"""Every assignment's baselines on one device, in an executor of their own that no submission's kernels ever run in."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from threading import Thread

from grader.engine.forkserver.handle import InfrastructureError
from grader.judge.execution import Executor, Lost, executor_zygote
from grader.judge.planning import Wanted, given_of
from grader.judge.timing.fitness import Drift
from grader.kit.inputs import Number
from grader.model.assignment import Assignment, Case
from grader.model.catalogue import baseline_source

EAGER, COMPILED = "eager", "compiled"
# What torch.compile does when it is first called takes seconds.
FIRST_COMPILED = b"""
import torch

torch.compile(torch.neg)(torch.zeros(1, device="cuda"))


def nothing():
    pass
"""


class Baselines:
    """A lane has one, as long as it lives: what compiles is paid for once, and kept in the folder `cache` for the next.
    What takes long at first begins at once, beside what its owner does next.

    `drift` is how fast they have been here, in executors before this one too. By the names of assignment and case,
    `counts` is how many calls of the baseline make a replay, and `compiled` the seconds of a call of what is reported
    beside it. Until `warm_until` (time.monotonic) a power-bound device is at its pace.
    """

    def __init__(self, cache: Path) -> None:
        self.drift = Drift()
        self.counts: dict[tuple[str, str], int] = {}
        self.compiled: dict[tuple[str, str], float] = {}
        self.warm_until = 0.0
        self._cache = cache
        self._zygote = executor_zygote()
        self._executor: Executor | None = None
        self._loaded: dict[tuple[str, str, str], int] = {}
        self._first = Thread(target=self._begin, daemon=True)
        self._first.start()

    def executor(self) -> Executor:
        """A living one. Raises InfrastructureError."""
        self._first.join()
        return self._living()

    def _begin(self) -> None:
        # Whoever asks next meets the same failure, and tells it; others are those of an end meanwhile.
        with suppress(InfrastructureError, OSError, ValueError):
            self._living().load_baseline(FIRST_COMPILED, "first_compiled.py", "nothing", [])

    def _living(self) -> Executor:
        if self._executor is None or self._executor.over:
            if not self._zygote.alive:
                self._zygote.close()
                self._zygote = executor_zygote()
            self._executor, self._loaded = Executor(self._zygote, self._cache), {}
        return self._executor

    def program(self, assignment: Assignment, case: Case, function: str) -> int:
        """The number of the program in `executor()`. Raises InfrastructureError."""
        executor = self.executor()
        key = assignment.name, case.name, function
        if key not in self._loaded:
            self._loaded[key] = load(executor, assignment, case, function)
        return self._loaded[key]

    def close(self) -> None:
        with suppress(InfrastructureError):
            if self._executor is not None:
                self._executor.close()
        self._zygote.close()


def load(executor: Executor, assignment: Assignment, case: Case, function: str) -> int:
    """Loads a baseline. Raises InfrastructureError if it cannot be had."""
    given = given_of(assignment, Wanted(case, scalars(assignment, case)))
    file = f"baseline_{assignment.name}_{case.name}_{function}.py"
    number = executor.load_baseline(baseline_source(assignment.name), file, function, given)
    if isinstance(number, Lost):
        raise InfrastructureError(f"the baseline of {assignment.name} cannot be had: {number.message}")
    return number


def scalars(assignment: Assignment, case: Case) -> dict[str, float]:
    """The numbers that a baseline is given: always the same, since they are compiled into it."""
    distributions = {} if assignment.distributions is None else assignment.distributions(case)
    return {name: one.middle for name, one in distributions.items() if isinstance(one, Number)}
