"""Code that Numba links with kernels: C++ of its own, of which NVIDIA's compiler library makes PTX in this process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cuda.bindings import nvrtc
from numba import cuda
from numba.cuda.cuda_paths import get_cuda_paths

GRID = """
extern "C" __device__ unsigned long long own_cudaCGGetIntrinsicHandle(int scope)
{
    unsigned low, high;
    asm("mov.u32 %0, %%envreg2;" : "=r"(low));
    asm("mov.u32 %0, %%envreg1;" : "=r"(high));
    return (unsigned long long)high << 32 | low;
}

extern "C" __device__ int own_cudaCGSynchronize(unsigned long long workspace, unsigned flags)
{
    __syncthreads();
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0) {
        unsigned *arrived = (unsigned *)workspace + 1;
        // The first block adds what turns the highest bit once all others have added one.
        const unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
        const bool first = blockIdx.x + blockIdx.y + blockIdx.z == 0;
        __threadfence();
        const unsigned before = atomicAdd(arrived, first ? 0x80000000u - (blocks - 1) : 1u);
        while (((before ^ *(volatile unsigned *)arrived) & 0x80000000u) == 0) {}
        __threadfence();
    }
    __syncthreads();
    return 0;
}
"""
"""The functions of CUDA's device runtime behind `grid.sync()`, of which there is no PTX. NVRTC knows their names, which
get a prefix here."""


class ForeignError(Exception):
    """An error: a kernel is linked with code that is neither the file's nor Numba's."""


def compiled(source: str, target: str) -> str:
    """Return the PTX of device functions in C++, for a target such as `compute_90`. Numba's own way asks the driver."""
    toolkit = Path(get_cuda_paths()["include_dir"].info)
    folders = (Path(cuda.__file__).parent / "include" / "13", toolkit, toolkit / "cccl")
    options = [f"--gpu-architecture={target}", "--relocatable-device-code=true", *(f"-I{folder}" for folder in folders)]
    program = _checked(nvrtc.nvrtcCreateProgram(source.encode(), b"linked", 0, [], []))
    _checked(nvrtc.nvrtcCompileProgram(program, len(options), [option.encode() for option in options]))
    text: bytes = b" " * _checked(nvrtc.nvrtcGetPTXSize(program))
    _checked(nvrtc.nvrtcGetPTX(program, text))
    return str(text.rstrip(b"\0"), "utf-8").replace("own_cudaCG", "cudaCG")


def _checked(answer: tuple[Any, ...]) -> Any:
    if answer[0] != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise ForeignError(f"NVRTC: {answer[0].name}")
    return answer[1] if len(answer) > 1 else None
