"""Greyscale of an RGB picture: three planes of bytes, read side by side, and arithmetic that bytes cannot hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import permutations

import torch
from torch import Tensor

from grader.kit.author import (
    Baseline,
    Bytes,
    Case,
    Distribution,
    Input,
    Inputs,
    Output,
    assignment,
    cases,
    mistakes,
    timed,
)

WEIGHTS = (0.299, 0.587, 0.114)
"""The weights of red, green and blue, as in ITU-R BT.601."""
HD_WEIGHTS = (0.2126, 0.7152, 0.0722)
"""Those of BT.709, which are as well known."""
COLOURS = ("red", "green", "blue")


def oracle(x: Tensor) -> Tensor:
    """The right answer in float64, of shape (H, W). Halves are rounded up, on every device: thousandths are whole."""
    return ((_mixed(x, WEIGHTS) * 1000).round() + 500).div(1000).floor()


def distributions(case: Case) -> Mapping[str, Distribution]:
    """Every byte; or, for "pure", black, white and the six colours whose channels are 0 or 255."""
    return {"x": Bytes(levels=2 if case.values == "pure" else 256)}


def tolerance(inputs: Inputs, expected: Tensor) -> Tensor:
    """One level: who cuts the fraction off, or computes in integers, comes to lie beside the nearest one."""
    return torch.ones_like(expected)


def _mixed(x: Tensor, weights: tuple[float, ...]) -> Tensor:
    red, green, blue = x.double()
    mixed: Tensor = weights[0] * red + weights[1] * green + weights[2] * blue
    return mixed


def _of_rows(inputs: Inputs, index: slice | Tensor) -> Inputs:
    return {"x": inputs["x"][:, index]}


def _reordered(weights: tuple[float, ...]) -> tuple[str, str, Callable[[Tensor], Tensor]]:
    if weights == WEIGHTS[::-1]:
        return ("blue first", "Red and blue are swapped: plane 0 is red, with 0.299, and plane 2 is blue, with 0.114.",
                lambda x: _mixed(x, weights))
    taken = ", ".join(f"{colour} has {weight}" for colour, weight in zip(COLOURS, weights, strict=True))
    return (f"weights {weights}", f"The weights are in another order, {taken}: red has 0.299, green 0.587, blue 0.114.",
            lambda x: _mixed(x, weights))


def _pixel_by_pixel(x: Tensor) -> Tensor | None:
    _, h, w = x.shape
    return None if h * w == 1 else _mixed(x.reshape(h * w, 3).t().reshape(3, h, w), WEIGHTS)


def _row_by_row(x: Tensor) -> Tensor | None:
    _, h, w = x.shape
    return None if h == 1 or w == 1 else _mixed(x.reshape(h, 3, w).transpose(0, 1), WEIGHTS)


ASSIGNMENT = assignment(
    name="greyscale",
    title="Greyscale",
    formula="out[i, j] = 0.299 · x[0, i, j] + 0.587 · x[1, i, j] + 0.114 · x[2, i, j], rounded to the nearest level",
    order=10,
    parameters=(Input(name="x", shape=(3, "H", "W"), dtype="uint8"), Output(shape=("H", "W"), dtype="uint8")),
    forms={"cuda": "greyscale(input=x, output=out, height=H, width=W)", "numba": "greyscale(x, out)"},
    oracle=oracle,
    cases=cases("H W", "1x1 5x9 1x1009 1031x1-pure 64x64 67x127-pure 420x503", gpu="4099x4093-pure 16384x16384"),
    timed=timed("H W", "8192x8192 4096x4096 2048x2048", "4320x7680 2160x3840 1080x1920"),
    structure={"one_pass": True, "writes_at_most": 1.1, "coalesced": True, "launches_at_most": 1},
    baseline=Baseline(name="three products and two sums of planes", compiled="torch.compile of the same"),
    distributions=distributions,
    tolerance=tolerance,
    rows=_of_rows,
    right_by_nature={"1x1: the input": "a pixel may be grey already"},
    mistakes=mistakes(
        ("mean", "This is the mean of the three channels: the eye sees green brightest and blue darkest, hence the "
         "weights 0.299, 0.587 and 0.114.", lambda x: x.double().mean(dim=0)),
        ("mean of bytes", "This is the mean of the three channels, added as bytes: a sum beyond 255 has lost 256 or "
         "512. {convert_bytes}. And they have weights.",
         lambda x: x.sum(dim=0).remainder(256).double() / 3),
        ("weights of HD video", "These are the weights of BT.709: 0.299, 0.587 and 0.114 are asked for.",
         lambda x: _mixed(x, HD_WEIGHTS)),
        *map(_reordered, (weights for weights in permutations(WEIGHTS) if weights != WEIGHTS)),
        *((f"{taken} for {colour}", f"The {taken} channel was read for {colour}, too: plane {plane} begins at "
           f"{plane} · H · W.", lambda x, plane=plane, other=other: _mixed(
               torch.stack([x[other if at == plane else at] for at in range(3)]), WEIGHTS))
          for plane, colour in enumerate(COLOURS) for other, taken in enumerate(COLOURS) if other != plane),
        ("largest", "This is the largest of the three channels: they have weights.",
         lambda x: x.amax(dim=0).double()),
        ("smallest", "This is the smallest of the three channels: they have weights.",
         lambda x: x.amin(dim=0).double()),
        ("negative", "This is 255 less the right answer: white is 255, as it is in x.", lambda x: 255 - oracle(x)),
        ("from 0 to 1", "These lie between 0 and 1: out has levels of 0 to 255, as x has.",
         lambda x: _mixed(x, WEIGHTS) / 255),
        *((f"weights rounded to {rounded}", f"The weights are {rounded}: they are 0.299, 0.587 and 0.114.",
           lambda x, rounded=rounded: _mixed(x, rounded)) for rounded in ((0.3, 0.6, 0.1), (0.3, 0.59, 0.11))),
        *((f"no {colour}", f"The {colour} channel is missing from the sum.",
           lambda x, plane=plane: _mixed(x, WEIGHTS) - WEIGHTS[plane] * x[plane].double())
          for plane, colour in enumerate(COLOURS)),
        *((f"{colour} alone", f"This is the {colour} channel alone: the planes are H·W elements apart.",
           lambda x, plane=plane: x[plane].double()) for plane, colour in enumerate(COLOURS)),
        ("pixel by pixel", "x was read as if the three channels of a pixel stood side by side, (H, W, 3): x is "
         "(3, H, W), and channel c of pixel (i, j) lies at c * H * W + i * W + j.", _pixel_by_pixel),
        ("signed bytes", "Levels from 128 up were read as negative numbers: bytes are unsigned, `uint8_t` or "
         "`unsigned char` in C++.", lambda x: _mixed(x.view(torch.int8), WEIGHTS).clamp(min=0)),
        ("row by row", "x was read as if the three channels of a row followed each other, (H, 3, W): a plane is as far "
         "from the next as it has elements, H * W and not W.", _row_by_row),
    ),
)
