"""Triton: kernels in Python, which Triton's front end lowers to text of its own dialect of MLIR."""

from __future__ import annotations

import re

from grader.languages import FrontEnd, Trait
from grader.languages.python import outline, signature
from grader.languages.triton.phrases import PHRASES
from grader.languages.triton.text import argument_names, check_launch, read_kernel
from grader.plan.plan import Kernel, Launch

# The shape of a block, as in `tensor<64x32xf16>`. No block has more than 2**20 elements.
_SHAPE = re.compile(r"tensor<((?:\d{1,7}+x)++)")


# Operations by which a loop may wait for a flag.
_WAITS = ("tt.atomic_rmw", "tt.atomic_cas", "isVolatile = true")


def _traits(kernel: Kernel) -> frozenset[Trait]:
    traits: set[Trait] = {"product"} if "tt.dot" in kernel.text else set()
    # GPUs before Hopper make eight-bit floats by way of fp16.
    if any("tt.fp_to_fp" in line and "f8E" in line.rpartition(" -> ")[2] for line in kernel.text.split("\n")):
        traits.add("rounded by generation")
    if "scf.while" in kernel.text and any(name in kernel.text for name in _WAITS):
        traits.add("waits")
    return frozenset(traits)


def _blocks(launch: Launch, kernel: Kernel) -> frozenset[int]:
    return frozenset(int(size) for shape in set(_SHAPE.findall(kernel.text)) for size in shape.split("x")[:-1])


FRONT_END = FrontEnd(
    name="triton", title="Triton", jplag="python3", lowers_to="cuda", suffix=".py", signature=signature,
    phrases=PHRASES, read_kernel=read_kernel, check_launch=check_launch, argument_names=argument_names, traits=_traits,
    blocks=_blocks, outline=outline, edits=True,
    launch_options={
        "cluster": "num_ctas", "cooperative": "launch_cooperative_grid=True", "programmatic": "launch_pdl"})
