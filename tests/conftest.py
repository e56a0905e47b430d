"""What tests share: one zygote for the whole run, and the grading of a folder with a small course."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from grader.judge.lane import close_lane, lane_zygote
from grader.judge.zygote import Zygote


@pytest.fixture(scope="session")
def zygote() -> Iterator[Zygote]:
    yield lane_zygote()
    close_lane()
