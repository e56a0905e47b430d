"""What a submission can do to the clock on a GPU, with the worker's own code in its hands: found out, or hardly a gain.

All of this wants the GPU to itself, as whatever is timed does. Gains are compared with the honest kernel's in the same
run; the limits leave room for a noisy machine.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import torch

from grader.assignment import Case
from grader.catalogue import ROOT, assignments
from grader.course import LimitsTable
from grader.judge.duel import Measured
from grader.judge.lane import close_lane, lane_zygote
from grader.judge.session import Answer, Session
from tests.gpu.attacks import ATTACKS, COUNTED, HONEST, LIMITS, Attack, ended, measured
from tests.graded import results, told

pytestmark = pytest.mark.gpu

GRADING = LimitsTable(cuda_call_seconds=20, cuda_assignment_seconds=120)


@cache
def ratio(source: str, assignment: str = "silu") -> float:
    """To the baseline, of what an attack is compared with."""
    found = measured(source, assignment)
    assert isinstance(found, Measured), found
    return found.estimate.median


@pytest.fixture(scope="module", autouse=True)
def _lane() -> Iterator[None]:
    yield
    close_lane()


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_an_attack_on_the_clock_gains_next_to_nothing(attack: Attack) -> None:
    usual = ratio(attack.against, attack.assignment)
    found = measured(attack.source, attack.assignment)
    if isinstance(found, Measured):
        gain = found.estimate.median / usual
        if gain >= attack.gain:
            # The machine may have changed since.
            again = measured(attack.against, attack.assignment)
            assert isinstance(again, Measured), again
            gain = found.estimate.median / max(usual, again.estimate.median)
        print(f"gain {gain:.3f}, in sight for {found.exposed * 1e6:.0f} µs")
        assert gain < attack.gain and ("measured" in attack.ends or not {"late_write", "values"} & set(attack.ends))
    else:
        assert ended(found) in attack.ends, found


def test_after_all_of_them_the_lane_is_what_it_was() -> None:
    again = measured(HONEST)
    assert isinstance(again, Measured) and 0.8 < again.estimate.median / ratio(HONEST) < 1.25


HOARDS = HONEST + """
held = []
_silu = silu

def silu(x, out):
    if not held:
        free = torch.cuda.mem_get_info()[0]
        held.append(torch.empty(int(free * 0.999), dtype=torch.uint8, device=x.device))
    _silu(x, out)
"""


def test_who_takes_all_device_memory_is_told_so_and_the_next_is_graded(tmp_path: Path) -> None:
    (tmp_path / "silu.py").write_text(HOARDS.replace("torch.cuda.mem_get_info()[0]", str(
        torch.cuda.mem_get_info()[0])).replace("0.999", "0.99"))
    result = results(tmp_path, GRADING, "cuda")["silu"]
    assert result.verdict == "memory_limit", told(result)
    assert results(ROOT / "examples/class/alice", GRADING, "cuda")["silu"].verdict == "accepted"


PATTERN = 0x5EC2E7
GIB = 1 << 30
LEAVES = """
import torch
def silu(x, out):
    blocks = [torch.full((1 << 28,), {pattern}, dtype=torch.int32, device='cuda') for _ in range({blocks})]
    out.copy_(x)
    out.view(-1)[0] = float(sum(int(b[-1]) == {pattern} for b in blocks))
"""
LOOKS = """
import torch
def silu(x, out):
    found = 0
    blocks = [torch.empty(1 << 28, dtype=torch.int32, device='cuda') for _ in range({blocks})]
    for block in blocks:
        found += int((block == {pattern}).sum())
    out.copy_(x)
    out.view(-1)[0] = float(found)
"""


def _first_element(source: str) -> float:
    session = Session(
        lane_zygote("cuda"), assignments()["silu"], source.encode(), LIMITS, 1 << 20, 60.0, math.inf, cuda=True)
    try:
        assert session.load() is None
        answer = session.call(Case(name="5x9", sizes={"M": 5, "N": 9}), {"x": torch.zeros(5, 9, device="cuda")})
        assert isinstance(answer, Answer), answer
        return float(answer.output[0, 0])
    finally:
        session.close()


def test_what_one_submission_leaves_in_device_memory_the_next_does_not_find() -> None:
    torch.cuda.empty_cache()
    blocks = int(torch.cuda.mem_get_info()[0] * 0.9) // GIB
    assert _first_element(LEAVES.format(pattern=PATTERN, blocks=blocks)) == blocks
    assert _first_element(LOOKS.format(pattern=PATTERN, blocks=blocks)) == 0


WRONG_WHEN_TIMED = COUNTED.format(what="rows = x.shape[0] - (x.numel() > 1 << 22 and calls % 7 == 0)\n    "
                                       "_silu(x[:rows], out[:rows])")


def test_speed_is_in_the_grade_and_what_is_wrong_there_is_told(tmp_path: Path) -> None:
    for name, more in (("honest", ""), ("wrong", WRONG_WHEN_TIMED), ("next", "")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "silu.py").write_text((ROOT / "reference/silu.py").read_text() + more)
        result = results(tmp_path / name, GRADING, "cuda", speed=True)["silu"]
        if more:
            assert result.verdict == "wrong_answer" and result.score == 0, told(result)
            details = [check.detail for check in result.correctness.checks if check.stage == "speed" and check.detail]
            assert details[0].unwritten == details[0].wrong == 8192, details[0]
            assert details[0].worst is not None and details[0].worst.index[0] == 8191
        else:
            assert result.verdict == "accepted" and result.performance.points > 0, told(result)
            timed = [case.name for case in assignments()["silu"].timed]
            assert [timing.case for timing in result.performance.timings] == timed
