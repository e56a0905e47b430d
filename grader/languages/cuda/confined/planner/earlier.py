"""Effects of an earlier call, with other sizes, on the calls of a plan."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from grader.languages.cuda.confined.planner.memories import EARLIER, RecordedMemory
from grader.languages.cuda.confined.planner.outcomes import is_error
from grader.languages.cuda.confined.planner.recording import Recording
from grader.plan.plan import Data, Operation, touched_buffers


class NeedsEarlier(Exception):
    """Use of an earlier call's tensors, or of memory that depends on them, in later calls: a real run has other
    tensors."""


def lasting(
    earlier: Sequence[Operation], calls: Sequence[Operation], memories: Sequence[RecordedMemory]
) -> list[Operation]:
    """Return the operations of the earlier call that prepare memory for later calls: those that do not depend on its
    tensors, directly or through other memory. Raises NeedsEarlier."""
    used = {number for operation in calls for number in touched_buffers(operation)}
    if any(memories[number].is_given and memories[number].call == EARLIER for number in used):
        raise NeedsEarlier
    touched: set[int] = set()
    operations: list[Operation] = []
    for operation in earlier:
        names = touched_buffers(operation)
        if any(memories[number].is_given or number in touched for number in names):
            touched |= names
        else:
            operations.append(operation)
    # A recording holds only those bytes of host memory that have changed since then: the others are not known.
    if any(memories[number].place != "device" and memories[number].is_kept for number in touched & used):
        raise NeedsEarlier
    return operations


def stale_lines(setup: Sequence[Operation], alone: Sequence[Operation]) -> list[int]:
    """Return the lines of contents in `setup` that a call `alone` would set in another way, as far as both go."""
    left = {operation.line: base64.b64decode(operation.contents) for operation in setup
            if isinstance(operation, Data) and operation.line}
    own = {operation.line: base64.b64decode(operation.contents) for operation in alone if isinstance(operation, Data)}
    return sorted(line for line in left.keys() & own.keys()
                  if not left[line].startswith(own[line]) and not own[line].startswith(left[line]))


def ended(recording: Recording) -> bool:
    """Return whether the earlier call of a recording ended without an error, and the next call began."""
    return len(recording.calls) > 1 and not any(map(is_error, recording.calls[0]))
