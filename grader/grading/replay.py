"""A program for profilers and memory checkers, which makes a plan's first call on its own memory.

    python -m grader.grading.replay FILE

FILE is a `RecordedCall` as JSON. As in an executor, only a submission's kernels run, and none of its Python.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import torch

from grader.device.guards import torch_dtype
from grader.device.messages import ProgramText
from grader.device.programs import PlanProgram
from grader.plan.messages import GivenTensor
from grader.plan.plan import StrictModel


class RecordedCall(StrictModel):
    """A plan with its machine code, and the tensors of the call. The file `contents` holds, by name, the tensors of
    whole numbers and bools: kernels use some of them as indices, so random numbers would not do."""

    program: ProgramText
    given: list[GivenTensor]
    contents: str = ""


def tensor(given: GivenTensor, contents: Mapping[str, torch.Tensor]) -> torch.Tensor:
    """Return a tensor for the call: with its given contents, or else with normally distributed floats, or zeros for
    other dtypes."""
    device, dtype = "cuda" if given.place == "device" else "cpu", torch_dtype(given.dtype)
    memory = torch.zeros(given.elements, device=device, dtype=dtype)
    made = memory.as_strided(given.shape, given.strides) if given.strides else memory.view(given.shape)
    if given.name in contents:
        return made.copy_(contents[given.name])
    return made.copy_(torch.randn(given.shape, device=device)) if dtype.is_floating_point else made


def main() -> None:
    recorded = RecordedCall.model_validate_json(Path(sys.argv[1]).read_bytes())
    torch.cuda.set_stream(torch.cuda.Stream())  # type: ignore[no-untyped-call]
    contents = torch.load(recorded.contents, weights_only=True) if recorded.contents else {}
    slot = {given.name: tensor(given, contents) for given in recorded.given}
    torch.cuda.synchronize()
    PlanProgram(recorded.program).run(slot, None)
    torch.cuda.synchronize()


if __name__ == "__main__":
    main()
