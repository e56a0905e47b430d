"""What host code may ask of a GPU that is not there: enough to size a launch and to pick a device to allocate on."""

from __future__ import annotations

import dataclasses
from typing import Any, NoReturn

from .builder import TARGET
from .faults import Unsupported
from .launch import raise_unsupported
from .patching import replace, require

# Few enough that a persistent kernel's loop goes round more than once in small cases.
MULTIPROCESSORS = 4
CAPABILITY: tuple[int, int] = divmod(TARGET.arch, 10)
_PROPERTIES = {
    "max_shared_mem": 232448, "max_num_regs": 65536, "multiprocessor_count": MULTIPROCESSORS, "warpSize": 32,
    "sm_clock_rate": 1980000, "mem_clock_rate": 3201000, "mem_bus_width": 6144,
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class DeviceProperties:
    """Stands in for what `torch.cuda.get_device_properties` returns."""

    name: str = "none: Triton's interpreter"
    major: int = CAPABILITY[0]
    minor: int = CAPABILITY[1]
    multi_processor_count: int = MULTIPROCESSORS
    warp_size: int = 32
    max_threads_per_multi_processor: int = 2048
    regs_per_multiprocessor: int = 65536
    shared_memory_per_block: int = 49152
    shared_memory_per_block_optin: int = 232448
    shared_memory_per_multiprocessor: int = 233472
    L2_cache_size: int = 52428800
    total_memory: int = 8 << 30


class _Nothing:
    """Something of the device that has no meaning here: any use of it is refused by name."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __getattr__(self, name: str) -> NoReturn:
        raise_unsupported(f"{self._what}.{name}")


class _Utils:
    def get_device_properties(self, device: Any = None) -> dict[str, int]:
        return dict(_PROPERTIES)

    def __getattr__(self, name: str) -> NoReturn:
        raise_unsupported(f"driver.active.utils.{name}")


def _refuse_timing(*_: Any, **__: Any) -> NoReturn:
    raise Unsupported("a kernel cannot be timed without a GPU.")


def _make() -> Any:
    from triton.backends.driver import DriverBase

    class InterpreterDriver(DriverBase):  # type: ignore[misc]
        """No GPU: the target is what the compiler would be asked for, the device is the CPU."""

        def __init__(self) -> None:
            self.utils = _Utils()

        @classmethod
        def is_active(cls) -> bool:
            return True

        def map_python_to_cpp_type(self, ty: str) -> str:
            raise_unsupported("driver.active.map_python_to_cpp_type")

        def get_current_target(self) -> Any:
            return TARGET

        def get_current_device(self) -> int:
            return 0

        def set_current_device(self, device: int) -> None:
            pass

        def get_current_stream(self, device: Any = None) -> int:
            return 0

        def get_device_capability(self, device: Any = None) -> tuple[int, int]:
            return CAPABILITY

        def get_active_torch_device(self) -> Any:
            import torch

            return torch.device("cpu")

        def get_device_interface(self) -> Any:
            return _Nothing("driver.active.get_device_interface()")

        def get_benchmarker(self) -> Any:
            return _refuse_timing

    try:
        return InterpreterDriver()
    except TypeError as error:
        raise RuntimeError(f"this Triton asks more of a driver than is known: {error}") from error


def _zero_timings(self: Any, *args: Any, config: Any, **meta: Any) -> list[float]:
    """Every configuration is as fast as any other, so the first one that pruning leaves is taken; none is run."""
    if conflicts := meta.keys() & config.kwargs.keys():
        raise ValueError(f"{', '.join(sorted(conflicts))}: given at the launch and by @triton.autotune as well")
    return [0.0, 0.0, 0.0]


def install() -> None:
    """Stand in for the driver and for the autotuner's benchmark."""
    from triton.runtime import driver
    from triton.runtime.autotuner import Autotuner

    require(driver, "set_active", "_active")
    driver.set_active(_make())
    replace(Autotuner, "_bench", _zero_timings)
