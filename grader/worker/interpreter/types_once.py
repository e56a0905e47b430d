"""Triton's type machinery, remembered: most of the stock interpreter's time goes into making equal types again.

Types and small constants are made once and shared; nothing in the language changes one after it is made.
"""

from __future__ import annotations

from typing import Any

import triton.language as tl
from triton.language.semantic import TritonSemantic

from .patching import replace, require

# Element types for which two equal operands need no promotion, whatever the operator.
_PLAIN = frozenset({"int1", "int32", "int64", "fp32", "fp64"})
_MOST_CONSTANTS = 4096
_TEMPLATE = "_kernelmark_template"
_INT32 = (-(2**31), 2**31 - 1)


class Semantic(TritonSemantic):  # type: ignore[misc]
    """Triton's own rules, with a short way for the cases that they leave unchanged."""

    def __init__(self, builder: Any) -> None:
        super().__init__(builder)
        self._constants: dict[tuple[type, Any, str], Any] = {}
        self._broadcasts: dict[tuple[int, int], tuple[Any, Any]] = {}

    def scalar_constant(self, value: Any, dtype: Any) -> Any:
        if dtype is None or type(value) not in (int, float, bool) or value != value:
            return super().scalar_constant(value, dtype)
        key = (type(value), value, dtype.name)
        found = self._constants.get(key)
        if found is None:
            found = super().scalar_constant(value, dtype)
            if len(self._constants) < _MOST_CONSTANTS:
                self._constants[key] = found
        return found

    def binary_op_type_checking_impl(self, lhs: Any, rhs: Any, *args: Any, **named: Any) -> Any:
        left, right = type(lhs) is tl.tensor, type(rhs) is tl.tensor
        if left and right:
            if lhs.dtype is rhs.dtype and lhs.dtype.name in _PLAIN:
                return self.broadcast_impl_value(lhs, rhs)
        elif left and _fits(rhs, lhs.dtype):
            return self.broadcast_impl_value(lhs, self.scalar_constant(rhs, lhs.dtype))
        elif right and _fits(lhs, rhs.dtype):
            return self.broadcast_impl_value(self.scalar_constant(lhs, rhs.dtype), rhs)
        return super().binary_op_type_checking_impl(lhs, rhs, *args, **named)

    def broadcast_impl_value(self, lhs: Any, rhs: Any) -> Any:
        a, b = lhs.type, rhs.type
        if a is b:
            return lhs, rhs
        key = (id(a), id(b))
        known = self._broadcasts.get(key)
        if known is None:
            left, right = super().broadcast_impl_value(lhs, rhs)
            if a.is_block() and b.is_block() and len(a.shape) == len(b.shape):
                # Block types are kept for good, so that their identities stay theirs.
                self._broadcasts[key] = (
                    None if tuple(left.type.shape) == tuple(a.shape) else left.type,
                    None if tuple(right.type.shape) == tuple(b.shape) else right.type,
                )
            return left, right
        return _spread(self, lhs, known[0]), _spread(self, rhs, known[1])


def _spread(semantic: Any, value: Any, target: Any) -> Any:
    if target is None:
        return value
    return tl.tensor(semantic.builder.create_broadcast(value.handle, target.shape), target)


def _fits(number: Any, dtype: Any) -> bool:
    """Whether a Python number takes the tensor's type as it is."""
    kind, name = type(number), dtype.name
    if kind is int and name == "int32":
        return bool(_INT32[0] <= number <= _INT32[1])
    return kind in (int, float) and name == "fp32"


def install() -> None:
    """Make block types once for each element type and shape, and tensors from what their type is known to give."""
    require(TritonSemantic, "scalar_constant", "binary_op_type_checking_impl", "broadcast_impl_value")
    block_type = tl.core.block_type
    types: dict[tuple[Any, ...], Any] = {}
    make_type = block_type.__init__

    def new(cls: Any, element_ty: Any = None, shape: Any = (), *rest: Any, **named: Any) -> Any:
        if cls is not block_type:
            return object.__new__(cls)
        sizes = tuple(shape)
        if not all(type(s) is int for s in sizes):
            sizes = tuple(tl.core._unwrap_if_constexpr(s) for s in sizes)
            if not all(type(s) is int for s in sizes):
                make_type(object.__new__(cls), element_ty, list(sizes))
        key = (type(element_ty), element_ty.name, sizes)
        found = types.get(key)
        if found is None:
            found = object.__new__(cls)
            make_type(found, element_ty, list(sizes))
            types[key] = found
        return found

    def init(self: Any, *args: Any, **named: Any) -> None:
        if type(self) is not block_type:
            make_type(self, *args, **named)

    block_type.__new__ = staticmethod(new)
    replace(block_type, "__init__", init)

    make_tensor = tl.core.tensor.__init__

    def tensor_init(self: Any, handle: Any, type: Any) -> None:
        template = type.__dict__.get(_TEMPLATE)
        if template is None:
            make_tensor(self, None, type)
            template = dict(self.__dict__)
            setattr(type, _TEMPLATE, template)
        self.__dict__.update(template)
        self.handle = handle

    replace(tl.core.tensor, "__init__", tensor_init)
