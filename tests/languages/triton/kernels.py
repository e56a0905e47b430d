"""Kernels for the tests of what reads or compiles them, lowered by Triton's front end as a planner does."""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from typing import Any

import triton
import triton.language as tl
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.compiler.compiler import make_backend
from triton.language.extra import libdevice

from grader.languages.triton.options import Options
from grader.plan.plan import Kernel

TARGET = GPUTarget("cuda", 90, 32)
ALIGNED = [["tt.divisibility", 16]]


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


@triton.jit
def idle_kernel(x_ptr, n):
    pass


@triton.jit
def norm_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * n + offsets, mask=offsets < n, other=0.0)
    scale = tl.rsqrt(tl.sum(x * x) / n + 1e-5)
    tl.store(out_ptr + tl.program_id(0) * n + offsets, x * scale, mask=offsets < n)


@triton.jit
def product_kernel(a_ptr, b_ptr, out_ptr, M, N, K, TILE: tl.constexpr, STEP: tl.constexpr):
    i = tl.program_id(0) * TILE + tl.arange(0, TILE)[:, None]
    j = tl.program_id(1) * TILE + tl.arange(0, TILE)[None, :]
    lanes = tl.arange(0, STEP)
    total = tl.zeros((TILE, TILE), dtype=tl.float32)
    for first in range(0, K, STEP):
        k = first + lanes
        a = tl.load(a_ptr + i * K + k[None, :], mask=(i < M) & (k[None, :] < K), other=0.0)
        b = tl.load(b_ptr + k[:, None] * N + j, mask=(k[:, None] < K) & (j < N), other=0.0)
        total = tl.dot(a, b, total)
    tl.store(out_ptr + i * N + j, total.to(tl.float16), mask=(i < M) & (j < N))


@triton.jit
def tile_kernel(x_desc, out_desc, TILE: tl.constexpr):
    row, column = tl.program_id(0) * TILE, tl.program_id(1) * TILE
    out_desc.store([row, column], x_desc.load([row, column]))


@triton.jit
def odd_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """All that the front end writes in a form of its own."""
    lanes = tl.arange(0, BLOCK)
    tl.assume(n > 0)
    x = libdevice.tanh(tl.load(x_ptr + lanes, mask=lanes < n))
    x = tl.inline_asm_elementwise('neg.f32 $0, $1; // "0"\n', "=r,r", [x], dtype=tl.float32, is_pure=True, pack=1)
    tl.debug_barrier()
    tl.device_print('x "now"', x)
    tl.device_assert(n < 100, "n; {}\n")
    x += tl.sum(x) + tl.cumsum(x)
    if n > 7:
        x = tl.flip(x, 0)
    while n > 1:
        n = n // 2
    tl.atomic_add(out_ptr + lanes, x, mask=lanes < n)


def source_of(
    function: Any, signature: dict[str, str], constants: dict[str, Any], aligned: tuple[str, ...] = ()
) -> ASTSource:
    """What Triton compiles. `aligned` names the arguments that are multiples of 16."""
    entries = {name: signature.get(name, "constexpr") for name in function.arg_names}
    attributes = {(function.arg_names.index(name),): ALIGNED for name in aligned}
    return ASTSource(function, entries, constants, attributes)


def text_of(
    function: Any, signature: dict[str, str], constants: dict[str, Any], *, aligned: tuple[str, ...] = (),
    **options: Any,
) -> str:
    """The text of a kernel as Triton's front end prints it, before any pass."""
    backend = make_backend(TARGET)
    chosen = backend.parse_options(options)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    code, modules = backend.get_codegen_implementation(chosen), backend.get_module_map()
    return str(source_of(function, signature, constants, aligned).make_ir(TARGET, chosen, code, modules, context))


def lower(
    function: Any, signature: dict[str, str], constants: dict[str, Any], *, aligned: tuple[str, ...] = (),
    debug: bool = False, **options: Any,
) -> Kernel:
    """A kernel as a plan has it."""
    name, text = function.__name__, text_of(function, signature, constants, aligned=aligned, debug=debug, **options)
    return Kernel(language="triton", name=name, symbol=name, text=text, signature=[*signature.values()],
                  options=Options(**options).for_plan())


def copy(*, block: int = 1024, aligned: tuple[str, ...] = ("x_ptr", "out_ptr", "n"), **options: Any) -> Kernel:
    return lower(copy_kernel, {"x_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32"}, {"BLOCK": block}, aligned=aligned,
                 **options)  # fmt: skip


def tile(dtype: str = "fp16", side: int = 64) -> Kernel:
    entry = f"tensordesc<{dtype}[{side}, {side}]>"
    return lower(tile_kernel, {"x_desc": entry, "out_desc": entry}, {"TILE": side})


def odd(*, debug: bool = True) -> Kernel:
    signature = {"x_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32"}
    return lower(odd_kernel, signature, {"BLOCK": 128}, debug=debug)


def product(*, tile: int = 64, step: int = 32, **options: Any) -> Kernel:
    signature = {"a_ptr": "*fp16", "b_ptr": "*fp16", "out_ptr": "*fp16", "M": "i32", "N": "i32", "K": "i32"}
    return lower(product_kernel, signature, {"TILE": tile, "STEP": step}, aligned=tuple(signature), **options)


def norm(*, block: int, **options: Any) -> Kernel:
    signature = {"x_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32"}
    return lower(norm_kernel, signature, {"BLOCK": block}, aligned=tuple(signature), **options)
