"""What a submission may use beside its own kernels: names in the source, operators at run time. Data and lookups.

Names outside a kernel are free when they allocate, view, describe or configure; they are forbidden when they compute
or leave the process. Names that honest code may use in both ways (`.sum()`, `.to()`) are left to the run-time record.
"""

from __future__ import annotations

import re
from collections.abc import Set

from grader.judge.policy import modules


def _words(text: str, prefix: str = "") -> frozenset[str]:
    return frozenset(prefix + word for word in text.split())


DTYPE = re.compile(r"(b?float|u?int|q?u?int|complex|bits)\d+(_\w+)?|half|float|double|bfloat16|short|int|long|bool|"
                   r"cfloat|cdouble|chalf")

ALLOCATING = _words("""
empty empty_like empty_strided empty_permuted zeros zeros_like ones ones_like full full_like tensor scalar_tensor
as_tensor asarray arange rand rand_like randn randn_like randint randint_like randperm manual_seed seed
""")
VIEWING = _words("""
t transpose permute reshape view squeeze unsqueeze flatten unflatten ravel narrow select as_strided swapaxes swapdims
movedim moveaxis broadcast_to split chunk unbind tensor_split diagonal numel
""")
DESCRIBING = _words("""
Tensor Size dtype device layout strided memory_format contiguous_format preserve_format channels_last Generator
Stream Event finfo iinfo is_tensor is_floating_point is_complex is_same_size is_nonzero is_contiguous typename version
__version__ __file__ __name__ inf nan pi e newaxis promote_types result_type can_cast broadcast_shapes
get_default_dtype set_default_dtype get_default_device set_default_device get_device_module set_printoptions
set_float32_matmul_precision get_float32_matmul_precision get_num_threads set_num_threads initial_seed
no_grad enable_grad inference_mode set_grad_enabled is_grad_enabled is_inference_mode_enabled
FloatTensor HalfTensor BFloat16Tensor IntTensor LongTensor BoolTensor OutOfMemoryError types
_assert _check
""")
# Attributes of torch, all of whose own attributes are free, and the few of them that are not.
TORCH_FREE_BELOW = (
    "torch.cuda", "torch.xpu", "torch.accelerator", "torch.backends", "torch.profiler", "torch.version",
    "torch.autograd.profiler", "torch.autograd.Function", "torch.autograd.function.Function",
    "torch.autograd.function.FunctionCtx", "torch.autograd.function.once_differentiable", "torch.nn.Module",
    "torch.nn.Parameter", "torch.amp", "torch.mps", "torch.random", "torch.types", "torch.utils._triton",
    "torch.compiler.disable", "torch.compiler.is_compiling", "torch.autograd.set_detect_anomaly",
    "torch.autograd.no_grad", "torch.autograd.grad_mode", "torch.library.wrap_triton",
)  # fmt: skip
TORCH_NOT_BELOW = (
    "torch.cuda.CUDAGraph", "torch.cuda.graph", "torch.cuda.graphs", "torch.cuda.make_graphed_callables",
    "torch.cuda.cudart", "torch.cuda.comm", "torch.cuda.nccl", "torch.cuda.jiterator", "torch.cuda._compile_kernel",
    "torch.cuda.CUDAPluggableAllocator", "torch.cuda.memory.CUDAPluggableAllocator", "torch.mps.compile_shader",
)  # fmt: skip
# The names with an underscore that people use all the same; `torch._C` reaches everything.
TORCH_PRIVATE = _words("_assert _check _triton _sleep _lazy_init")
# What computes, and nothing else: free in a test that the file runs at import. Not so what loads, finds or runs text.
TORCH_COMPUTING = _words("nn linalg special fft testing ops Tensor sparse distributions")
TORCH_LOADING = _words("load save hub package serialization utils library fx export onnx overrides storage classes "
                       "distributed multiprocessing monitor futures ao func from_file from_dlpack frombuffer")

