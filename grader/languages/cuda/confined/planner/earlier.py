"""Effects of an earlier call, with other sizes, on the calls of a plan."""

from __future__ import annotations

from collections.abc import Sequence

from grader.languages.cuda.confined.planner.memories import EARLIER, TakenMemory
from grader.languages.cuda.confined.planner.outcomes import is_error
from grader.languages.cuda.confined.planner.recording import Recording
from grader.plan.plan import Operation, named


class NeedsEarlier(Exception):
    """Use of an earlier call's tensors, or of memory that depends on them, in later calls: a real run has other
    tensors."""


def lasting(
    earlier: Sequence[Operation], calls: Sequence[Operation], memories: Sequence[TakenMemory]
) -> list[Operation]:
    """Return the operations of the earlier call that prepare memory for later calls: those that do not depend on its
    tensors, directly or through other memory. Raises NeedsEarlier."""
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
    # A recording holds only those bytes of host memory that have changed since then: the others are not known.
    if any(memories[number].place != "device" and memories[number].is_kept for number in touched & used):
        raise NeedsEarlier
    return found


def ended(recording: Recording) -> bool:
    """Return whether the earlier call of a recording ended without an error, and the next call began."""
    return len(recording.calls) > 1 and not any(map(is_error, recording.calls[0]))
