"""Executors take the fork servers that their lane has started, and others once those are taken."""

from grader.judging.running import fork_servers
from grader.judging.running.lane import LANE


def test_what_was_started_ahead_is_taken_and_the_rest_ends_with_the_lane() -> None:
    ahead = fork_servers.start_ahead()
    assert len(set(map(id, ahead))) == fork_servers.AHEAD
    taken = [fork_servers.executor_fork_server() for _ in range(fork_servers.AHEAD - 1)]
    try:
        (left,) = (fork_server for fork_server in ahead if fork_server not in taken)
        LANE.close()
        assert not left.alive
        taken.append(fork_servers.executor_fork_server())
        assert taken[-1] not in ahead
    finally:
        for fork_server in taken:
            fork_server.close()
