"""Executors for the tests of them, each from the zygote of its file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from grader.judging.running.execution import Executor
from grader.judging.running.fork_servers import executor_zygote
from grader.sandbox.forkserver.handle import Zygote


@pytest.fixture(scope="module")
def zygote_of_executors() -> Iterator[Zygote]:
    zygote = executor_zygote()
    yield zygote
    zygote.close()


@pytest.fixture
def executor(zygote_of_executors: Zygote, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Executor]:
    executor = Executor(zygote_of_executors, tmp_path_factory.getbasetemp() / "cache")
    yield executor
    executor.close()
