"""Runs a kernel of this folder."""

from pathlib import Path
from typing import Any

from tests.simulation.ptx.launching import Outcome, compiled, run, tensor

FOLDER = Path(__file__).parent
COUNT = 256
"""Threads of a launch, and elements of most of its tensors."""


def launch(file: str, kernel: str, x: Any, y: Any, out: Any, **options: Any) -> tuple[Any, Outcome]:
    """The output of one block of 256 threads, or of other ones (`grid`, `block`), and what was seen."""
    source = (FOLDER / f"{file}.cu").read_text(encoding="utf-8")
    header = (FOLDER / "elements.h").read_text(encoding="utf-8").replace("#pragma once", "")
    text = compiled(source.replace('#include "elements.h"', header))
    written = tensor(out, "out")
    grid, block = options.pop("grid", 1), options.pop("block", COUNT)
    outcome = run(text, grid, block, tensor(x, "x"), tensor(y, "y"), written, x.size, entry=kernel, **options)
    return written.raw.view(out.dtype).reshape(out.shape), outcome


def quiet(file: str, kernel: str, x: Any, y: Any, out: Any, **options: Any) -> Any:
    """The output of a launch without findings."""
    found, outcome = launch(file, kernel, x, y, out, **options)
    assert outcome.findings == []
    return found
