"""A program that makes a plan's first call, on memory of its own: what profilers and checkers of memory look at.

    python -m grader.bench.replay FILE

FILE is a `Recorded` as JSON. No file of a submission is read here: as in an executor, its kernels alone run.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch

from grader.engine.executor.messages import Program
from grader.engine.executor.programs import PlanProgram
from grader.plan.messages import GivenTensor
from grader.plan.plan import Shaped


class Recorded(Shaped):
    """A plan with its machine code, and the tensors that it is given."""

    program: Program
    given: list[GivenTensor]


def tensor(one: GivenTensor) -> torch.Tensor:
    """What a call is given: normal numbers, or any bytes."""
    device = "cuda" if one.place == "device" else "cpu"
    dtype = getattr(torch, one.dtype)
    if not dtype.is_floating_point:
        return torch.randint(0, 256, one.shape, device=device, dtype=dtype)
    return torch.randn(one.shape, device=device).to(dtype)


def main() -> None:
    recorded = Recorded.model_validate_json(Path(sys.argv[1]).read_bytes())
    torch.cuda.set_stream(torch.cuda.Stream())  # type: ignore[no-untyped-call]
    slot = {one.name: tensor(one) for one in recorded.given}
    torch.cuda.synchronize()
    PlanProgram(recorded.program).run(slot, None)
    torch.cuda.synchronize()


if __name__ == "__main__":
    main()