# What of Triton writes kernels, launches them and measures them. Not its interpreter, nor what compiles given text.
TRITON_FREE = (
    "triton.language", "triton.jit", "triton.autotune", "triton.heuristics", "triton.Config", "triton.cdiv",
    "triton.next_power_of_2", "triton.constexpr_function", "triton.set_allocator", "triton.testing", "triton.knobs",
    "triton.errors", "triton.TritonError", "triton.OutOfResources", "triton.InterpreterError", "triton.JITFunction",
    "triton.KernelInterface", "triton.reinterpret", "triton.TensorWrapper", "triton.__version__", "triton.__file__",
    "triton.tools",
    "triton.experimental", "triton.compiler.errors", "triton.compiler.CompilationError",
    "triton.compiler.CompiledKernel", "triton.runtime.driver", "triton.runtime.errors", "triton.runtime.OutOfResources",
    "triton.runtime.InterpreterError", "triton.runtime.autotuner", "triton.runtime.Autotuner",
    "triton.runtime.Heuristics", "triton.runtime.Config", "triton.runtime.JITFunction",
    "triton.runtime.KernelInterface", "triton.runtime.jit.JITFunction", "triton.runtime.jit.KernelInterface",
    "triton.runtime.jit.jit", "triton.runtime.reinterpret", "triton.runtime.TensorWrapper", "triton.profiler.start",
    "triton.profiler.scope", "triton.profiler.finalize",
)  # fmt: skip
TRITON_NOT_BELOW = ("triton.tools.compile", "triton.tools.link", "triton.tools.build_extern", "triton.tools.disasm",
                    "triton.runtime.driver.active.utils.load_binary", "triton.runtime.driver.active.launcher_cls")
# Modules named on the way to something else; handing one on as a value hides what is used of it.
MODULES = _words("""
torch torch.nn torch.nn.functional torch.nn.modules torch.ops torch.ops.aten torch.autograd torch.utils torch.linalg
torch.special torch.fft torch.jit torch.compiler torch.library numpy numpy.linalg
""")

NUMPY = _words("""
prod ceil floor trunc rint round log log2 log10 sqrt cbrt abs absolute sign maximum minimum max min power gcd lcm mod
isnan isinf isfinite isscalar array arange zeros ones empty full zeros_like empty_like random set_printoptions
dtype finfo iinfo ndarray generic number integer floating signedinteger unsignedinteger inexact bool_ intp
float16 float32 float64 half single double int8 int16 int32 int64 uint8 uint16 uint32 uint64 typing
inf nan pi e newaxis __version__ errstate seterr
""")
# What of NumPy loads, maps memory or runs text; the other names compute.
NUMPY_LOADING = _words("""
load loads save savez savez_compressed fromfile tofile memmap loadtxt savetxt genfromtxt fromregex DataSource f2py
ctypeslib distutils lib core compat rec char strings test from_dlpack frombuffer lookfor source info show_config
deprecate exceptions dtypes matrixlib emath ma
""")

# Never the name of a method on what honest host code handles beside tensors.
TENSOR_METHODS = _words("""
mm bmm matmul addmm addmm_ addbmm baddbmm addmv mv ger outer einsum sigmoid sigmoid_ silu softmax log_softmax tanh tanh_
relu relu_ gelu exp exp_ exp2 sqrt sqrt_ rsqrt rsqrt_ reciprocal reciprocal_ square square_ pow pow_ norm
mul mul_ multiply multiply_ div div_ divide divide_ true_divide true_divide_ add_ sub_ subtract subtract_ neg neg_
negative negative_ addcmul addcmul_ addcdiv addcdiv_ lerp lerp_ copy_ clone clamp clamp_ clamp_min clamp_max
index_copy_ index_add_ index_put_ index_select index_fill_ scatter_ scatter_add_ gather masked_fill masked_fill_
masked_scatter_ masked_select put_ take_along_dim nan_to_num nan_to_num_ cumsum float_power apply_ map_ map2_ logsumexp
numpy __array__ __dlpack__ __cuda_array_interface__
__matmul__ __rmatmul__ __imatmul__ __mul__ __rmul__ __imul__ __add__ __radd__ __iadd__ __sub__ __rsub__ __isub__
__truediv__ __rtruediv__ __itruediv__ __pow__ __rpow__ __neg__
""")
# Ways to write a copy; each needs its operator among the assignment's.
COPY_NAMES = {"copy_": "aten::copy_", "clone": "aten::clone"}

