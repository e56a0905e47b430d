"""The process that host code runs in: it loads the object, calls the function and ends."""

from __future__ import annotations

import ctypes
import os
import resource
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from grader.languages.cuda.confined.built import BuiltEntry, Contents
from grader.languages.cuda.confined.planner.kinds import PLACES, own_sizes
from grader.languages.cuda.confined.planner.memories import EARLIER
from grader.plan.device import Device
from grader.plan.messages import Given, GivenScalar, Resources

CALLS = 2
MOST_RECORD_BYTES = 128 << 20
_CTYPES = {
    "int": ctypes.c_int, "unsigned int": ctypes.c_uint, "long": ctypes.c_long, "unsigned long": ctypes.c_ulong,
    "long long": ctypes.c_longlong, "unsigned long long": ctypes.c_ulonglong, "short": ctypes.c_short,
    "unsigned short": ctypes.c_ushort, "float": ctypes.c_float, "double": ctypes.c_double, "bool": ctypes.c_bool,
}  # fmt: skip
_VARIABLE = "KERNELMARK_RECORD"


class _Kernel(ctypes.Structure):
    _fields_ = (
        ("symbol", ctypes.c_char_p), ("count", ctypes.c_uint32), ("registers", ctypes.c_uint32),
        ("sizes", ctypes.POINTER(ctypes.c_uint32)), ("shared", ctypes.c_uint64), ("most_threads", ctypes.c_uint64),
    )  # fmt: skip


class _Device(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        *((name, ctypes.c_uint64) for name in (
            "major", "minor", "processors", "memory", "l2", "threads_per_processor", "registers_per_processor",
            "shared_per_block", "shared_per_block_optin", "shared_per_processor", "clock_khz", "memory_clock_khz",
            "bus_width", "blocks_per_processor", "reserved_shared", "register_unit")),
    )  # fmt: skip


class _Settings(ctypes.Structure):
    _fields_ = (
        ("output", ctypes.c_int), ("milliseconds", ctypes.c_uint32), ("seed", ctypes.c_uint64),
        ("most_bytes", ctypes.c_uint64), ("kernel_count", ctypes.c_uint32), ("given_count", ctypes.c_uint32),
        ("kernels", ctypes.POINTER(_Kernel)), ("given", ctypes.POINTER(ctypes.c_char_p)), ("device", _Device),
    )  # fmt: skip


@dataclass(frozen=True)
class CallSession:
    """Inputs of a recording. `library` is the descriptor of the builder's result. `resources` are those of compiled
    kernels, by the index of their entry. `earlier` are the arguments of a call that comes first; if there are none, so
    is no such call."""

    library: int
    contents: Contents
    device: Device
    given: Sequence[Given]
    resources: dict[int, Resources]
    earlier: Sequence[Given] = ()

    @property
    def calls(self) -> list[tuple[int, Sequence[Given]]]:
        """Return each call's number and arguments."""
        first = [(EARLIER, self.earlier)] if self.earlier else []
        return [*first, *((number, self.given) for number in range(CALLS))]


def run(session: CallSession, seed: int, output: int, seconds: float) -> None:
    """Make the session's calls within `seconds`; their records go to the descriptor `output`. Never returns."""
    status = 7
    try:
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
        _close_others(session.library, output)
        _call(session, seed, output, seconds)
        status = 0
    except BaseException as error:
        sys.stderr.write(f"{error!r}\n")
    finally:
        os._exit(status)


def _close_others(*kept: int) -> None:
    """Close the planner's descriptors except for `kept`, as host code must not use them."""
    begin = 3
    for number in (*sorted(kept), resource.getrlimit(resource.RLIMIT_NOFILE)[0]):
        os.closerange(begin, number)
        begin = number + 1


def _call(session: CallSession, seed: int, output: int, seconds: float) -> None:
    settings = _settings(session, seed, output, seconds)
    os.environ[_VARIABLE] = str(ctypes.addressof(settings))
    library = ctypes.CDLL(f"/proc/self/fd/{session.library}")
    library.rec_given.restype = ctypes.c_void_p
    library.rec_given.argtypes = (ctypes.c_int, ctypes.c_uint64, ctypes.c_int, ctypes.c_int)
    function = getattr(library, session.contents.symbol)
    function.restype = None
    for number, given in session.calls:
        library.rec_call(number)
        function(*_arguments(session, given, library))
    library.rec_end()


def _arguments(session: CallSession, given: Sequence[Given], library: ctypes.CDLL) -> list[object]:
    arguments: list[object] = []
    for index, (argument, parameter) in enumerate(zip(given, session.contents.parameters, strict=True)):
        if isinstance(argument, GivenScalar):
            kind: Any = _CTYPES[parameter.type]
            arguments.append(kind(argument.value if parameter.type in ("float", "double") else int(argument.value)))
        else:
            arguments.append(ctypes.c_void_p(
                library.rec_given(index, argument.bytes, PLACES.index(argument.place), argument.output)))
    return arguments


def _settings(session: CallSession, seed: int, output: int, seconds: float) -> _Settings:
    kernels = (_Kernel * max(1, len(session.contents.entries)))()
    for index, entry in enumerate(session.contents.entries):
        kernels[index] = _kernel(entry, session.resources.get(index))
    names = [parameter.name.encode() for parameter in session.contents.parameters]
    device, row = session.device, session.device.generation
    described = _Device(
        device.name.encode(), device.major, device.minor, device.multi_processor_count, device.total_memory,
        device.l2_cache_size, device.max_threads_per_multi_processor, device.regs_per_multiprocessor,
        device.shared_memory_per_block, device.shared_memory_per_block_optin, device.shared_memory_per_multiprocessor,
        device.clock_rate_khz, device.memory_clock_rate_khz, device.memory_bus_width,
        row.max_blocks_per_multiprocessor, row.reserved_shared_memory_per_block, row.register_allocation_unit)
    return _Settings(
        output, max(1, int(1000 * seconds)), seed, MOST_RECORD_BYTES, len(session.contents.entries), len(names),
        kernels, (ctypes.c_char_p * max(1, len(names)))(*names), described)


def _kernel(entry: BuiltEntry, resources: Resources | None) -> _Kernel:
    sizes = own_sizes(entry)
    return _Kernel(
        entry.registered.encode(), len(sizes), resources.registers if resources else 0,
        (ctypes.c_uint32 * max(1, len(sizes)))(*sizes), entry.shared, entry.most_threads)
