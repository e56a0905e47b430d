"""Baselines on one device, in an executor of their own, which never runs a submission's kernels. Baselines of
assignments whose inputs lie on the host are loaded into the submission's executor instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from threading import Thread

from grader.course.assignment import Assignment
from grader.course.cases import Case
from grader.course.catalogue import baseline_source
from grader.course.parameters import Scalar, Value
from grader.errors import InfrastructureError
from grader.judging.plans.planning import RequestedCall, parameters_of
from grader.judging.running.execution import Executor, GpuFailure
from grader.judging.running.fork_servers import LaneForkServer
from grader.judging.speed.fitness import Drift
from grader.kit.inputs import middle

EAGER, COMPILED = "eager", "compiled"
# The first call of torch.compile takes seconds, so this file is run ahead.
FIRST_COMPILED = b"""
import torch

torch.compile(torch.neg)(torch.zeros(1, device="cuda"))


def nothing():
    pass
"""


class Baselines:
    """A lane's baselines, in an executor of `fork_server`, which the caller closes. The folder `cache` retains compiled
    baselines for the next lane. The slow first start runs in the background.

    `drift` holds the baselines' earlier times, in earlier executors as well. By the names of assignment and case,
    `counts` is the number of baseline calls in a replay, and `compiled` the seconds a call of the compiled baseline.
    Until `warm_until` (time.monotonic) a power-bound device keeps its pace.
    """

    def __init__(self, cache: Path, fork_server: LaneForkServer) -> None:
        self.drift = Drift()
        self.counts: dict[tuple[str, str], int] = {}
        self.compiled_seconds: dict[tuple[str, str], float] = {}
        self.warm_until = 0.0
        self._cache = cache
        self._fork_server = fork_server
        self._executor: Executor | None = None
        self._loaded: dict[tuple[str, str, str], int] = {}
        self._ahead: list[Callable[[], None]] = []
        # The fork server starts here, in a thread that lives as long as the lane: the system ends a thread's processes
        # with the thread.
        _ = fork_server.handle
        self._first = Thread(target=self._begin, daemon=True)
        self._first.start()

    def prepare(self, ahead: Iterable[Callable[[], None]]) -> None:
        """Take functions to call while the first start is awaited. They prepare what timed cases would do later."""
        if self._first.is_alive():
            self._ahead += ahead

    def executor(self) -> Executor:
        """Return a living executor. Raises InfrastructureError."""
        while self._first.is_alive() and self._ahead:
            self._ahead.pop(0)()
        self._first.join()
        return self._living()

    def _begin(self) -> None:
        # The next call meets the same failure and reports it; OSError and ValueError come if the lane ends meanwhile.
        with suppress(InfrastructureError, OSError, ValueError):
            self._living().load_baseline(FIRST_COMPILED, "first_compiled.py", "nothing", [])

    def _living(self) -> Executor:
        if self._executor is None or self._executor.over:
            self._executor, self._loaded = Executor(self._fork_server, self._cache), {}
        return self._executor

    def program(self, assignment: Assignment, case: Case, function: str) -> int:
        """Return the number of a baseline's program in `executor()`. Raises InfrastructureError."""
        executor = self.executor()
        key = assignment.name, case.name, function
        if key not in self._loaded:
            self._loaded[key] = load_baseline(executor, assignment, case, function)
        return self._loaded[key]

    def close(self) -> None:
        with suppress(InfrastructureError):
            if self._executor is not None:
                self._executor.close()


def load_baseline(executor: Executor, assignment: Assignment, case: Case, function: str) -> int:
    """Load a baseline and return its program's number. Raises InfrastructureError."""
    given = parameters_of(assignment, RequestedCall(case, scalars(assignment, case)))
    file = f"baseline_{assignment.name}_{case.name}_{function}.py"
    number = executor.load_baseline(baseline_source(assignment.name), file, function, given)
    if isinstance(number, GpuFailure):
        raise InfrastructureError(f"the baseline of {assignment.name} cannot be loaded: {number.message}")
    return number


def scalars(assignment: Assignment, case: Case) -> dict[str, Value]:
    """Return the scalars of a baseline: always the same, since they are compiled into the baseline."""
    distributions = {} if assignment.distributions is None else assignment.distributions(case)
    return {parameter.name: middle(distributions[parameter.name], case.sizes)
            for parameter in assignment.parameters if isinstance(parameter, Scalar) and parameter.name in distributions}
