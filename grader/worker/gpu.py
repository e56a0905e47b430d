"""What a worker does on a CUDA device: opens the judge's memory, counts launches, tells device errors apart."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import torch

from grader.plan import wire

# What the CUDA runtime calls its errors (cudaGetErrorString), and what they mean for a submission.
_OUT_OF_BOUNDS = ("illegal memory access",)
_NO_MEMORY = ("Triton Error [CUDA]: out of memory", "cudaErrorMemoryAllocation", "CUDA error: out of memory")
_FAULTS = ("CUDA error", "device-side assert", "misaligned address", "unspecified launch failure")


def start(on_launch: Callable[[str, int, int], None] | None) -> None:
    """Makes the device's context, which takes a quarter of a second, and reports every launch of a Triton kernel."""
    import triton

    torch.empty(1, device="cuda")
    if on_launch is None:
        return

    def launched(metadata: Any) -> None:
        # How many programs a launch starts is not told here; that there was one is what counts.
        on_launch(str(metadata.get()["name"]), 0, 1)

    triton.knobs.runtime.launch_enter_hook.add(launched)


def open_tensor(argument: wire.DeviceArgument) -> torch.Tensor:
    """The judge's tensor behind an IPC handle, open until `close_tensor` or the end of this process."""
    from cuda.bindings import runtime

    handle = runtime.cudaIpcMemHandle_t()
    handle.reserved = bytes.fromhex(argument.handle)
    error, pointer = runtime.cudaIpcOpenMemHandle(handle, runtime.cudaIpcMemLazyEnablePeerAccess)
    if error != runtime.cudaError_t.cudaSuccess:
        raise RuntimeError(f"the judge's memory cannot be opened: {error.name}")
    return torch.as_tensor(wire.DeviceArray(pointer, argument.shape, argument.dtype), device="cuda")


def close_tensor(tensor: torch.Tensor) -> None:
    """Closes what `open_tensor` opened; whoever still looks into it faults."""
    from cuda.bindings import runtime

    torch.cuda.synchronize()
    runtime.cudaIpcCloseMemHandle(tensor.data_ptr())


def failure(error: BaseException) -> wire.WorkerFailure | None:
    """The kind of a failure that only a device knows; None for any other."""
    text = str(error)
    if isinstance(error, torch.OutOfMemoryError) or any(words in text for words in _NO_MEMORY):
        return "out_of_memory"
    if any(words in text for words in _OUT_OF_BOUNDS):
        return "out_of_bounds"
    return "device_fault" if any(words in text for words in _FAULTS) else None


def compile_error_line(error: BaseException, file: str) -> int:
    """The student's line that Triton's compiler objects to; 0 if `error` is none of its errors.

    Its errors count lines from the kernel's `def`, and hold the kernel's text.
    """
    source, node = getattr(error, "src", None), getattr(error, "node", None)
    inside = getattr(node, "lineno", 0)
    if not isinstance(source, str) or not inside:
        return 0
    text = "".join(linecache.getlines(file))
    before, found, _ = text.partition(source.strip("\n"))
    return before.count("\n") + inside if found else 0