COMPUTING_MODULES = _words("""
scipy cupy cupyx numba jax jaxlib tensorflow sklearn xformers flash_attn liger_kernel apex unsloth vllm flag_gems
triton_kernels cutlass cutlass_library tilelang bitsandbytes torchao torchvision torchaudio nvmath pycuda warp
transformer_engine cuda mlx taichi tvm thrust deep_gemm sgl_kernel aiter onnxruntime keras tinygrad
""")
# Attributes that lead from an object to the interpreter's insides, or from an address to an array.
INSIDES = _words("""
__mro__ mro __bases__ __base__ __subclasses__ __globals__ __code__ __closure__ __builtins__ __self__ __func__
__loader__ __spec__ __package__ __path__ __annotations__ __defaults__ __kwdefaults__ __dataclass_fields__
__getattribute__ __reduce__ __reduce_ex__ __getstate__ __match_args__ cell_contents tb_frame f_back f_locals f_globals
f_builtins f_code gi_frame gi_code cr_frame cr_code ag_frame ag_code __array_interface__ __array_struct__
__triton_builtin__ __torch_dispatch__ _disable_current_modes _DisableTorchDispatch load_module
exec_module create_module
""")
# Names of a file's own module that say how Python runs it, or finds what it imports.
OF_MODULE = _words("__builtins__ __loader__ __spec__ __package__ __path__ __class__")
# Attributes of a library's objects that lead to a file, to a module, or to the interpreter's arrays. A class of the
# student's may have its own.
OF_FILES = _words("open read_bytes write_bytes read_text write_text symlink_to hardlink_to fileno fdopen")
LEADING = modules.LEADING | OF_FILES | {"_C", "handle"}
# Methods that hand out a tensor's memory, whether they are called at once or kept.
READING = _words("numpy __array__ __dlpack__")
# What finds something by a name; as a value, what it finds cannot be read.
FINDING = (_words("getattr setattr delattr open vars globals locals", "builtins.")
           | _words("operator.attrgetter operator.methodcaller importlib.import_module"))
EVALUATING = frozenset({"exec", "eval", "compile", "__import__", "__builtins__", "breakpoint", "help"})

_COMPUTES = "Computing is the work of your own Triton kernels; outside them only allocation and views are free."
_ESCAPES = "A submission needs nothing outside its own process, PyTorch's allocation and Triton."
_OF_TORCH = "Of PyTorch, a kernel file needs what allocates, views and describes tensors, and torch.cuda."
_OF_TRITON = "Of Triton, a kernel file needs its language, jit, autotune, Config, its settings and triton.testing."
_NUMPY_COMPUTES = "NumPy may work out sizes; the answer is the work of your own Triton kernels."
_READY_MADE = "A ready-made kernel is not your own."
_COMPILES = "PyTorch's compilers write the kernel for you; it is to be your own."
METHOD_COMPUTES = "Computing and copying is the work of your own Triton kernels, not of PyTorch or NumPy."
MATMUL_COMPUTES = "A matrix product outside a kernel is computed by PyTorch."
# What is free in code whose results the graded function cannot use, such as a test.
ONLY_COMPUTE = frozenset({_COMPUTES, _NUMPY_COMPUTES, _READY_MADE, _COMPILES, METHOD_COMPUTES, MATMUL_COMPUTES})


def why_not(name: str, operators: Set[str], own: str = "") -> str | None:
    """Why host code may not use a fully dotted name (`torch.nn.functional.silu`), or None where it may.

    `operators` are those the assignment allows beyond allocation and views, `own` is the name of the file's own module.
    """
    name = modules.real_name(name)
    root, _, rest = name.partition(".")
    first = rest.partition(".")[0]
    if root == "builtins":
        return f"`{first}` runs text that cannot be read beforehand." if first in EVALUATING else None
    if _below(name, ("sys.modules",)):
        return "A module looked up at run time hides what is used."
    if root == "torch":
        return _why_not_torch(name, rest, operators)
    if root == "numpy":
        return _why_not_numpy(name, rest)
    if root in ("operator", "_operator") and first in ("matmul", "imatmul"):
        return _COMPUTES
    if root == "triton":
        if first == "ops":
            return _READY_MADE
        private = any(part.startswith("_") and part not in ("__version__", "__file__") for part in rest.split("."))
        free = not rest or name in modules.TRITON_MODULES or (
            _below(name, TRITON_FREE) and not _below(name, TRITON_NOT_BELOW) and not private)
        return None if free else _OF_TRITON
    if root in COMPUTING_MODULES:
        return f"`{root}` computes instead of your own Triton kernels."
    return modules.why_not_module(name, own)


