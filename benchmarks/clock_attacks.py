"""What attacks on the clock gain on this machine's GPU: each with the worker's own code in its hands.

    .venv/bin/python -m benchmarks.clock_attacks

Prints a table in Markdown. The honest kernel takes turns with the attacks; a gain is against its median.
"""

from __future__ import annotations

import platform
import statistics

import torch
import triton

from grader.judge.duel import Measured
from grader.judge.lane import close_lane, lane_isolation
from tests.gpu.attacks import ATTACKS, HONEST, ended, measured


def main() -> None:
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, triton {triton.__version__}, "
          f"Python {platform.python_version()}, isolation {lane_isolation('cuda')}\n")
    print("| attack | how it ended | speed over the honest one's | inputs in sight before go (µs) |")
    print("|---|---|---|---|")
    ratios, rows = [], []
    for name, attack in ATTACKS.items():
        honest = measured(HONEST)
        assert isinstance(honest, Measured), honest
        ratios.append(honest.estimate.median)
        rows.append((name, measured(attack.source)))
    usual = statistics.median(ratios)
    for name, found in rows:
        if isinstance(found, Measured):
            print(f"| {name} | measured | {found.estimate.median / usual:.3f} | {found.exposed * 1e6:.0f} |")
        else:
            print(f"| {name} | found out: {ended(found)} | – | – |")
    low, high = min(ratios) / usual, max(ratios) / usual
    print(f"\nThe honest kernel itself, measured {len(ratios)} times: {low:.3f} to {high:.3f} of its median.")
    close_lane()


if __name__ == "__main__":
    main()
