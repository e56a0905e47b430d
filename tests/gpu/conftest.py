"""Executors for the tests of them, each from the fork server of its file."""

from collections.abc import Iterator

import pytest

from grader.judging.running.execution import Executor
from grader.judging.running.fork_servers import LaneForkServer
from grader.judging.running.lane import executor_server


@pytest.fixture(scope="module")
def fork_server_of_executors() -> Iterator[LaneForkServer]:
    fork_server = LaneForkServer(executor_server)
    yield fork_server
    fork_server.close()


@pytest.fixture
def executor(fork_server_of_executors: LaneForkServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Executor]:
    executor = Executor(fork_server_of_executors, tmp_path_factory.getbasetemp() / "cache")
    yield executor
    executor.close()
