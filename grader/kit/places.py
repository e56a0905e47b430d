"""A check of large answers in which any element can be computed from a few numbers about all inputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from grader.course.parameters import Inputs

PLACES = 1 << 15
"""Elements of an answer that are checked."""

At = Callable[[Tensor, Mapping[str, Tensor]], tuple[Tensor, Tensor]]
"""A function of places in the outputs, shape (calls, PLACES), and of the inputs of all calls, stacked, with numbers as
float64 of shape (calls, 1). It returns the right answers at the places and the error allowed, in float64."""


def secret_places(at: At) -> Callable[[Sequence[Inputs], torch.Generator], Callable[..., Tensor]]:
    """Return a `spot_check` for outputs of one dimension. It compares PLACES secret elements of each output, and finds
    NaN anywhere.

    The right answers there are computed before the calls, so the check needs no inputs afterwards, and a kernel gains
    nothing by changing them: one huge element, say, would make a sum known without adding. A kernel that leaves out a
    share p of the elements of n outputs passes with probability (1 − p)^(n·PLACES): 1e-14 for 0.1 % of one output.
    """
    def spot_check(inputs: Sequence[Inputs], generator: torch.Generator) -> Callable[..., Tensor]:
        first = next(value for value in inputs[0].values() if isinstance(value, Tensor))
        places = torch.randint(first.numel(), (len(inputs), PLACES), generator=generator, device=generator.device)
        expected, allowed = at(places, {
            name: torch.stack([call[name] for call in inputs]) if isinstance(value, Tensor) else
            torch.tensor([[call[name]] for call in inputs], dtype=torch.float64).to(places.device)
            for name, value in inputs[0].items()})

        def check(now: Sequence[Inputs], outputs: Sequence[Tensor]) -> Tensor:
            output = torch.stack(list(outputs))
            worst = ((output.gather(1, places).double() - expected).abs_() / allowed).amax(dim=1)
            # If an element is not finite, the sum is not finite either, and 0 times the sum is NaN.
            return (worst + 0 * output.sum(dim=1)).nan_to_num(nan=math.inf, posinf=math.inf)

        return check

    return spot_check
