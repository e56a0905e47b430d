"""Kernels for the executor's tests, and what the compiler makes of them: no GPU is needed for that."""

# Kernels are outside strict typing.
# mypy: disable-error-code="untyped-decorator,no-untyped-def"

import base64
from collections.abc import Mapping
from functools import cache
from typing import Any

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from grader.languages.triton.confined.compiler.machine_code import metadata_of
from grader.languages.triton.options import Options, options_of
from grader.plan.compiled import Binary, Facts
from grader.plan.messages import GivenTensor
from grader.plan.plan import Buffer, DType, Integer, Kernel, Launch, Operation, Plan, Pointer, View


@triton.jit
def scale(x, out, n, factor, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, at < n) * factor, at < n)


@triton.jit
def scale_beyond(x, out, n, reach, BLOCK: tl.constexpr):
    """Writes `reach` elements beyond its output."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, at < n) * 2, at < n + reach)


@triton.jit
def host_descriptor(x, out, BLOCK: tl.constexpr):
    row, column = tl.program_id(0) * BLOCK, tl.program_id(1) * BLOCK
    out.store([row, column], x.load([row, column]) * 2)


@triton.jit
def device_descriptor(x, out, rows, columns, BLOCK: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [rows, columns], [columns, 1], [BLOCK, BLOCK])
    target = tl.make_tensor_descriptor(out, [rows, columns], [columns, 1], [BLOCK, BLOCK])
    row, column = tl.program_id(0) * BLOCK, tl.program_id(1) * BLOCK
    target.store([row, column], source.load([row, column]) * 2)


@triton.jit
def produce(x, middle, n, BLOCK: tl.constexpr):
    gdc_launch_dependents()
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(middle + at, tl.load(x + at, at < n) + 1, at < n)


@triton.jit
def consume(middle, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    gdc_wait()
    tl.store(out + at, tl.load(middle + at, at < n) * 2, at < n)


@triton.jit
def meet(x, out, total, counter, n, programs, BLOCK: tl.constexpr):
    """The sum of `x` in every element of `out`: programs wait for each other."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(total, tl.sum(tl.load(x + at, at < n, 0.0)))
    tl.atomic_add(counter, 1)
    while tl.atomic_add(counter, 0) < programs:
        pass
    tl.store(out + at, tl.zeros([BLOCK], tl.float32) + tl.atomic_add(total, 0.0), at < n)


@triton.jit
def matmul(a, b, out, K: tl.constexpr, BLOCK: tl.constexpr, DEPTH: tl.constexpr):
    row, column = tl.program_id(0) * BLOCK, tl.program_id(1) * BLOCK
    rows, columns = row + tl.arange(0, BLOCK), column + tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK, BLOCK], tl.float32)
    for k in range(0, K, DEPTH):
        depth = k + tl.arange(0, DEPTH)
        total = tl.dot(tl.load(a + rows[:, None] * K + depth[None, :]),
                       tl.load(b + depth[:, None] * K + columns[None, :]), total)
    tl.store(out + rows[:, None] * K + columns[None, :], total.to(tl.float16))


