"""The options with which Triton compiles a kernel, as `Kernel.options` holds them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from grader.plan.plan import Kernel, Malformed, StrictModel

WARP = 32
"""The number of threads in a warp."""


class Options(StrictModel):
    """The options of a kernel. The set is closed, since other options of Triton's open files or reach the assembler.

    Defaults are Triton's. See triton/backends/nvidia/compiler.py, `CUDAOptions`. Without `debug` a GPU runs the kernel
    without the checks that are in its text.
    """

    num_warps: Literal[1, 2, 4, 8, 16, 32] = 4
    num_stages: Annotated[int, Field(ge=0, le=64)] = 3
    num_ctas: Annotated[int, Field(ge=1, le=16)] = 1
    maxnreg: Annotated[int, Field(ge=1, le=255)] | None = None
    enable_fp_fusion: bool = True
    launch_cooperative_grid: bool = False
    launch_pdl: bool = False
    default_dot_input_precision: Literal["tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"] = "tf32"
    allow_fp8e4nv: Literal[True] = True
    debug: bool = False

    def for_plan(self) -> dict[str, Any]:
        """Return the options as `Kernel.options` holds them."""
        return self.model_dump()

    def for_launch(self) -> dict[str, Any]:
        """Return the fields that all launches of the kernel have: in Triton they are options of the kernel."""
        return {"block": (WARP * self.num_warps, 1, 1), "cluster": self.num_ctas,
                "cooperative": self.launch_cooperative_grid, "programmatic": self.launch_pdl}


def options_of(kernel: Kernel) -> Options:
    """Return a kernel's options. Raises Malformed for options that no planner of ours writes."""
    try:
        return Options.model_validate(kernel.options)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise Malformed(f"options.{'.'.join(map(str, first['loc']))}: {first['msg']}"[:300]) from None
