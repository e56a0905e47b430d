"""What a kernel takes as compiled, and what a launch gives it: sizes, without a GPU."""

import ctypes
import re
import struct

import pytest

from grader.device import driver
from grader.languages.triton.confined import api
from grader.languages.triton.confined.compiler.machine_code import metadata_of
from grader.plan.compiled import DescriptorPart, Operand, PlainArgument, TensorMap
from grader.plan.plan import Argument, Descriptor, Float, Integer, Pointer
from tests.device import kernels
from tests.rows import each_row

pytestmark = pytest.mark.newest

TENSOR_MAP = b"m" * driver.MAP_BYTES


def encode(address: int, descriptor: Descriptor, compiled: TensorMap) -> bytes:
    return TENSOR_MAP


def sizes_in(ptx: str) -> list[int]:
    """Bytes of the parameters of a kernel's entry."""
    entry = ptx[ptx.index(".entry") :]
    entry = entry[: entry.index("{\n") if "{\n" in entry else None]
    found = re.findall(r"\.param (?:\.align \d+ )?\.(\w)(\d+) (?:\.ptr [^_]*?)?\w+(?:\[(\d+)\])?", entry)
    return [int(length) if length else int(bits) // 8 for _, bits, length in found]


@pytest.mark.parametrize(("kernel", "signature", "constants", "arguments"), [
    (kernels.scale, {"x": "*fp32", "out": "*fp32", "n": "i32", "factor": "fp32"}, {"BLOCK": 64},
     [Pointer(buffer=0), Pointer(buffer=1), kernels.i32(5), Float(value=2.0)]),
    (kernels.host_descriptor, {"x": "tensordesc<fp16[64, 64]>", "out": "tensordesc<fp16[64, 64]>"}, {"BLOCK": 64},
     [Descriptor(view=kernels.whole(i, 128, 64, dtype="float16"), block=[64, 64]) for i in range(2)]),
    (kernels.every_type,
     {"a": "fp32", "b": "fp16", "c": "bf16", "d": "fp64", "e": "i64", "f": "i8", "g": "u1", "out": "*fp32"}, {},
     [Float(value=1.0), Float(type="fp16", value=1.0), Float(type="bf16", value=1.0), Float(type="fp64", value=1.0),
      Integer(type="i64", value=1), Integer(type="i8", value=-1), Integer(type="u1", value=1), Pointer(buffer=0)]),
], ids=["plain", "descriptors", "types"])  # fmt: skip
def test_a_launch_gives_what_the_machine_code_takes(
    kernel: object, signature: dict[str, str], constants: dict[str, int], arguments: list[Argument]
) -> None:
    _, binary = kernels.built(kernel, signature, constants)
    values = driver.values_of(binary.metadata.operands, arguments, [1 << 20, 1 << 21], 1 << 22, encode)
    taken = sizes_in(kernels.parameters_of(kernel, signature, constants))
    assert [len(value) for value in values] == taken
    # Scratch memory, and a profiler's: this kernel needs none.
    assert values[-2:] == [bytes(8)] * 2


@pytest.mark.parametrize("rounds", [False, True])
def test_a_descriptor_that_was_compiled_to_pointers_is_given_in_parts(
    rounds: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "descriptors_round", lambda: rounds)
    descriptor = Descriptor(view=kernels.whole(0, 3, 16), block=[1, 16], padding="nan")
    metadata = metadata_of(
        {"name": "k", "shared": 0, "num_ctas": 1, "global_scratch_size": 256, "tensordesc_meta": []},
        ["tensordesc<fp32[1, 16]>"])
    assert driver.values_of(metadata.operands, [descriptor], [4096], 1 << 20, encode) == [
        struct.pack("<Q", 4096), *(struct.pack("<q", number) for number in (3, 16, 16, 1)), b"\1", *[b"\0"] * rounds,
        *(struct.pack("<i", number) for number in (3, 16)), *(struct.pack("<q", number) for number in (16, 1)),
        struct.pack("<Q", 1 << 20), bytes(8)]


@pytest.mark.parametrize("operand", [
    PlainArgument(argument=1), PlainArgument(argument=2), DescriptorPart(argument=0, of="size", type="i64"),
    DescriptorPart(argument=1, of="stride", axis=2, type="i64"),
    TensorMap(argument=0, swizzle=0, elem_size=4, elem_type=7, block_size=[1, 16])], ids=repr)
def test_an_operand_of_another_argument_is_refused(operand: Operand) -> None:
    arguments: list[Argument] = [Pointer(buffer=0), Descriptor(view=kernels.whole(0, 3, 16), block=[1, 16])]
    with pytest.raises(driver.DriverError, match="takes other arguments than the plan gives"):
        driver.values_of([operand], arguments, [4096], 0, encode)


@each_row(("argument", "value"), [
    (Float(type="fp32", value=1e39), struct.pack("<f", float("inf"))),
    (Float(type="fp16", value=1.5), struct.pack("<e", 1.5)),
    (Float(type="bf16", value=1.5), struct.pack("<f", 1.5)[2:]),
    (Float(type="bf16", value=1.004), struct.pack("<f", 1.0078125)[2:]),
    (Float(type="fp64", value=1e39), struct.pack("<d", 1e39)),
    (Integer(type="i32", value=-2), struct.pack("<i", -2)),
    (Integer(type="u64", value=2**64 - 1), b"\xff" * 8),
    (Pointer(buffer=1, offset=12), struct.pack("<Q", 8192 + 12)),
], ids=str)  # fmt: skip
def test_a_number_is_laid_out_as_its_type(argument: Argument, value: bytes) -> None:
    assert driver.values_of([PlainArgument(argument=0)], [argument], [0, 8192], 0, encode) == [value]


def test_packed_values_stand_where_their_pointers_point() -> None:
    values = [b"\1", b"\2" * 8, TENSOR_MAP, b"\3" * 4]
    packed = driver.pack(values)
    assert packed.sizes == [1, 8, driver.MAP_BYTES, 4]
    assert [ctypes.string_at(at, size) for at, size in zip(packed.pointers, packed.sizes, strict=True)] == values
    assert (packed.pointers[2] or 1) % driver.MAP_BYTES == 0