def _why_not_torch(name: str, rest: str, operators: Set[str]) -> str | None:
    if not rest or name in MODULES:
        return None
    parts = rest.split(".")
    if any(part.startswith("_") and not part.startswith("__") and part not in TORCH_PRIVATE for part in parts):
        return _ESCAPES
    if parts[0] == "Tensor":
        if len(parts) > 1 and parts[1] in TENSOR_METHODS and COPY_NAMES.get(parts[1]) not in operators:
            return _COMPUTES
        return None
    if parts[0] in ALLOCATING or parts[0] in VIEWING or parts[0] in DESCRIBING or DTYPE.fullmatch(parts[0]):
        return None
    if COPY_NAMES.get(parts[0]) in operators:
        return None
    if _below(name, TORCH_FREE_BELOW) and not _below(name, TORCH_NOT_BELOW):
        return None
    if name in ("torch.compile", "torch.jit.script", "torch.jit.trace"):
        return _COMPILES
    if parts[0] in TORCH_COMPUTING or (len(parts) == 1 and parts[0] not in TORCH_LOADING):
        return _COMPUTES
    return _OF_TORCH


def _why_not_numpy(name: str, rest: str) -> str | None:
    parts = rest.split(".")
    if not rest or parts[0] in NUMPY or name in MODULES or name == "numpy.testing":
        return None
    if any(part.startswith("_") for part in parts) or parts[0] in NUMPY_LOADING:
        return _ESCAPES
    if parts[0] == "testing" and not parts[1].startswith("assert_"):
        return _ESCAPES
    return _NUMPY_COMPUTES


def _below(name: str, prefixes: tuple[str, ...]) -> bool:
    return any(name == prefix or name.startswith(prefix + ".") for prefix in prefixes)


def method_allowed(name: str, operators: Set[str]) -> bool:
    """Whether host code may call a method of this name on an object that the source does not tell the type of."""
    return name not in TENSOR_METHODS or COPY_NAMES.get(name) in operators


def may_set(name: str) -> bool:
    """Whether a submission may assign to an attribute of a library: settings, not functions."""
    return _below(name, ("torch.backends", "triton.knobs", "torch.nn.Module", "torch.autograd.Function"))


def is_module(name: str) -> bool:
    """Whether a dotted name is a module, which as a value would hide what is used of it."""
    return name in MODULES or modules.is_module(name)


# As a dispatch mode sees them. `lift_fresh` is the end of torch.tensor(...); `detach` and `alias` are views.
ALLOCATING_OPERATORS = _words("""
empty empty_like empty_strided empty_permuted new_empty new_empty_strided zeros zeros_like new_zeros ones ones_like
new_ones full full_like new_full zero_ zero fill_ scalar_tensor arange lift_fresh lift lift_fresh_copy
rand rand_like randn randn_like randint randint_like randperm uniform_ normal_ random_
set_ record_stream is_pinned requires_grad_ is_same_size
""", "aten::")
VIEWING_OPERATORS = _words("""
view view_as _unsafe_view reshape _reshape_alias as_strided as_strided_ t t_ transpose transpose_ permute numpy_T
slice select unsqueeze unsqueeze_ squeeze squeeze_ expand expand_as narrow split split_with_sizes chunk unbind
diagonal unfold movedim swapaxes swapaxes_ swapdims swapdims_ unflatten flatten detach detach_ alias
size stride numel dim storage_offset is_contiguous sym_size sym_stride sym_numel sym_storage_offset device layout
""", "aten::") | {"prim::device", "prim::layout"}
FREE_OPERATORS = ALLOCATING_OPERATORS | VIEWING_OPERATORS
# Ways from a tensor to its values in Python, as the record names them.
EXITS = _words("numpy tolist __dlpack__ untyped_storage storage str")
# Accumulators and scratch need a few; thousands are an answer written from Python one element at a time.
MANY_FILLS = 64
