"""What the judge bounds while it waits for a confined process: each bound stops its attack, which works without it."""

import pytest

from grader.course.cases import Case
from grader.course.catalogue import assignments
from grader.judging.plans.planning import Planning, RequestedCall, plan_calls
from grader.plan import wire
from grader.plan.device import TARGETS
from grader.sandbox.confine import cgroup, processes
from grader.sandbox.forkserver import clock, conversation
from grader.sandbox.forkserver.conversation import Conversation, LostAnswer
from grader.sandbox.forkserver.handle import OWN_MB, OWN_TASKS, ForkServer
from grader.sandbox.forkserver.watchdog import Watchdog

NONE = wire.Layers()
LIMITS = wire.Limits(memory_mb=256, file_mb=16, processes=8, cpu_seconds=60)
CASE = Case(name="5x9", sizes={"M": 5, "N": 9})
SECONDS = 20.0


def planned(
    fork_server: ForkServer, source: str, seconds: float = SECONDS, limits: wire.Limits = LIMITS
) -> Planning:
    """What comes of planning one call of a silu."""
    # The clock is not to run while the fork server starts.
    _ = fork_server.ready
    return plan_calls(
        lambda: Conversation(fork_server, "triton/planner", limits), assignments()["silu"], [source.encode()],
        [RequestedCall(CASE, {})], TARGETS["sm_90"], lambda texts: texts, call_seconds=seconds,
        until=clock.now() + seconds)


def lost(found: Planning) -> LostAnswer | None:
    (outcome,) = found.outcomes
    return outcome if isinstance(outcome, LostAnswer) else None


# A judge that does not see the channel close waits until the time is up.
@pytest.mark.parametrize(("first", "kind"), [("os.close(3)", "protocol"), ("pass", "time_out")])
def test_what_hangs_up_is_killed_before_its_time_is_up(fork_server: ForkServer, first: str, kind: str) -> None:
    text = f"import os, time\ndef silu(x, out):\n    {first}\n    time.sleep(30)"
    answer = lost(planned(fork_server, text, seconds=3))
    assert answer is not None and answer.kind == kind, answer
    assert not processes.descendants(fork_server.pid)


# By the C library: what goes through Python is refused.


def test_the_memory_of_all_processes_is_watched_while_the_judge_waits(text: str, 
    fork_server: ForkServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = lost(planned(fork_server, text))
    assert answer is not None and answer.kind == "out_of_memory", answer
    monkeypatch.setattr(Watchdog, "check", lambda self: None)
    assert lost(planned(fork_server, text)) is None


def test_what_is_printed_is_bounded(text: str, fork_server: ForkServer, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = lost(planned(fork_server, text))
    assert answer is not None and answer.kind == "over_limit" and "printed" in answer.message
    monkeypatch.setattr(conversation, "MOST_PRINTED", 1 << 40)
    assert lost(planned(fork_server, text)) is None


def test_memory_that_no_process_maps_is_bounded_by_the_cgroup_and_told_as_memory(text: str) -> None:
    try:
        group = cgroup.create(OWN_MB, OWN_TASKS)
    except cgroup.NoCgroup as reason:
        pytest.skip(str(reason))
    limits = LIMITS.model_copy(update={"file_mb": 64})
    # The layer that refuses such memory itself is left out.
    bounded = ForkServer(("triton/planner",), layers=NONE, cgroup=group)
    unbounded = ForkServer(("triton/planner",), layers=NONE)
    try:
        answer = lost(planned(bounded, text, limits=limits))
        assert answer is not None and answer.kind == "out_of_memory", answer
        assert lost(planned(unbounded, text, limits=limits)) is None
    finally:
        bounded.close()
        unbounded.close()
