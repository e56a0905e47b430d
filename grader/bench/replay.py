"""A program for profilers and memory checkers, which makes a plan's first call on its own memory.

    python -m grader.bench.replay FILE

FILE is a `Recorded` as JSON. As in an executor, only a submission's kernels run, and none of its Python.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch

from grader.engine.executor.messages import ProgramText
from grader.engine.executor.programs import PlanProgram
from grader.plan.messages import GivenTensor
from grader.plan.plan import Shaped


class Recorded(Shaped):
    """A plan with its machine code, and the tensors of the call."""

    program: ProgramText
    given: list[GivenTensor]


def tensor(given: GivenTensor) -> torch.Tensor:
    """A tensor for the call, of normal numbers or random bytes."""
    device = "cuda" if given.place == "device" else "cpu"
    dtype = getattr(torch, given.dtype)
    if not dtype.is_floating_point:
        return torch.randint(0, 256, given.shape, device=device, dtype=dtype)
    return torch.randn(given.shape, device=device).to(dtype)


def main() -> None:
    recorded = Recorded.model_validate_json(Path(sys.argv[1]).read_bytes())
    torch.cuda.set_stream(torch.cuda.Stream())  # type: ignore[no-untyped-call]
    slot = {given.name: tensor(given) for given in recorded.given}
    torch.cuda.synchronize()
    PlanProgram(recorded.program).run(slot, None)
    torch.cuda.synchronize()


if __name__ == "__main__":
    main()
