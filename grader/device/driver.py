"""Kernels as machine code: loading, arguments and launches through the CUDA driver alone."""

from __future__ import annotations

import base64
import ctypes
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from grader.device.messages import FaultKind
from grader.plan.compiled import Binary, DescriptorPart, Operand, PlainArgument, ScratchAddress, TensorMap, Zeros
from grader.plan.plan import Argument, Descriptor, Float, Integer, Kernel, Launch, Pointer, Structure

# Bytes of shared memory that any kernel may use without asking the driver for more.
STATIC_SHARED = 48 << 10
# Bytes of an encoded tensor map. The driver wants its address aligned to at least half of that.
MAP_BYTES = 128

# Kinds of faults by the driver's error numbers, which the runtime shares: `CUresult` in cuda.h.
_KINDS: dict[int, FaultKind] = {
    2: "out_of_memory",
    700: "illegal_address",
    701: "out_of_resources",
    716: "misaligned_address",
    # A grid too large for a cooperative launch, a cluster that does not fit.
    720: "out_of_resources", 912: "out_of_resources",
    # A stack error, an illegal instruction, an access to the wrong space, a bad program counter, an assertion.
    714: "launch_failure", 715: "launch_failure", 717: "launch_failure", 718: "launch_failure", 719: "launch_failure",
    710: "launch_failure",
}  # fmt: skip
_INTEGERS = {
    "i1": ctypes.c_int8, "u1": ctypes.c_uint8, "i8": ctypes.c_int8, "i16": ctypes.c_int16, "i32": ctypes.c_int32,
    "i64": ctypes.c_int64, "u8": ctypes.c_uint8, "u16": ctypes.c_uint16, "u32": ctypes.c_uint32, "u64": ctypes.c_uint64,
}  # fmt: skip
_FLOATS = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32, "fp64": torch.float64}
_OTHERS = "the machine code takes other arguments than the plan gives"


class DriverError(Exception):
    """An error that the CUDA driver reported. If it refused a launch, `kernel` and `line` name that launch."""

    def __init__(self, kind: FaultKind, message: str, kernel: str = "", line: int = 0) -> None:
        super().__init__(message)
        self.kind: FaultKind = kind
        self.kernel = kernel
        self.line = line


def checked(answer: Sequence[Any]) -> Any:
    """Return the answer of a function of cuda-bindings. Raises DriverError if it reports an error."""
    if code := int(answer[0]):
        # Late: only machines with a GPU have it.
        from cuda.bindings import driver

        text = driver.cuGetErrorString(driver.CUresult(code))[1] if code in set(driver.CUresult) else None
        raise DriverError(_KINDS.get(code, "other"), f"{(text or b'CUDA error').decode()} ({code})")
    return answer[1] if len(answer) == 2 else answer[1:]


@dataclass(frozen=True)
class Arguments:
    """The values of a launch in memory, as the driver takes them. `pointers` is an array of their addresses, `sizes`
    are their sizes in bytes."""

    memory: ctypes.Array[ctypes.c_char]
    pointers: ctypes.Array[ctypes.c_void_p]
    sizes: list[int]


