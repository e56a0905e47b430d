"""PyTorch's operators: those that need no numbers, those that are recorded, and reasons to refuse the others.

Names are those of the dispatcher, without `aten::` and overload: see aten/src/ATen/native/native_functions.yaml.
"""

from __future__ import annotations

from grader.plan.messages import Refusal

VIEWS = frozenset({
    "view", "_unsafe_view", "reshape", "_reshape_alias", "view_as", "reshape_as", "flatten", "unflatten", "ravel",
    "t", "t_", "transpose", "transpose_", "permute", "movedim", "moveaxis", "swapaxes", "swapdims", "numpy_T", "mT",
    "adjoint", "slice", "select", "narrow", "split", "split_with_sizes", "unsafe_split", "unsafe_split_with_sizes",
    "chunk", "unsafe_chunk", "tensor_split", "unbind", "unfold", "squeeze", "squeeze_", "unsqueeze", "unsqueeze_",
    "expand", "expand_as", "broadcast_to", "detach", "detach_", "alias", "as_strided", "as_strided_", "diagonal",
    "requires_grad_", "_has_compatible_shallow_copy_type", "is_same_size", "sym_size", "sym_stride", "sym_numel",
    "sym_storage_offset", "size", "stride", "dim", "is_contiguous", "resolve_conj", "resolve_neg", "conj", "_conj",
})  # fmt: skip
ALLOCATIONS = frozenset({
    "empty", "empty_strided", "empty_permuted", "empty_like", "new_empty", "new_empty_strided"})
FILLED = {
    "zeros": 0, "zeros_like": 0, "new_zeros": 0, "ones": 1, "ones_like": 1, "new_ones": 1, "full": None,
    "full_like": None, "new_full": None,
}
"""Allocations with one value in all elements; None if the value is the second or third argument."""
CONSTANTS = frozenset({
    "arange", "linspace", "logspace", "eye", "scalar_tensor", "tril_indices", "triu_indices"})

_REFUSED: dict[Refusal, frozenset[str]] = {
    "matmul": frozenset({
        "mm", "bmm", "addmm", "baddbmm", "matmul", "linear", "einsum", "mv", "addmv", "dot", "vdot", "inner", "outer",
        "tensordot", "addbmm", "_scaled_mm", "_int_mm", "convolution", "conv2d", "scaled_dot_product_attention",
        "linalg_matmul", "chain_matmul", "multi_dot", "kron", "ger", "addr", "bilinear", "addmm_",
    }),
    "reduction": frozenset({
        "sum", "mean", "max", "min", "amax", "amin", "aminmax", "argmax", "argmin", "prod", "var", "std", "var_mean",
        "std_mean", "norm", "linalg_vector_norm", "linalg_norm", "cumsum", "cumprod", "logsumexp", "all", "any",
        "count_nonzero", "median", "mode", "nansum", "nanmean", "dist", "trace", "softmax", "_softmax", "log_softmax",
        "layer_norm", "native_layer_norm", "rms_norm", "_fused_rms_norm", "group_norm", "batch_norm", "histc",
    }),
    "comparison": frozenset({
        "eq", "ne", "lt", "le", "gt", "ge", "equal", "isclose", "allclose", "isnan", "isinf", "isfinite", "not_equal",
        "less", "less_equal", "greater", "greater_equal", "is_nonzero", "isin", "assert_close",
    }),
    "random": frozenset({
        "rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like", "normal", "bernoulli",
        "multinomial", "dropout", "native_dropout", "poisson", "normal_", "uniform_", "random_", "bernoulli_",
        "exponential_", "geometric_", "cauchy_", "log_normal_",
    }),
    "gather": frozenset({
        "index", "index_put", "index_put_", "_index_put_impl_", "index_select", "gather", "scatter", "scatter_",
        "scatter_add", "scatter_add_", "scatter_reduce", "index_add", "index_add_", "index_copy", "index_copy_",
        "index_fill", "index_fill_", "masked_select", "masked_fill", "masked_fill_", "masked_scatter_", "nonzero",
        "take", "take_along_dim", "where", "sort", "argsort", "topk", "unique", "embedding", "searchsorted",
    }),
    "copy": frozenset({
        "clone", "copy_", "copy", "_to_copy", "cat", "concat", "stack", "hstack", "vstack", "repeat", "tile", "flip",
        "roll", "rot90", "repeat_interleave", "constant_pad_nd", "pad", "contiguous", "lift_fresh_copy", "tril",
        "triu", "_pin_memory", "diag", "meshgrid",
    }),
    "read_number": frozenset({"_local_scalar_dense", "item"}),
    "resize": frozenset({"resize_", "resize_as_", "resize"}),
    "set_data": frozenset({"set_", "set_data"}),
}  # fmt: skip

_READABLE = {"_local_scalar_dense": "item", "_to_copy": "aten::to"}


def refusal(called: str, name: str) -> tuple[Refusal, str]:
    """Return why an operator that needs or makes numbers is refused, and its readable name. `called` is the operator
    that the student called, `name` the one that it became."""
    in_place = name.endswith("_") and not name.startswith("_")
    return _reason(called) or _reason(name) or ("in_place" if in_place else "arithmetic"), readable(called)


def _reason(name: str) -> Refusal | None:
    return next((reason for reason, names in _REFUSED.items() if name in names), None)


def readable(name: str) -> str:
    """Return an operator's name as the student knows it: `aten::mul`, `item`."""
    return _READABLE.get(name, f"aten::{name}")
