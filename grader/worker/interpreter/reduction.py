"""`tl.reduce` and `tl.associative_scan` over whole arrays: log2(n) calls of the combine function, not n."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import triton.language as tl
from triton.language import standard
from triton.runtime import interpreter

from .builder import Handle, numpy_dtype
from .faults import Unsupported
from .patching import require
from .rules import unwrap

Arrays = list[Any]

require(
    standard, "_sum_combine", "_prod_combine", "_elementwise_max", "_elementwise_min",
    "_argmax_combine_tie_break_left", "_argmin_combine_tie_break_left",
)  # fmt: skip


def _tensor(data: Any, dtype: Any) -> Any:
    data = np.asarray(data, dtype=numpy_dtype(dtype))
    if not data.ndim:
        return tl.tensor(Handle(data.reshape(1), dtype), dtype)
    return tl.tensor(Handle(data, dtype), tl.block_type(dtype, list(data.shape)))


def _inputs(given: Any, axis: int | None) -> tuple[Any, ...]:
    tensors = tuple(given) if isinstance(given, (tuple, tl.tuple)) else (given,)
    for t in tensors:
        if not isinstance(t, tl.tensor):
            raise ValueError(f"input must be a tensor, got {type(t).__name__}")
        rank = len(t.shape)
        if axis is not None and not -rank <= axis < rank:
            raise ValueError(f"axis {axis} is out of bounds for a tensor of rank {rank}")
    return tensors


def reduce(input: Any, axis: Any, combine_fn: Any, keep_dims: Any = False, **_: Any) -> Any:
    """Stands in for `tl.reduce`: one tensor or a tuple of them, reduced along `axis` or, where it is None, whole."""
    axis, keep_dims = unwrap(axis), unwrap(keep_dims)
    tensors = _inputs(input, axis)
    dtypes = [t.dtype for t in tensors]
    arrays = [t.handle.data for t in tensors]
    rank = arrays[0].ndim
    along = 0 if axis is None else axis
    if axis is None:
        arrays = [a.reshape(-1) for a in arrays]
    results = _quick_reduce(arrays, along, combine_fn)
    if results is None:
        results = _tree([np.moveaxis(a, along, -1) for a in arrays], dtypes, combine_fn)
    if keep_dims:
        results = [r.reshape((1,) * rank) if axis is None else np.expand_dims(r, axis) for r in results]
    made = [_tensor(r, dtype) for r, dtype in zip(results, dtypes, strict=True)]
    return tuple(made) if isinstance(input, (tuple, tl.tuple)) else made[0]


def _quick_reduce(arrays: Arrays, axis: int, combine: Any) -> Arrays | None:
    """The reductions of Triton's standard library, by NumPy's own."""
    values = arrays[0]
    if combine is standard._sum_combine:
        return [values.sum(axis=axis, dtype=values.dtype)]
    if combine is standard._elementwise_max:
        return [np.fmax.reduce(values, axis=axis)]
    if combine is standard._elementwise_min:
        return [np.fmin.reduce(values, axis=axis)]
    places = {
        standard._argmax_combine_tie_break_left: np.argmax, standard._argmin_combine_tie_break_left: np.argmin,
    }.get(combine)  # fmt: skip
    if places is None or (values.dtype.kind == "f" and np.isnan(values).any()):
        return None
    chosen = np.expand_dims(places(values, axis=axis), axis)
    return [np.take_along_axis(a, chosen, axis).squeeze(axis) for a in arrays]


def _tree(arrays: Arrays, dtypes: list[Any], combine: Any) -> Arrays:
    """Neighbours are combined, in order, until one element is left along the last axis."""
    while arrays[0].shape[-1] > 1:
        arrays = _combine([a[..., 0::2] for a in arrays], [a[..., 1::2] for a in arrays], dtypes, combine)
    return [a[..., 0] for a in arrays]


def _combine(left: Arrays, right: Arrays, dtypes: list[Any], combine: Any) -> Arrays:
    try:
        return _apply(combine, left, right, dtypes)
    except Unsupported:
        # A combine function may branch on its scalars, which whole arrays cannot.
        made = [np.empty(a.shape, dtype=a.dtype) for a in left]
        for at in np.ndindex(left[0].shape):
            for out, value in zip(made, _apply(combine, [a[at] for a in left], [a[at] for a in right], dtypes),
                                  strict=True):  # fmt: skip
                out[at] = value.reshape(-1)[0]
        return made


def _apply(combine: Callable[..., Any], left: Arrays, right: Arrays, dtypes: list[Any]) -> Arrays:
    operands = [_tensor(a, dtype) for side in (left, right) for a, dtype in zip(side, dtypes, strict=True)]
    result = combine(*operands)
    results = tuple(result) if isinstance(result, (tuple, tl.tuple)) else (result,)
    if len(results) != len(dtypes):
        raise ValueError(f"the combine function returned {len(results)} values where {len(dtypes)} were given")
    semantic = interpreter.interpreter_semantic
    shape = left[0].shape
    made = []
    for value, dtype in zip(results, dtypes, strict=True):
        data = semantic.cast(semantic.to_tensor(value), dtype).handle.data
        made.append(np.broadcast_to(data, shape) if shape else data)
    return made


def scan(input: Any, axis: Any, combine_fn: Any, reverse: Any = False, **_: Any) -> Any:
    """Stands in for `tl.associative_scan`: the inclusive scan along `axis`, from its end where `reverse`."""
    axis = unwrap(axis)
    tensors = _inputs(input, axis)
    dtypes = [t.dtype for t in tensors]
    arrays = [np.moveaxis(t.handle.data, axis, -1) for t in tensors]
    if unwrap(reverse):
        arrays = [a[..., ::-1] for a in arrays]
    if combine_fn is standard._sum_combine:
        arrays = [np.cumsum(arrays[0], axis=-1, dtype=arrays[0].dtype)]
    elif combine_fn is standard._prod_combine:
        arrays = [np.cumprod(arrays[0], axis=-1, dtype=arrays[0].dtype)]
    else:
        arrays = _doubling(arrays, dtypes, combine_fn)
    if unwrap(reverse):
        arrays = [a[..., ::-1] for a in arrays]
    made = [_tensor(np.moveaxis(a, -1, axis), dtype) for a, dtype in zip(arrays, dtypes, strict=True)]
    return tuple(made) if isinstance(input, (tuple, tl.tuple)) else made[0]


def _doubling(arrays: Arrays, dtypes: list[Any], combine: Any) -> Arrays:
    """Each element takes in the one `step` before it, for steps 1, 2, 4, ..."""
    size = arrays[0].shape[-1]
    lanes = np.arange(size)
    step = 1
    while step < size:
        earlier = [np.roll(a, step, axis=-1) for a in arrays]
        combined = _combine(earlier, arrays, dtypes, combine)
        arrays = [np.where(lanes >= step, c, a) for c, a in zip(combined, arrays, strict=True)]
        step *= 2
    return arrays