def pack(values: Sequence[bytes]) -> Arguments:
    """Copy each value to an address that is aligned for a tensor map."""
    places = [0]
    for value in values:
        places.append(places[-1] + -(-len(value) // MAP_BYTES) * MAP_BYTES)
    memory = ctypes.create_string_buffer(places[-1] + MAP_BYTES)
    start = -(-ctypes.addressof(memory) // MAP_BYTES) * MAP_BYTES
    for place, value in zip(places, values, strict=False):
        ctypes.memmove(start + place, value, len(value))
    pointers = (ctypes.c_void_p * len(values))(*(start + place for place in places[:-1]))
    return Arguments(memory, pointers, [len(value) for value in values])


def values_of(
    operands: Sequence[Operand], arguments: Sequence[Argument], addresses: Sequence[int], scratch: int,
    encode: Callable[[int, Descriptor, TensorMap], bytes],
) -> list[bytes]:
    """Return the values that a kernel takes, from the arguments of a launch. `addresses` are the addresses of the
    plan's buffers, `scratch` is that of the launch's own memory. Raises DriverError for an operand whose argument is
    missing.
    """
    return [_value(operand, arguments, addresses, scratch, encode) for operand in operands]


def _value(
    operand: Operand, arguments: Sequence[Argument], addresses: Sequence[int], scratch: int,
    encode: Callable[[int, Descriptor, TensorMap], bytes],
) -> bytes:
    if isinstance(operand, Zeros):
        return bytes(operand.bytes)
    if isinstance(operand, ScratchAddress):
        return _integer("u64", scratch if operand.bytes else 0)
    argument = arguments[operand.argument] if operand.argument < len(arguments) else None
    if isinstance(operand, PlainArgument):
        if isinstance(argument, Pointer):
            return _integer("u64", addresses[argument.buffer] + argument.offset)
        if isinstance(argument, Integer):
            return _integer(argument.type, argument.value)
        if isinstance(argument, Float):
            return float_bytes(argument)
        if isinstance(argument, Structure):
            return argument.filled(lambda inner: addresses[inner.buffer] + inner.offset)
    elif isinstance(argument, Descriptor) and (operand.kind == "map" or operand.axis < len(argument.view.shape)):
        address = addresses[argument.view.buffer] + argument.view.offset
        return encode(address, argument, operand) if isinstance(operand, TensorMap) else _integer(
            operand.type, descriptor_part(operand, argument, address))
    raise DriverError("other", _OTHERS)


def descriptor_part(part: DescriptorPart, descriptor: Descriptor, address: int) -> int:
    """Return the number that a kernel takes as this part of a descriptor whose tensor begins at `address`."""
    view = descriptor.view
    return {"address": address, "size": view.shape[part.axis], "stride": view.strides[part.axis],
            "nan": int(descriptor.padding == "nan")}[part.of]


def encode(address: int, descriptor: Descriptor, compiled: TensorMap) -> bytes:
    """Make a tensor map (TMA) for the whole of a descriptor's tensor. Raises DriverError.

    Uses ctypes: cuda-bindings puts a map at an address without alignment, and the driver refuses most of these.
    """
    # Late: only machines with a GPU have it.
    from cuda.bindings import driver

    view, rank = descriptor.view, len(compiled.block_size)
    shape = list(view.shape)
    if rank != len(shape) or rank > 5:
        raise DriverError("other", f"a descriptor of {len(shape)} dimensions for a kernel that takes {rank}")
    if compiled.fp4_padded:
        shape[-1] *= 2
    strides = [stride * compiled.elem_size for stride in view.strides]
    memory = ctypes.create_string_buffer(2 * MAP_BYTES)
    start = -(-ctypes.addressof(memory) // MAP_BYTES) * MAP_BYTES
    padding = (
        driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
        if descriptor.padding == "nan" else driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
    error = ctypes.CDLL("libcuda.so.1").cuTensorMapEncodeTiled(
        ctypes.c_void_p(start), compiled.elem_type, ctypes.c_uint32(rank), ctypes.c_void_p(address),
        (ctypes.c_uint64 * 5)(*reversed(shape)),
        # The innermost dimension comes first, and has no stride.
        (ctypes.c_uint64 * 5)(*reversed(strides[:-1])),
        (ctypes.c_uint32 * 5)(*reversed(compiled.block_size)), (ctypes.c_uint32 * 5)(*[1] * 5),
        int(driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE), compiled.swizzle,
        int(driver.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_128B), int(padding))
    checked([error])
    return ctypes.string_at(start, MAP_BYTES)


class LoadedKernel:
    """A kernel in the current context. Raises DriverError if the driver refuses it."""

    def __init__(self, kernel: Kernel, binary: Binary) -> None:
        # Late: only machines with a GPU have it.
        from cuda.bindings import driver

        self.kernel = kernel
        self.metadata = binary.metadata
        self._driver: Any = driver
        self._code = base64.b64decode(binary.cubin)
        self._module = checked(driver.cuModuleLoadData(self._code))
        self._function = checked(driver.cuModuleGetFunction(self._module, self.metadata.name.encode()))
        attribute = driver.CUfunction_attribute
        limit = checked(driver.cuDeviceGetAttribute(
            driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
            checked(driver.cuCtxGetDevice())))
        # Shared memory that the machine code declares itself, beside what a launch asks for.
        static = checked(driver.cuFuncGetAttribute(attribute.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, self._function))
        self._most_shared = limit - static
        self._allowed_shared = STATIC_SHARED - static
        self._allow_shared(self.metadata.shared)
        if self.metadata.cluster > 8:
            checked(driver.cuFuncSetAttribute(
                self._function, attribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1))

    def _allow_shared(self, shared: int, line: int = 0) -> None:
        """Let launches use this many bytes of shared memory. Raises DriverError if the device has fewer for a
        program."""
        if shared <= self._allowed_shared:
            return
        if shared > self._most_shared:
            raise DriverError(
                "out_of_resources", f"{shared:,} bytes of shared memory for a program; the device has "
                f"{self._most_shared:,}", self.kernel.name, line)
        driver = self._driver
        checked(driver.cuFuncSetCacheConfig(self._function, driver.CUfunc_cache.CU_FUNC_CACHE_PREFER_SHARED))
        checked(driver.cuFuncSetAttribute(
            self._function, driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared))
        self._allowed_shared = shared

    def scratch(self, launch: Launch) -> int:
        """Return the bytes of scratch memory that a launch needs."""
        bytes = sum(operand.bytes for operand in self.metadata.operands if isinstance(operand, ScratchAddress))
        return bytes * launch.cluster * math.prod(launch.grid)

    def prepare(
        self, launch: Launch, addresses: Sequence[int], scratch: int, stream: int, *, programmatic: bool
    ) -> Callable[[], None]:
        """Return a function that launches the kernel. `programmatic`: the kernel may begin before the kernel in front
        of it ends, if the launch asks for that.

        Raises DriverError if the machine code takes other arguments than the plan's.
        """
        driver = self._driver
        arguments = pack(values_of(self.metadata.operands, launch.arguments, addresses, scratch, encode))
        self._check(arguments, launch)
        shared = self.metadata.shared + launch.shared
        self._allow_shared(shared, launch.line)
        attributes = []

        def ask(what: str, field: str, value: Any) -> None:
            attribute = driver.CUlaunchAttribute()
            attribute.id = getattr(driver.CUlaunchAttributeID, f"CU_LAUNCH_ATTRIBUTE_{what}")
            setattr(attribute.value, field, value)
            attributes.append(attribute)

        if launch.programmatic and programmatic:
            ask("PROGRAMMATIC_STREAM_SERIALIZATION", "programmaticStreamSerializationAllowed", 1)
        if launch.cooperative:
            ask("COOPERATIVE", "cooperative", 1)
        if launch.cluster > 1:
            value = driver.CUlaunchAttributeValue()
            value.clusterDim.x, value.clusterDim.y, value.clusterDim.z = launch.cluster, 1, 1
            ask("CLUSTER_DIMENSION", "clusterDim", value.clusterDim)
            ask("CLUSTER_SCHEDULING_POLICY_PREFERENCE", "clusterSchedulingPolicyPreference",
                driver.CUclusterSchedulingPolicy.CU_CLUSTER_SCHEDULING_POLICY_SPREAD)
        config = driver.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = (
            launch.grid[0] * launch.cluster, launch.grid[1], launch.grid[2])
        config.blockDimX, config.blockDimY, config.blockDimZ = launch.block
        config.sharedMemBytes = shared
        config.hStream = driver.CUstream(stream)
        config.attrs, config.numAttrs = attributes, len(attributes)
        pointers = ctypes.addressof(arguments.pointers)

        def go() -> None:
            # `arguments` is named here to keep its memory alive as long as this function.
            assert arguments
            try:
                checked(driver.cuLaunchKernelEx(config, self._function, pointers, 0))
            except DriverError as error:
                raise DriverError(error.kind, str(error), self.kernel.name, launch.line) from None

        return go

    def _check(self, arguments: Arguments, launch: Launch) -> None:
        """Check that the arguments have the sizes that the machine code declares: the driver reads that many bytes."""
        driver = self._driver
        for index, size in enumerate([*arguments.sizes, None]):
            error, _, wanted = driver.cuFuncGetParamInfo(self._function, index)
            if (int(error) != 0) != (size is None) or (size is not None and wanted != size):
                raise DriverError("other", _OTHERS, self.kernel.name, launch.line)


def _integer(kind: str, value: int) -> bytes:
    return bytes(_INTEGERS[kind](value))


def float_bytes(argument: Float) -> bytes:
    """Return a number as the bytes that a kernel takes."""
    return bytes(torch.tensor([argument.value], dtype=_FLOATS[argument.type]).view(torch.uint8).tolist())


