"""Triton's view of the device, where there is no driver."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import torch

from grader.host import torch_cuda
from grader.host.handles import GPU
from grader.host.record import Session
from grader.languages.triton.confined import api
from grader.languages.triton.confined.planner import tuning
from grader.languages.triton.confined.planner.launches import Lowering


class Driver(api.DriverBase):  # type: ignore[misc]
    """Triton's view of the device. `utils` answers the requests of Triton's launch path."""

    def __init__(self, session: Session, target: api.GPUTarget) -> None:
        self._target = target
        device = session.device
        self.utils = types.SimpleNamespace(
            get_device_properties=lambda _: {
                "max_shared_mem": device.shared_memory_per_block_optin,
                "max_num_regs": device.regs_per_multiprocessor,
                "multiprocessor_count": device.multi_processor_count, "warpSize": device.warp_size,
                "sm_clock_rate": device.clock_rate_khz, "mem_clock_rate": device.memory_clock_rate_khz,
                "mem_bus_width": device.memory_bus_width,
            },
            set_printf_fifo_size=lambda _: None,
            cuOccupancyMaxActiveClusters=lambda *_: device.multi_processor_count,
        )
        self.launcher_cls = None

    @classmethod
    def is_active(cls) -> bool:
        return True

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, device: int) -> None:
        torch_cuda.index(device)

    def get_current_stream(self, device: int | None = None) -> int:
        return int(torch.cuda.current_stream().cuda_stream)

    def get_device_capability(self, device: int | None = None) -> tuple[int, int]:
        major, minor = divmod(self._target.arch, 10)
        return major, minor

    def get_current_target(self) -> api.GPUTarget:
        return self._target

    def get_active_torch_device(self) -> torch.device:
        return GPU

    def get_device_interface(self) -> Any:
        return torch.cuda

    def map_python_to_cpp_type(self, ty: str) -> str:
        return str(api.ty_to_cpp(ty))

    def get_benchmarker(self) -> Callable[..., Any]:
        return api.benchmark()

    def get_empty_cache_for_benchmark(self) -> Any:
        return torch.empty(256 << 18, dtype=torch.int, device="cuda")

    def clear_cache(self, cache: Any) -> None:
        """Do nothing: there is no cache."""

    def assemble_tensormap_to_arg(self, tensormaps_info: Any, args: Any) -> Any:
        return args


def install(session: Session) -> tuple[Lowering, tuning.Tuning]:
    """Put the stand-ins in the place of torch.cuda's and Triton's functions."""
    lowering = Lowering(session)
    api.install_compiler(Driver(session, lowering.target), lowering.compile)
    library: Any = torch.library
    library.triton_op, library.wrap_triton = library.custom_op, torch.compile
    return lowering, tuning.install(session)
