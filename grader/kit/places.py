"""A check of large answers whose elements can be computed one by one, from a few numbers about all inputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from grader.model.assignment import Inputs

PLACES = 1 << 15
"""How many elements of an answer are checked."""

At = Callable[[Tensor, Mapping[str, Tensor]], tuple[Tensor, Tensor]]
"""From places (calls, PLACES) in the outputs, and the inputs of all calls, stacked, to the right answers there and the
error allowed, in float64. Numbers are given as (calls, 1), in float64."""


def secret_places(at: At) -> Callable[[Sequence[Inputs], torch.Generator], Callable[..., Tensor]]:
    """A `spot_check` for outputs of one dimension: PLACES secret elements of each are compared, and NaN is found
    anywhere.

    What is right there is kept from before the calls: a sum over all of an input, say, which one huge element, changed
    by a kernel, would make known without adding anything up. A kernel that leaves out a share p of the elements of n
    outputs gets by with probability (1 − p)^(n·PLACES): 0.1 % of a single output with 1e-14. What was kept is all that
    is needed, so this is so whatever has become of the inputs.
    """
    def spot_check(inputs: Sequence[Inputs], generator: torch.Generator) -> Callable[..., Tensor]:
        first = next(value for value in inputs[0].values() if isinstance(value, Tensor))
        places = torch.randint(first.numel(), (len(inputs), PLACES), generator=generator, device=generator.device)
        expected, allowed = at(places, {
            name: torch.stack([one[name] for one in inputs]) if isinstance(value, Tensor) else
            torch.tensor([[one[name]] for one in inputs], dtype=torch.float64).to(places.device)
            for name, value in inputs[0].items()})

        def check(now: Sequence[Inputs], outputs: Sequence[Tensor]) -> Tensor:
            output = torch.stack(list(outputs))
            worst = ((output.gather(1, places).double() - expected).abs_() / allowed).amax(dim=1)
            # A sum is not finite if an element is not, and 0 times it is NaN then.
            return (worst + 0 * output.sum(dim=1)).nan_to_num(nan=math.inf, posinf=math.inf)

        return check

    return spot_check
