"""What attacks on the clock gain on this machine's GPU: each with the worker's own code in its hands.

    .venv/bin/python -m benchmarks.clock_attacks [--only poisoned]

Prints a table in Markdown, with `--only` of the attacks that have this in their names. What an attack is compared with,
mostly the honest kernel, is measured before and after it.
"""

from __future__ import annotations

import argparse
import platform

import torch
import triton

from grader.judge.duel import Measured
from grader.judge.lane import close_lane, lane_isolation
from tests.gpu.attacks import ATTACKS, ended, measured


def main() -> None:
    parser = argparse.ArgumentParser(description="what attacks on the clock gain")
    parser.add_argument("--only", default="")
    wanted = parser.parse_args().only
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, triton {triton.__version__}, "
          f"Python {platform.python_version()}, isolation {lane_isolation('cuda')}\n")
    print("| attack | how it ended | speed over that without it | that one, measured again | inputs in sight (µs) |")
    print("|---|---|---|---|---|")
    for name, attack in ATTACKS.items():
        if wanted not in name:
            continue
        before, found, after = (
            measured(source, attack.assignment) for source in (attack.against, attack.source, attack.against))
        assert isinstance(before, Measured) and isinstance(after, Measured), (before, after)
        if isinstance(found, Measured):
            gain = found.estimate.median / before.estimate.median
            print(f"| {name} | measured | {gain:.3f} | {after.estimate.median / before.estimate.median:.3f} "
                  f"| {found.exposed * 1e6:.0f} |", flush=True)
        else:
            print(f"| {name} | found out: {ended(found)} | – | – | – |", flush=True)
    close_lane()


if __name__ == "__main__":
    main()
