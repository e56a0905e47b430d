"""The interpreter's builder, with the checks that a GPU or its compiler would make.

Handles carry three facts through arithmetic and changes of shape: `bounds`, an interval that encloses all values, so
that neither the overflow check nor the bounds check has to look at every lane; `wrapped`, set where signed arithmetic
overflowed; and `origin`, the region that a pointer came from.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia import compiler as nvidia
from triton.runtime import interpreter

from . import types_once
from .faults import DeviceAssertion, IntegerOverflow, Unsupported
from .memory import Region
from .patching import replace, require
from .state import memory, place

# The GPU that kernels are imagined to run on: what host code may ask about, and what decides the least sizes of a dot.
TARGET = GPUTarget("cuda", 90, 32)

_DTYPES = {
    "int1": np.bool_, "int8": np.int8, "int16": np.int16, "int32": np.int32, "int64": np.int64,
    "uint8": np.uint8, "uint16": np.uint16, "uint32": np.uint32, "uint64": np.uint64,
    "fp16": np.float16, "fp32": np.float32, "fp64": np.float64,
}  # fmt: skip
_NUMPY = {name: np.dtype(dtype) for name, dtype in _DTYPES.items()}
_POINTER = np.dtype(np.uint64)
NEEDS_GPU = "this type needs a GPU; without one, only fp16 and fp32 (and fp64) can be computed."
_LIMITS = {
    **{f"int{bits}": (-(1 << bits - 1), (1 << bits - 1) - 1) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (0, (1 << bits) - 1) for bits in (8, 16, 32, 64)},
}
# So many looks at one unchanging word with nothing written between them, and a program is waiting for another one.
_MOST_LOOKS = 10_000
_WRAPS = frozenset({"int8", "int16", "int32"})

_COMPARISONS = {
    **{f"create_icmp{sign}{op}": f for sign in "SU" for op, f in (
        ("LE", np.less_equal), ("LT", np.less), ("GE", np.greater_equal), ("GT", np.greater))},
    **{f"create_fcmp{order}{op}": f for order in "OU" for op, f in (
        ("LE", np.less_equal), ("LT", np.less), ("GE", np.greater_equal), ("GT", np.greater),
        ("EQ", np.equal), ("NE", np.not_equal))},
    "create_icmpEQ": np.equal, "create_icmpNE": np.not_equal,
}  # fmt: skip
_SHAPES = (
    "create_broadcast", "create_expand_dims", "create_reshape", "create_trans", "create_unsplat",
)


def refuse_type(dtype: Any) -> None:
    """Raise Unsupported for a type that NumPy cannot compute with: bfloat16 and the 8-bit floats."""
    raise Unsupported(f"{place()}: {dtype}: {NEEDS_GPU}")


def numpy_dtype(dtype: Any) -> Any:
    """The NumPy dtype of a Triton type or of a block's elements; pointers are 64-bit addresses."""
    element = dtype.element_ty if isinstance(dtype, tl.block_type) else dtype
    if isinstance(element, tl.pointer_type):
        return _POINTER
    found = _NUMPY.get(element.name)
    if found is None:
        refuse_type(element)
    return found


class Handle(interpreter.TensorHandle):  # type: ignore[misc]
    """An array and its Triton element type. `data` is never written to once a handle holds it."""

    def __init__(self, data: Any, dtype: Any, attr: dict[str, Any] | None = None) -> None:
        self.data = data
        self.dtype = dtype
        self.attr = attr if attr is not None else {}
        self.bounds: tuple[int, int] | None = None
        self.wrapped: str | None = None
        self.origin: Region | None = None

    def clone(self) -> Handle:
        # Without the bounds: advancing a block pointer adds to its copies in place.
        copy = Handle(self.data.copy(), self.dtype)
        copy.wrapped, copy.origin = self.wrapped, self.origin
        return copy


def _like(new: Any, old: Any) -> Any:
    """Give `new` the facts of `old`, whose values it holds in another shape."""
    new.bounds, new.wrapped, new.origin = old.bounds, old.wrapped, old.origin
    return new


def bounds_of(handle: Any) -> tuple[int, int]:
    """An interval that encloses the handle's integers."""
    found: tuple[int, int] | None = handle.bounds
    if found is None:
        data = handle.data
        if data.size == 1:
            value = int(data.item())
            found = (value, value)
        else:
            found = (int(data.min()), int(data.max()))
        handle.bounds = found
    return found


@functools.lru_cache(maxsize=256)
def _range(start: int, stop: int) -> Any:
    data = np.arange(start, stop, dtype=np.int32)
    data.setflags(write=False)
    return data


