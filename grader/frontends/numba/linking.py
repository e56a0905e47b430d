"""Code that Numba links with kernels: C++ of its own, of which NVIDIA's compiler library makes PTX in this process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cuda.bindings import nvrtc
from numba import cuda
from numba.cuda.cuda_paths import get_cuda_paths


class ForeignError(Exception):
    """An error: a kernel is linked with code that is neither the file's nor Numba's."""


def compiled(source: str, target: str) -> str:
    """Return the PTX of device functions in C++, for a target such as `compute_90`. Numba's own way asks the driver."""
    folders = (Path(cuda.__file__).parent / "include" / "13", get_cuda_paths()["include_dir"].info)
    options = [f"--gpu-architecture={target}", "--relocatable-device-code=true", *(f"-I{one}" for one in folders)]
    program = _checked(nvrtc.nvrtcCreateProgram(source.encode(), b"linked.cu", 0, [], []))
    _checked(nvrtc.nvrtcCompileProgram(program, len(options), [one.encode() for one in options]))
    text = b" " * _checked(nvrtc.nvrtcGetPTXSize(program))
    _checked(nvrtc.nvrtcGetPTX(program, text))
    return text.rstrip(b"\0").decode()


def _checked(answer: tuple[Any, ...]) -> Any:
    if answer[0] != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise ForeignError(f"NVRTC: {answer[0].name}")
    return answer[1] if len(answer) > 1 else None
