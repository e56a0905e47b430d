"""Numba, as host code launches it."""

from __future__ import annotations

from grader.host.handles import Handle
from grader.host.record import Session
from grader.languages.numba.confined import api
from grader.languages.numba.confined.planner import arrays, driver, failures
from grader.languages.numba.confined.planner.launches import NumbaKernel, NumbaLaunches
from grader.plan.messages import Failed
from grader.plan.plan import Tuner


class NumbaHost:
    """The stand-ins for a session. Numba has no autotuner."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.launches = launches = NumbaLaunches(session)
        context = driver.NumbaContext(session)
        api.install(context, arrays.NumbaArray, launches.launch, launches.resources, launches.cooperative)
        api.typed((arrays.NumbaArray, Handle), arrays.type_of)
        driver.install(context)

    @property
    def kernels(self) -> list[NumbaKernel]:
        return self.launches.kernels

    @property
    def tuners(self) -> list[Tuner]:
        return []

    def reset(self) -> None:
        self.launches.reset()

    def begin_case(self) -> None:
        """Do nothing: nothing tunes."""

    def failed(self, error: BaseException, seq: int) -> Failed:
        return failures.failed(self.session, error, seq)

    def undefined(self, error: BaseException) -> list[str]:
        return failures.undefined(error)