def _round_to_tf32(data: Any) -> Any:
    """fp32 with the mantissa rounded to 10 bits, ties away from zero: what `tl.dot` feeds to a tensor core."""
    rounded = ((data.view(np.uint32) + np.uint32(0x1000)) & np.uint32(0xFFFFE000)).view(np.float32)
    return np.where(np.isfinite(data), rounded, data)


class Builder(interpreter.InterpreterBuilder):  # type: ignore[misc]
    """Runs each operation of a kernel at once, on NumPy arrays."""

    def __init__(self) -> None:
        super().__init__()
        # Assertions fire; the overflow check of Triton's own debug mode is replaced by the one below, which costs
        # less and spares hashes that wrap on purpose.
        self.options: Any = interpreter.InterpreterOptions(debug=True, sanitize_overflow=False)
        self.codegen_fns["min_dot_size"] = nvidia.min_dot_size(TARGET)
        self._seen: tuple[Any, Any] | None = None
        self._looks = 0

    # integers

    def _integer(self, data: Any, lhs: Any, rhs: Any, interval: tuple[int, int], ufunc: Any) -> Any:
        result = Handle(data, lhs.dtype.scalar)
        name = lhs.dtype.name
        result.wrapped = lhs.wrapped or rhs.wrapped
        limits = _LIMITS.get(name)
        if limits is None:
            return result
        if limits[0] <= interval[0] and interval[1] <= limits[1]:
            result.bounds = interval
        elif name in _WRAPS:
            wide = ufunc(lhs.data.astype(np.int64), rhs.data.astype(np.int64))
            low, high = int(wide.min()), int(wide.max())
            if limits[0] <= low and high <= limits[1]:
                result.bounds = (low, high)
            elif result.wrapped is None:
                verb = {np.add: "+", np.subtract: "-", np.multiply: "*"}[ufunc]
                worst = high if high > limits[1] else low
                result.wrapped = f"{name} overflow in `{verb}` ({place()}): {worst:,} does not fit"
        return result

    def create_add(self, lhs: Any, rhs: Any) -> Any:
        a, b = bounds_of(lhs), bounds_of(rhs)
        return self._integer(lhs.data + rhs.data, lhs, rhs, (a[0] + b[0], a[1] + b[1]), np.add)

    def create_sub(self, lhs: Any, rhs: Any) -> Any:
        a, b = bounds_of(lhs), bounds_of(rhs)
        return self._integer(lhs.data - rhs.data, lhs, rhs, (a[0] - b[1], a[1] - b[0]), np.subtract)

    def create_mul(self, lhs: Any, rhs: Any) -> Any:
        a, b = bounds_of(lhs), bounds_of(rhs)
        corners = (a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1])
        return self._integer(lhs.data * rhs.data, lhs, rhs, (min(corners), max(corners)), np.multiply)

    def create_idiv(self, lhs: Any, rhs: Any) -> Any:
        a, b = bounds_of(lhs), bounds_of(rhs)
        if a[0] >= 0 and b[0] > 0:
            result = Handle(lhs.data // rhs.data, lhs.dtype.scalar)
            result.bounds = (a[0] // b[1], a[1] // b[0])
        else:
            result = super().create_idiv(lhs, rhs)
        result.wrapped = lhs.wrapped
        return result

    def create_splat(self, ret_ty: Any, arg: Any) -> Any:
        data = np.empty(tuple(ret_ty.shape), dtype=arg.data.dtype)
        data.fill(arg.data.reshape(-1)[0])
        return _like(Handle(data, arg.dtype.scalar), arg)

    def create_make_range(self, ret_ty: Any, start: int, stop: int) -> Any:
        result = Handle(_range(start, stop), tl.int32)
        result.bounds = (start, stop - 1)
        return result

    def create_select(self, cond: Any, lhs: Any, rhs: Any) -> Any:
        result = Handle(np.where(cond.data, lhs.data, rhs.data), rhs.dtype.scalar)
        result.wrapped = lhs.wrapped or rhs.wrapped
        if lhs.origin is rhs.origin:
            result.origin = lhs.origin
        return result

    # Triton's maximum and minimum pass over NaN unless told otherwise.
    def create_maxnumf(self, lhs: Any, rhs: Any) -> Any:
        return self.binary_op(lhs, rhs, np.fmax)

    def create_minnumf(self, lhs: Any, rhs: Any) -> Any:
        return self.binary_op(lhs, rhs, np.fmin)

    def binary_op(self, lhs: Any, rhs: Any, op: Any) -> Any:
        data = op(lhs.data, rhs.data)
        dtype = lhs.dtype.scalar
        if data.dtype.itemsize > numpy_dtype(dtype).itemsize:
            data = data.astype(numpy_dtype(dtype))
        return Handle(data, dtype)

    # casts

    def cast_impl(self, src: Any, dst_type: Any) -> Any:
        target = dst_type.scalar
        result = Handle(src.data.astype(numpy_dtype(target)), target)
        limits = _LIMITS.get(target.name)
        if limits is not None and src.dtype.scalar.name in _LIMITS:
            result.wrapped = src.wrapped
            if src.bounds is not None and limits[0] <= src.bounds[0] and src.bounds[1] <= limits[1]:
                result.bounds = src.bounds
        return result

    def create_bitcast(self, src: Any, dst_type: Any) -> Any:
        result = Handle(src.data.view(numpy_dtype(dst_type)), dst_type.scalar)
        result.origin = src.origin
        return result

    create_ptr_to_int = create_bitcast

    def create_int_to_ptr(self, src: Any, dst_type: Any) -> Any:
        if (known := memory()) is not None:
            known.foreign = True
        return Handle(src.data.astype(np.uint64), dst_type.scalar)

    # memory

    def create_addptr(self, ptr: Any, offset: Any) -> Any:
        if offset.wrapped:
            raise_overflow(offset)
        width = max(1, ptr.get_element_ty().primitive_bitwidth // 8)
        result = Handle(ptr.data + offset.data.astype(np.uint64) * np.uint64(width), ptr.dtype)
        base, step = bounds_of(ptr), bounds_of(offset)
        result.bounds = (base[0] + step[0] * width, base[1] + step[1] * width)
        result.origin = ptr.origin
        return result

    def _judge(self, ptr: Any, mask: Any, action: str) -> int:
        element = ptr.get_element_ty()
        width: int = numpy_dtype(element).itemsize
        if (known := memory()) is not None:
            known.check(ptr.data, bounds_of(ptr), mask, width, ptr.origin, action, place)
        return width

    def _watch(self, ptr: Any, data: Any) -> Any:
        """Refuse to wait for ever: programs run one after another, so no other one can end the wait."""
        if ptr.data.size == 1:
            seen = (ptr.data.item(), data.item())
            self._looks = self._looks + 1 if seen == self._seen else 0
            self._seen = seen
            if self._looks > _MOST_LOOKS:
                self._seen = None
                raise Unsupported(
                    f"{place()}: this program waits for another one, and without a GPU they run one after another: "
                    "the wait never ends. Split the work into two launches."
                )
        return data

    def create_load(self, ptr: Any, *rest: Any) -> Any:
        self._judge(ptr, None, "load")
        element = ptr.get_element_ty()
        dtype = numpy_dtype(element)
        shape = ptr.data.shape
        data = interpreter._interpreter.load(ptr.data, np.ones(shape, dtype=bool), np.zeros(shape, dtype=dtype), dtype)
        return Handle(self._watch(ptr, data), element)

    def create_masked_load(self, ptrs: Any, mask: Any, other: Any, *rest: Any, **named: Any) -> Any:
        lanes = mask if isinstance(mask, np.ndarray) else mask.data
        self._judge(ptrs, lanes, "load")
        element = ptrs.get_element_ty()
        dtype = numpy_dtype(element)
        fill = np.zeros(ptrs.data.shape, dtype=dtype) if other is None else other.data
        return Handle(interpreter._interpreter.load(ptrs.data, lanes, fill, dtype), element)

    def create_store(self, ptr: Any, val: Any, *rest: Any) -> Any:
        return self.create_masked_store(ptr, val, np.ones(ptr.data.shape, dtype=bool))

    def create_masked_store(self, ptrs: Any, value: Any, mask: Any, *rest: Any) -> Any:
        lanes = mask if isinstance(mask, np.ndarray) else mask.data
        width = self._judge(ptrs, lanes, "store")
        self._seen = None
        if value.data.dtype.itemsize != width:
            raise RuntimeError(f"{place()}: a store of {value.data.dtype} through a pointer to {ptrs.get_element_ty()}")
        return interpreter._interpreter.store(ptrs.data, value.data, lanes)

    def create_atomic_rmw(self, rmwOp: Any, ptr: Any, val: Any, mask: Any, sem: Any, scope: Any) -> Any:
        self._judge(ptr, mask.data, "atomic")
        result = super().create_atomic_rmw(rmwOp, ptr, val, mask, sem, scope)
        self._watch(ptr, result.data)
        return result

    def create_atomic_cas(self, ptr: Any, cmp: Any, val: Any, sem: Any, scope: Any) -> Any:
        self._judge(ptr, None, "atomic")
        result = super().create_atomic_cas(ptr, cmp, val, sem, scope)
        self._watch(ptr, result.data)
        return result

    # the rest

    def create_dot(self, a: Any, b: Any, d: Any, input_precision: Any, max_num_imprecise_acc: Any) -> Any:
        left, right = a.data, b.data
        if left.dtype == np.float32 and input_precision == interpreter._ir.INPUT_PRECISION.TF32:
            left, right = _round_to_tf32(left), _round_to_tf32(right)
        dtype = d.data.dtype
        return Handle(np.matmul(left.astype(dtype), right.astype(dtype)) + d.data, d.dtype.scalar)

    def create_assert(self, condition: Any, message: str) -> None:
        holds = np.asarray(condition.data)
        if not holds.all():
            failing = int(holds.size - np.count_nonzero(holds))
            text = f"{place()}: device_assert failed for {failing:,} of {holds.size:,} lanes"
            raise DeviceAssertion(f"{text}: {message}" if message else text)

    def create_assume(self, condition: Any) -> None:
        if not np.asarray(condition.data).all():
            raise DeviceAssertion(f"{place()}: what tl.assume promises does not hold")

    def create_inline_asm(self, *rest: Any) -> Any:
        raise Unsupported(f"{place()}: inline assembly needs a GPU and cannot be graded without one.")

    def create_extern_elementwise(
        self, libName: str, libPath: str, symbol: str, argList: list[Any], retType: Any, isPure: bool
    ) -> Any:
        from .libdevice import evaluate

        element = retType.scalar
        return Handle(evaluate(symbol, [a.data for a in argList], numpy_dtype(element)), element)


def raise_overflow(handle: Any) -> None:
    raise IntegerOverflow(f"{handle.wrapped}, and the result is used as an offset. Cast to tl.int64 before it.")


def _keeping(method: Any) -> Any:
    """A change of shape that carries the facts of what it changes along."""

    def keeping(self: Any, value: Any, *args: Any) -> Any:
        return _like(method(self, value, *args), value)

    return keeping


def _comparing(ufunc: Any) -> Any:
    def compare(self: Any, lhs: Any, rhs: Any) -> Any:
        return Handle(ufunc(lhs.data, rhs.data), tl.int1)

    return compare


def _tracking(materialize: Any) -> Any:
    """Pointers of a block pointer or a descriptor belong to its base."""

    def tracked(self: Any, *args: Any) -> Any:
        offsets = getattr(self, "offsets", None) or args[0]
        for offset in offsets:
            if getattr(offset, "wrapped", None):
                raise_overflow(offset)
        pointers, mask = materialize(self, *args)
        pointers.origin = getattr(self.base, "origin", None)
        return pointers, mask

    return tracked


def install() -> None:
    """Put the builder and its handles in the place of the interpreter's own."""
    stock = interpreter.InterpreterBuilder
    require(
        stock, "create_add", "create_sub", "create_mul", "create_idiv", "create_make_range", "create_splat",
        "create_select", "create_maxnumf", "create_minnumf", "binary_op", "cast_impl", "create_bitcast",
        "create_ptr_to_int",
        "create_int_to_ptr", "create_addptr", "create_load", "create_masked_load", "create_store",
        "create_masked_store", "create_atomic_rmw", "create_atomic_cas", "create_dot", "create_assert",
        "create_assume", "create_inline_asm", "create_extern_elementwise", *_COMPARISONS, *_SHAPES,
    )  # fmt: skip
    for name, ufunc in _COMPARISONS.items():
        setattr(Builder, name, _comparing(ufunc))
    for name in _SHAPES:
        setattr(Builder, name, _keeping(getattr(stock, name)))
    replace(interpreter, "TensorHandle", Handle)
    replace(interpreter, "_get_np_dtype", numpy_dtype)
    # Block pointers are gone from the interpreter of Triton 3.8.
    for name in ("TensorDescHandle", "BlockPointerHandle"):
        if name == "TensorDescHandle" or hasattr(interpreter, name):
            owner = getattr(interpreter, name)
            replace(owner, "materialize_pointers", _tracking(owner.materialize_pointers))
    builder = Builder()
    replace(interpreter, "interpreter_builder", builder)
    types_once.install()
    replace(interpreter, "interpreter_semantic", types_once.Semantic(builder))
