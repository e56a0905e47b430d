"""Matrix instructions: fragments as PTX's tables of them, products against NumPy's."""

from typing import Any

import numpy as np
import pytest

from grader.simulation.ptx.lanes import Unsupported
from grader.simulation.ptx.tensor_cores import Fragment, Product, matrix_rows, mma, transposed, wmma, wmma_access
from tests.rows import each_row

PRODUCTS = [
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
    "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32",
    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32",
    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32",
    "mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32", "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32",
    "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
    "mma.sync.aligned.m16n8k16.row.col.rn.f64.f64.f64.f64", "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32",
    "wmma.mma.sync.aligned.col.row.m8n32k16.f16.f16", "wmma.mma.sync.aligned.row.row.m32n8k16.f32.f16",
    "wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.bf16.f32", "wmma.mma.sync.aligned.row.col.m8n32k16.s32.s8.s8.s32",
    "wmma.mma.sync.aligned.row.col.m32n8k16.s32.u8.u8.s32.satfinite",
    "wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32", "wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64",
]  # fmt: skip


def product(instruction: str) -> Product:
    name, *modifiers = instruction.split(".")
    return (mma if name == "mma" else wmma)(tuple(modifiers))


def elements(fragment: Fragment, matrices: Any) -> Any:
    """Registers of small whole numbers, packed by this test's own hand: lane by lane and element by element."""
    lanes, count = fragment.places.shape
    width = 8 * fragment.bytes
    result = np.zeros((len(matrices), lanes, fragment.words), np.uint64)
    per = max(32 // width, 1)
    for lane in range(lanes):
        for n in range(count):
            row, column = divmod(int(fragment.places[lane, n]), fragment.columns)
            for warp, matrix in enumerate(matrices):
                result[warp, lane, n // per] |= np.uint64(pattern(fragment.kind, matrix[row, column])) << np.uint64(
                    width * (n % per))  # fmt: skip
    size = {"f64": 8}.get(fragment.kind, 4)
    found = result.astype(f"u{size}")
    return found.view({"f32": "f4", "s32": "i4", "f64": "f8"}.get(fragment.register, "u4"))


def pattern(kind: str, value: int) -> int:
    if kind in ("s8", "u8"):
        return value & 255
    if kind == "s32":
        return value & 0xFFFFFFFF
    if kind == "f16":
        return int(np.float16(value).view(np.uint16))
    if kind == "f64":
        return int(np.float64(value).view(np.uint64))
    bits = int(np.float32(value).view(np.uint32))
    if kind in ("e4m3", "e5m2"):
        mantissa, bias = (3, 7) if kind == "e4m3" else (2, 15)
        code = ((bits >> 23 & 255) - 127 + bias) << mantissa | (bits & 0x7FFFFF) >> (23 - mantissa)
        return 0 if value == 0 else code | (bits >> 31) << 7
    return bits >> 16 if kind == "bf16" else bits


def evaluated(product: Product, a: Any, b: Any, c: Any) -> Any:
    """The registers of d for those of a, b and c."""
    return product.added(product.a.matrix(a), product.b.matrix(b), c)


@each_row("instruction", PRODUCTS)
def test_products(instruction: str) -> None:
    found = product(instruction)
    random = np.random.default_rng(1)
    low = 0 if "u8" in instruction else -3
    a = random.integers(low, 4, (3, found.a.rows, found.a.columns))
    b = random.integers(low, 4, (3, found.b.rows, found.b.columns))
    c = random.integers(-50, 50, (3, found.c.rows, found.c.columns))
    registers = [elements(fragment, matrix) for fragment, matrix in ((found.a, a), (found.b, b), (found.c, c))]
    result = evaluated(found, *registers)
    assert result.shape == (3, 32, found.d.words)
    assert (result == elements(found.d, a @ b + c)).all()


@each_row("instruction", PRODUCTS)
def test_fragments_hold_each_element(instruction: str) -> None:
    fragments = product(instruction)[:4]
    assert len(fragments) == 4
    for fragment in fragments:
        held = np.bincount(fragment.places.ravel(), minlength=fragment.rows * fragment.columns)
        assert held.min() == held.max() >= 1
        assert (fragment.places.ravel()[fragment.holders] == np.arange(len(held))).all()


# From the tables of PTX's description: an element of a lane, its row and its column.
PLACES = [
    ("m16n8k16.row.col.f32.f16.f16.f32", "a", {(0, 0): (0, 0), (5, 1): (1, 3), (5, 2): (9, 2), (5, 4): (1, 10),
                                               (31, 7): (15, 15)}),
    ("m16n8k16.row.col.f32.f16.f16.f32", "b", {(0, 1): (1, 0), (5, 0): (2, 1), (5, 3): (11, 1), (31, 3): (15, 7)}),
    ("m16n8k16.row.col.f32.f16.f16.f32", "d", {(0, 1): (0, 1), (5, 2): (9, 2), (31, 3): (15, 7)}),
    ("m16n8k8.row.col.f32.tf32.tf32.f32", "a", {(5, 0): (1, 1), (5, 1): (9, 1), (5, 2): (1, 5), (5, 3): (9, 5)}),
    ("m16n8k8.row.col.f32.tf32.tf32.f32", "b", {(5, 0): (1, 1), (5, 1): (5, 1)}),
    ("m16n8k32.row.col.s32.s8.s8.s32", "a", {(5, 3): (1, 7), (5, 4): (9, 4), (5, 8): (1, 20), (5, 12): (9, 20)}),
    ("m16n8k32.row.col.s32.s8.s8.s32", "b", {(5, 3): (7, 1), (5, 4): (20, 1)}),
    ("m8n8k4.row.col.f64.f64.f64.f64", "a", {(5, 0): (1, 1)}),
    ("m8n8k4.row.col.f64.f64.f64.f64", "d", {(5, 1): (1, 3)}),
]  # fmt: skip


@each_row(("instruction", "part", "places"), PLACES)
def test_fragments_are_those_of_ptx(instruction: str, part: str, places: dict[tuple[int, int], Any]) -> None:
    fragment = getattr(product(f"mma.sync.aligned.{instruction}"), part)
    for (lane, element), place in places.items():
        assert divmod(int(fragment.places[lane, element]), fragment.columns) == place


COUNTS = [
    ("a", "m16n16k16", "f16", 8), ("b", "m16n16k16", "f16", 8), ("a", "m8n32k16", "f16", 8),
    ("b", "m32n8k16", "f16", 8), ("c", "m16n16k16", "f16", 4), ("c", "m32n8k16", "f32", 8),
    ("a", "m16n16k16", "bf16", 4), ("a", "m8n32k16", "bf16", 2), ("b", "m8n32k16", "bf16", 8),
    ("a", "m32n8k16", "bf16", 8), ("b", "m32n8k16", "bf16", 2), ("a", "m16n16k16", "s8", 2),
    ("a", "m8n32k16", "u8", 1), ("b", "m8n32k16", "s8", 4), ("c", "m16n16k16", "s32", 8), ("a", "m16n16k8", "tf32", 4),
    ("b", "m16n16k8", "tf32", 4), ("c", "m16n16k8", "f32", 8), ("a", "m8n8k4", "f64", 1), ("c", "m8n8k4", "f64", 2),
]  # fmt: skip


@each_row(("part", "shape", "kind", "count"), COUNTS)
def test_wmma_has_as_many_registers_as_ptx_says(part: str, shape: str, kind: str, count: int) -> None:
    fragment, _ = wmma_access(("load", part, "sync", "aligned", "row", shape, "shared", kind))
    assert fragment.words == count


# As an H200 has them: a part, a shape, a type, a lane, and the rows and columns of its first elements.
SEEN = [
    ("a", "m16n16k16", "f16", 5, [(1, 2), (1, 3), (9, 2), (9, 3), (1, 10), (1, 11), (9, 10), (9, 11), (1, 2)]),
    ("b", "m8n32k16", "f16", 5, [(2, 1), (3, 1), (2, 9), (3, 9), (10, 1), (11, 1), (10, 9), (11, 9), (2, 17)]),
    ("c", "m8n32k16", "f32", 5, [(2, 1), (3, 1), (2, 9), (3, 9), (2, 17)]),
    ("c", "m32n8k16", "s32", 5, [(1, 2), (1, 3), (9, 2), (9, 3), (17, 2)]),
    ("c", "m16n16k8", "f32", 5, [(1, 2), (1, 3), (9, 2), (9, 3), (1, 10)]),
]


@pytest.mark.parametrize(("part", "shape", "kind", "lane", "places"), SEEN)
def test_wmma_is_laid_out_as_on_a_gpu(part: str, shape: str, kind: str, lane: int, places: list[Any]) -> None:
    fragment, _ = wmma_access(("load", part, "sync", "aligned", "row", shape, "shared", kind))
    assert [divmod(place, fragment.columns) for place in fragment.places[lane, : len(places)].tolist()] == places


@each_row("order", ["row", "col"])
@each_row("shape", ["m16n16k16", "m8n32k16", "m32n8k16"])
def test_wmma_loads_multiplies_and_stores(shape: str, order: str) -> None:
    """Through memory, whose rows (columns) are three elements longer than the matrix."""
    whole = wmma(("mma", "sync", "aligned", order, order, shape, "f32", "f32"))
    random = np.random.default_rng(2)

    def load(part: str, kind: str, matrix: Any, dtype: str) -> Any:
        fragment, columns = wmma_access(("load", part, "sync", "aligned", order, shape, kind))
        stored = matrix.T if columns else matrix
        stride = stored.shape[1] + 3
        memory = np.zeros((stored.shape[0], stride), dtype)
        memory[:, :-3] = stored
        strides, steps = fragment.offsets(columns)
        return fragment.pack(memory.ravel()[None][:, strides * stride + steps])

    a, b, c = (random.integers(-3, 4, (fragment.rows, fragment.columns)) for fragment in whole[:3])
    d = evaluated(whole, load("a", "f16", a, "f2"), load("b", "f16", b, "f2"), load("c", "f32", c, "f4"))
    fragment, columns = wmma_access(("store", "d", "sync", "aligned", order, shape, "global", "f32"))
    stride = (fragment.rows if columns else fragment.columns) + 5
    memory = np.full((fragment.columns if columns else fragment.rows) * stride, 7, np.uint32)
    strides, steps = fragment.offsets(columns)
    memory[strides * stride + steps] = fragment.unpack(d)[0]
    result = memory.view(np.float32).reshape(-1, stride)[:, :-5]
    assert ((result.T if columns else result) == a @ b + c).all()


@pytest.mark.parametrize("count", [1, 2, 4])
def test_matrices_of_rows(count: int) -> None:
    """Registers of ldmatrix are fragments of mma, transposed or not."""
    matrices = np.arange(count * 64, dtype=np.uint16).reshape(count, 8, 8)
    # The address of a row is its number times 16 here: eight rows of each matrix.
    addresses = np.arange(32) * 16
    memory = np.zeros(512, np.uint8)
    memory[: matrices.nbytes] = matrices.ravel().view(np.uint8)
    for flags, source in (((), matrices), (("trans",), matrices.swapaxes(1, 2))):
        access = matrix_rows("ldmatrix", ("sync", "aligned", "m8n8", f"x{count}", *flags, "shared", "b16"))
        at = addresses[access.lanes] + access.offsets
        parts = memory[at[..., None] + np.arange(access.bytes)]
        words = np.ascontiguousarray(parts.reshape(32, count, 4)).view(np.uint32)[..., 0]
        for lane in range(32):
            for register in range(count):
                low, high = source[register, lane // 4, lane % 4 * 2 : lane % 4 * 2 + 2]
                assert words[lane, register] == int(low) | int(high) << 16
    assert access.lanes.max() == 8 * count - 1


def test_a_matrix_in_registers_is_transposed() -> None:
    matrix = np.arange(128, dtype=np.uint16).reshape(2, 8, 8)
    words = matrix.view(np.uint32).reshape(2, 32)
    assert (transposed(words).view(np.uint16).reshape(2, 8, 8) == matrix.swapaxes(1, 2)).all()


def test_integers_are_clamped_only_where_asked() -> None:
    for flags, want in (((), -(2**31) + 32), (("satfinite",), 2**31 - 1)):
        result = mma(("sync", "aligned", "m16n8k32", "row", "col", *flags, "s32", "s8", "s8", "s32"))
        ones = np.full((1, 32, 4), 0x01010101, np.uint32)
        high = np.full((1, 32, 4), 2**31 - 1, np.int32)
        assert (evaluated(result, ones, ones[:, :, :2], high) == want - (not flags)).all()


def test_infinities_and_nan_pass_without_a_warning() -> None:
    result = product(PRODUCTS[1])
    a = np.full((1, 32, 4), 0x7C007C00, np.uint32)
    assert np.isnan(evaluated(result, a, np.zeros((1, 32, 2), np.uint32), np.zeros((1, 32, 4), np.float32))).all()


@each_row("instruction", [
    "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", "mma.sync.aligned.m16n8k16.col.col.f32.f16.f16.f32",
    "mma.sync.aligned.m16n8k16.row.col.s32.f16.f16.s32", "mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32",
    "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "mma.sync", "wmma.mma.sync.aligned.row.col.m9n9k9.f32.f32",
    "wmma.mma.sync.aligned.row.col.m16n16k16.f32.tf32.tf32.f32", "wmma.mma.sync.aligned.row.col.m16n16k16.f64.f64",
    "mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32",
])  # fmt: skip
def test_what_is_not_known_is_said(instruction: str) -> None:
    with pytest.raises(Unsupported):
        product(instruction)


@pytest.mark.parametrize("modifiers", ["sync.aligned.m8n8.x3.shared.b16", "sync.aligned.m8n16.x1.shared.b8", "sync"])
def test_rows_that_are_not_known(modifiers: str) -> None:
    with pytest.raises(Unsupported):
        matrix_rows("ldmatrix", tuple(modifiers.split(".")))
