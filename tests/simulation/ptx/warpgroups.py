"""Kernels for products of warpgroups and bulk copies, and matrices as shared memory holds them."""

from dataclasses import dataclass

import numpy as np

from grader.simulation.ptx.lanes import Array
from tests.simulation.ptx.launching import HEAD

ROWS, K_BYTES, IMAGE = 64, 32, 40960
B_BEGIN = 8192
WIDTHS = {16: 0, 128: 1, 64: 2, 32: 3}
"""Bytes of a row that a swizzle has, 16 without one, and its number in a descriptor."""
ITEMS = {"f16": 2, "bf16": 2, "tf32": 4, "s8": 1, "u8": 1, "e4m3": 1, "e5m2": 1}


@dataclass(frozen=True)
class Product:
    """A product d = a · b, twice: the second is added. `across` says of a and b whether neighbours lie along M or N;
    `signs` multiply them; `held`: a is in registers."""

    kinds: tuple[str, str, str] = ("f32", "f16", "f16")
    columns: int = 64
    width: int = 128
    across: tuple[int, int] = (0, 0)
    signs: tuple[int, int] = (1, 1)
    held: bool = False

    @property
    def item(self) -> int:
        return ITEMS[self.kinds[1]]

    @property
    def words(self) -> int:
        """Registers of d in a thread."""
        return self.columns // (4 if self.kinds[0] == "f16" else 2)

    def text(self) -> str:
        """The entry `product(image, out, a, b)`: `image` goes to shared memory, `a` and `b` are descriptors; what
        thread t holds of d goes to out[t]. Registers of a come from the beginning of the image."""
        d = ", ".join(f"%d{k}" for k in range(self.words))
        kind = "b32" if self.kinds[0] == "f16" else self.kinds[0]
        a = "{%a0, %a1, %a2, %a3}" if self.held else "%x2"
        flags = [*self.signs, *self.across[self.held :]] if self.item == 2 else [*self.signs]
        operands = ", ".join([f"{{{d}}}", a, "%x3", "%p1", *([] if kind == "s32" else map(str, flags))])
        shape = f"m64n{self.columns}k{K_BYTES // self.item}"
        product = f"wgmma.mma_async.sync.aligned.{shape}.{'.'.join(self.kinds)} {operands};"
        stores = "\n".join(f"st.global.b32 [%x1+{4 * k}], %d{k};" for k in range(self.words))
        return f"""{HEAD}
.visible .entry product(.param .u64 image, .param .u64 out, .param .u64 a, .param .u64 b) {{
.reg .b64 %x<9>; .reg .b32 %r<9>; .reg .b32 %a<4>; .reg .{kind} %d<{self.words}>; .reg .pred %p<3>;
.shared .align 1024 .b8 memory[{IMAGE}];
ld.param.u64 %x0, [image]; ld.param.u64 %x1, [out]; ld.param.u64 %x2, [a]; ld.param.u64 %x3, [b];
mov.u32 %r0, %tid.x; mul.wide.u32 %x4, %r0, 4; add.u64 %x5, %x0, %x4;
mul.wide.u32 %x6, %r0, 16; add.u64 %x6, %x0, %x6; ld.global.v4.b32 {{%a0, %a1, %a2, %a3}}, [%x6];
mov.u32 %r1, memory; mad.lo.u32 %r2, %r0, 4, %r1; mov.u32 %r3, %r0;
copying: ld.global.b32 %r4, [%x5]; st.shared.b32 [%r2], %r4;
add.u64 %x5, %x5, 512; add.u32 %r2, %r2, 512; add.u32 %r3, %r3, 128; setp.lt.u32 %p0, %r3, {IMAGE // 4};
@%p0 bra copying;
fence.proxy.async; bar.sync 0;
shr.u32 %r5, %r1, 4; cvt.u64.u32 %x7, %r5; add.u64 %x2, %x2, %x7; add.u64 %x3, %x3, %x7;
wgmma.fence.sync.aligned;
setp.ne.u32 %p1, 0, 0;
{product}
setp.eq.u32 %p1, 0, 0;
{product}
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
mul.wide.u32 %x4, %r0, {4 * self.words}; add.u64 %x1, %x1, %x4;
{stores}
ret;
}}"""

    def descriptor(self, begin: int, across: int, lines: int) -> int:
        leading, stride = self.strides(across, lines)
        return begin >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | WIDTHS[self.width] << 62

    def strides(self, across: int, lines: int) -> tuple[int, int]:
        """Of the leading and the stride dimension: as the pieces of a matrix follow each other."""
        if self.width == 16:
            return lines // 8 * 128, 128
        return K_BYTES // self.item * self.width if across else 0, 8 * self.width

    def put(self, image: Array, begin: int, across: int, matrix: Array) -> None:
        """Puts a matrix of (lines, along K) elements into a shared memory's image, piece by piece."""
        lines, depth = matrix.shape
        leading, stride = self.strides(across, lines)
        for line in range(lines):
            for k in range(depth):
                # Of a K-major matrix rows are lines, else they are steps of K.
                row, byte = (k, line * self.item) if across else (line, k * self.item)
                if self.width == 16 and across:
                    at = byte // 16 * stride + row // 8 * leading + row % 8 * 16 + byte % 16
                else:
                    at = byte // self.width * leading + row // 8 * stride + row % 8 * self.width + byte % self.width
                at += begin
                at ^= (at // 128 % (self.width // 16)) * 16
                image[at : at + self.item] = matrix[line, k : k + 1].view(np.uint8)

    def result(self, raw: Array) -> Array:
        """The matrix d of what threads hold: two neighbours of a row, 8 rows further down, 8 columns further."""
        held = raw.view("f2" if self.kinds[0] == "f16" else "i4" if self.kinds[0] == "s32" else "f4")
        parts = held.reshape(4, 8, 4, self.columns // 8, 2, 2)
        return parts.transpose(0, 4, 1, 3, 2, 5).reshape(ROWS, self.columns)


def elements(kind: str, shape: tuple[int, ...], seed: int) -> tuple[Array, Array]:
    """Random elements as they lie in memory, and as numbers."""
    random = np.random.default_rng(seed)
    if kind in ("s8", "u8"):
        whole = random.integers(-9, 9, shape) if kind == "s8" else random.integers(0, 18, shape)
        return whole.astype(np.uint8), whole.astype("f4")
    if kind in ("e4m3", "e5m2"):
        # Powers of two: the exponent alone.
        powers, bias, shift = random.integers(-2, 3, shape), *((7, 3) if kind == "e4m3" else (15, 2))
        return (powers + bias << shift).astype(np.uint8), 2.0**powers
    numbers = random.integers(-64, 65, shape).astype("f4") / 16
    if kind == "f16":
        return numbers.astype("f2"), numbers
    whole = numbers.view(np.uint32)
    return ((whole >> 16).astype(np.uint16) if kind == "bf16" else whole), numbers


PRODUCTS = [
    *(Product(width=width, across=(a, b), columns=columns)
      for width, columns in zip(WIDTHS, (64, 256, 128, 64), strict=True) for a in (0, 1) for b in (0, 1)),
    Product(columns=8), Product(columns=24, width=32), Product(columns=200, width=64), Product(signs=(-1, 1)),
    Product(held=True, across=(0, 1)), Product(held=True, kinds=("f32", "bf16", "bf16"), signs=(1, -1)),
    Product(kinds=("f16", "f16", "f16"), columns=32), Product(kinds=("f32", "bf16", "bf16"), across=(1, 1)),
    Product(kinds=("f32", "tf32", "tf32"), width=64), Product(kinds=("s32", "s8", "u8")),
    Product(kinds=("s32", "u8", "s8"), held=True), Product(kinds=("f32", "e4m3", "e5m2"), width=16),
]  # fmt: skip


def drawn(product: Product) -> tuple[Array, tuple[int, int], Array]:
    """An image of shared memory, the descriptors, and what the product is."""
    depth = K_BYTES // product.item
    a, left = elements(product.kinds[1], (ROWS, depth), 1)
    b, right = elements(product.kinds[2], (product.columns, depth), 2)
    image = np.zeros(IMAGE, np.uint8)
    if product.held:
        # Two neighbours of a row for words of 16 bits, then 8 rows further down, then the row's other half.
        each = 4 // product.item
        parts = a.reshape(4, 2, 8, 2, 4, each).transpose(0, 2, 4, 3, 1, 5)
        image[: a.nbytes] = np.ascontiguousarray(parts).reshape(-1).view(np.uint8)
    else:
        product.put(image, 0, product.across[0], a)
    product.put(image, B_BEGIN, product.across[1], b)
    descriptors = product.descriptor(0, product.across[0], ROWS), product.descriptor(
        B_BEGIN, product.across[1], product.columns)
    return image, descriptors, 2 * (left * product.signs[0]) @ (right * product.signs[1]).T
