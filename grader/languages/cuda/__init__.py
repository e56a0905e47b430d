"""CUDA C++: a file holds host code and kernels; nvcc lowers the kernels to PTX, of which each gets a text of its
own."""

from __future__ import annotations

from collections.abc import Sequence

from grader.languages import FrontEnd, Parameter, Trait
from grader.languages.cuda import toolkit
from grader.languages.cuda.phrases import PHRASES
from grader.languages.cuda.source import outline
from grader.languages.cuda.text import argument_names, check_launch, read_kernel
from grader.plan.plan import DType, Kernel, Launch

# Instructions of tensor cores: "PTX ISA", "Warp Level Matrix Multiply-Accumulate Instructions".
_PRODUCTS = ("\tmma.", "\twmma.mma.", "\twgmma.mma_async.")
_ELEMENTS: dict[DType, str] = {
    "float64": "double", "float32": "float", "float16": "half", "bfloat16": "__nv_bfloat16",
    "float8_e4m3fn": "__nv_fp8_e4m3", "float8_e5m2": "__nv_fp8_e5m2", "int64": "long long", "int32": "int",
    "int16": "short", "int8": "signed char", "uint64": "unsigned long long", "uint32": "unsigned int",
    "uint16": "unsigned short", "uint8": "unsigned char", "bool": "bool",
}  # fmt: skip


# Instructions by which a loop may wait for a flag: loads, atomics and nanosleep. See `simulation/ptx/code.py`.
_WAITS = ("\tld.volatile.", "\tld.relaxed.", "\tld.acquire.", "\tatom.", "\tnanosleep.")
# Directives by which `__launch_bounds__` and its like bound threads or registers.
_BOUNDED = (".maxntid", ".maxnreg", ".reqntid")


def _traits(kernel: Kernel) -> frozenset[Trait]:
    names_of: dict[Trait, tuple[str, ...]] = {"product": _PRODUCTS, "waits": _WAITS}
    bounded = any(name in kernel.text for name in _BOUNDED)
    return frozenset(trait for trait, names in names_of.items() if any(name in kernel.text for name in names)) | (
        frozenset() if bounded else frozenset({"unbounded"}))


def _signature(function: str, parameters: Sequence[Parameter]) -> str:
    declared = ", ".join(
        f"{_ELEMENTS[parameter.dtype]} {'' if parameter.kind in ('scalar', 'size') else '*'}{parameter.name}"
        for parameter in parameters)
    return f"void {function}({declared})"


def _blocks(launch: Launch, kernel: Kernel) -> frozenset[int]:
    return frozenset({*launch.block, launch.threads})


FRONT_END = FrontEnd(
    name="cuda", title="CUDA C++", jplag="cpp", suffix=".cu", signature=_signature, phrases=PHRASES,
    read_kernel=read_kernel, check_launch=check_launch, argument_names=argument_names, traits=_traits, blocks=_blocks,
    outline=outline, edits=True, problem=toolkit.problem, tools=toolkit.homes, installed=toolkit.installed,
    launch_options={
        "cluster": "__cluster_dims__", "cooperative": "cudaLaunchCooperativeKernel",
        "programmatic": "cudaLaunchAttributeProgrammaticStreamSerialization"})