@triton.jit
def count(state, out, n, BLOCK: tl.constexpr):
    """Adds one to each element of a state, and writes that to `out`."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    now = tl.load(state + at, at < n) + 1
    tl.store(state + at, now, at < n)
    tl.store(out + at, now, at < n)


@triton.jit
def wild(out, where):
    tl.store(out + where, 1.0)


@triton.jit
def failing(out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.device_assert(tl.load(out + at) == 1e9, "no")
    tl.store(out + at, 0.0)


@triton.jit
def endless(out):
    while tl.atomic_add(out, 0.0) != 1e9:
        pass


@triton.jit
def every_type(a, b, c, d, e, f, g, out):
    """Writes its numbers, of each type, one after another."""
    tl.store(out, a)
    tl.store(out + 1, b.to(tl.float32))
    tl.store(out + 2, c.to(tl.float32))
    tl.store(out + 3, d.to(tl.float32))
    tl.store(out + 4, e.to(tl.float32))
    tl.store(out + 5, f.to(tl.float32))
    tl.store(out + 6, g.to(tl.float32))


@cache
def _compiled(kernel: Any, signature: tuple[tuple[str, str], ...], constants: tuple[tuple[str, int], ...],
              options: Options, debug: bool) -> Any:
    names = kernel.arg_names
    source = ASTSource(
        fn=kernel, signature=dict(signature) | dict.fromkeys(dict(constants), "constexpr"),
        constexprs={(names.index(name),): value for name, value in constants},
        attrs={(names.index(name),): [["tt.divisibility", 16]] for name, type in signature if type.startswith("*")})
    asked = options.model_dump(exclude={"allow_fp8e4nv"}, exclude_none=True)
    return triton.compile(source, target=GPUTarget("cuda", 90, 32), options=asked | {"debug": debug})


def built(
    kernel: Any, signature: Mapping[str, str], constants: Mapping[str, int] = {}, *, debug: bool = False, **options: Any
) -> tuple[Kernel, Binary]:
    """A kernel as a plan has it, and its machine code for sm_90."""
    made = Options(**options)
    compiled = _compiled(kernel, tuple(signature.items()), tuple(constants.items()), made, debug)
    facts = Facts(registers=0, spills=0, shared=compiled.metadata.shared)
    plain = Kernel(
        language="triton", name=kernel.__name__, symbol=compiled.metadata.name, text=str(compiled.asm["ttir"]),
        signature=list(signature.values()), options=made.for_plan())
    metadata = metadata_of(compiled.metadata._asdict(), plain.signature)
    return plain, Binary(cubin=base64.b64encode(compiled.asm["cubin"]).decode(), facts=facts, metadata=metadata)


def parameters_of(kernel: Any, signature: Mapping[str, str], constants: Mapping[str, int]) -> str:
    """The PTX of a kernel that was built with these."""
    return str(_compiled(kernel, tuple(signature.items()), tuple(constants.items()), Options(), False).asm["ptx"])


def given(name: str, *shape: int, dtype: DType = "float32", output: bool = False) -> GivenTensor:
    return GivenTensor(name=name, shape=list(shape), dtype=dtype, output=output)


def buffer(tensor: GivenTensor) -> Buffer:
    size = {"float32": 4, "float16": 2}[tensor.dtype]
    for length in tensor.shape:
        size *= length
    return Buffer(bytes=size, given=tensor.name, place=tensor.place)


def whole(index: int, *shape: int, dtype: DType = "float32") -> View:
    strides = [1] * len(shape)
    for i in reversed(range(len(shape) - 1)):
        strides[i] = strides[i + 1] * shape[i + 1]
    return View(buffer=index, shape=list(shape), strides=strides, dtype=dtype)


def launch(kernel: int, grid: tuple[int, ...], *arguments: Any, line: int = 7) -> Launch:
    """A launch; plain integers are buffers by their index, where another number is meant it is given as an argument."""
    x, y, z = (*grid, 1, 1)[:3]
    return Launch(
        kernel=kernel, grid=(x, y, z), block=(128, 1, 1), line=line,
        arguments=[Pointer(buffer=argument) if isinstance(argument, int) else argument for argument in arguments])


def i32(value: int) -> Integer:
    return Integer(type="i32", value=value)


def plan_of(kernels: list[Kernel], buffers: list[Buffer], first: list[Operation], **more: Any) -> Plan:
    """A plan; its launches have what their kernels' options say."""
    fields = [options_of(kernel).for_launch() for kernel in kernels]
    parts = {"first": first, **more}
    for part in ("setup", "first", "steady"):
        if parts.get(part):
            parts[part] = [one.model_copy(update=fields[one.kernel]) if isinstance(one, Launch) else one
                           for one in parts[part]]
    return Plan(buffers=buffers, kernels=kernels, **parts)
