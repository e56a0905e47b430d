"""The effects of an earlier call, with other sizes, on the calls of a plan."""

from __future__ import annotations

from collections.abc import Sequence

from grader.frontends.cuda.planner.memories import EARLIER, TakenMemory
from grader.frontends.cuda.planner.outcomes import is_error
from grader.frontends.cuda.planner.recording import Recording
from grader.plan.plan import Operation, named


class NeedsEarlier(Exception):
    """Calls use what an earlier call was given, or what host code made of it: it was another in a real run, too."""


def lasting(
    earlier: Sequence[Operation], calls: Sequence[Operation], memories: Sequence[TakenMemory]
) -> list[Operation]:
    """Return the operations of the earlier call that prepare memory for later ones: those that have nothing to do with
    what it was given, directly or through other memory. Raises NeedsEarlier."""
    used = {number for operation in calls for number in named(operation)}
    if any(memories[number].is_given and memories[number].call == EARLIER for number in used):
        raise NeedsEarlier
    touched: set[int] = set()
    found: list[Operation] = []
    for operation in earlier:
        names = named(operation)
        if any(memories[number].is_given or number in touched for number in names):
            touched |= names
        else:
            found.append(operation)
    # Of host memory only what has changed since then is written down.
    if any(memories[number].place != "device" and memories[number].is_kept for number in touched & used):
        raise NeedsEarlier
    return found


def ended(recording: Recording) -> bool:
    """Return whether the earlier call of a recording did what it should, and another was begun."""
    return len(recording.calls) > 1 and not any(map(is_error, recording.calls[0]))
