"""Triton's private interfaces: no other file uses them.

No version promises them. If a version changes one, this file fails when the fork server imports it, or plans and
compiles a kernel of ours (`planner/rehearsal.py`, `compiler/main.py`); the report is one line that names the version.
"""

from __future__ import annotations

import ast
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from typing import Any

import triton
from triton import knobs
from triton._C.libtriton import ir, nvidia, passes
from triton.backends.compiler import GPUTarget, Language
from triton.backends.driver import DriverBase
from triton.backends.nvidia.compiler import get_ptx_version_from_options, get_ptxas, sm_arch_from_capability
from triton.backends.nvidia.driver import ty_to_cpp
from triton.compiler import ASTSource, make_backend
from triton.compiler.compiler import CompiledKernel, filter_traceback
from triton.compiler.errors import CompilationError, CompileTimeAssertionFailure
from triton.language.core import constexpr
from triton.runtime import _allocation
from triton.runtime.autotuner import Autotuner
from triton.runtime.errors import OutOfResources
from triton.runtime.jit import JITCallable
from triton.tools.tensor_descriptor import TensorDescriptor

__all__ = [
    "ASTSource", "CompilationError", "CompileTimeAssertionFailure", "CompiledKernel", "DriverBase", "GPUTarget",
    "OutOfResources", "constexpr", "filter_traceback", "make_backend", "ty_to_cpp",
]
def target_of(capability: int) -> GPUTarget:
    """Return Triton's target for a compute capability: 90 is sm_90."""
    return GPUTarget("cuda", capability, 32)


# Kernels of Python: triton/runtime/jit.py.


def definition(fn: Any) -> int:
    """Return the line of a kernel's `def`."""
    return int(fn.starting_line_number) + next(
        (index for index, line in enumerate(fn.raw_src) if line.lstrip().startswith("def ")), 0)


def file_of(fn: Any) -> str:
    """Return the file that defines a kernel."""
    return str(fn.fn.__code__.co_filename)


def is_gluon(fn: Any) -> bool:
    return bool(fn.is_gluon())


def check_names(fn: Any) -> None:
    """Check the global names that a kernel uses. Raises Triton's error for a name whose value may change unseen."""
    fn.cache_key  # noqa: B018


def parse_once() -> None:
    """Make Triton parse each source once, instead of at every call of a helper in a kernel."""
    parse = JITCallable.parse
    trees: dict[str, ast.Module] = {}

    def parsed(self: Any) -> ast.Module:
        if self._src not in trees:
            trees[self._src] = parse(self)
        return trees[self._src]

    JITCallable.parse = parsed


def allocate(size: int, alignment: int, stream: Any) -> None:
    """Ask the student's allocator for a kernel's scratch memory."""
    _allocation._allocator.get()(size, alignment, stream)


# From text to text: triton/compiler/compiler.py, triton/backends/nvidia/compiler.py.


def context_of(backend: Any) -> Any:
    """Make an MLIR context with Triton's dialects. That takes as long as lowering a small kernel."""
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    return context


def lower(src: ASTSource, options: Any, target: GPUTarget, context: Any) -> Any:
    """Return the module of Triton's front end, before any pass."""
    backend = make_backend(target)
    return src.make_ir(target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context)


def diagnostics(making: Callable[[], Any], context: Any) -> str:
    """Return MLIR's diagnostics about a module that `making` fails to make. MLIR writes them to standard error."""
    context.printOpOnDiagnostic(False)
    reading, writing = os.pipe2(os.O_CLOEXEC)
    kept = os.dup(2)
    os.dup2(writing, 2)
    os.close(writing)
    try:
        with suppress(RuntimeError), redirect_stdout(io.StringIO()):
            making()
    finally:
        os.dup2(kept, 2)
        os.close(kept)
    with os.fdopen(reading, errors="replace") as text:
        return text.read()


def parse(path: str, context: Any) -> Any:
    """Read the module in a file. Raises RuntimeError for a text that Triton does not take."""
    module = ir.parse_mlir_module(path, context)
    module.context = context
    return module


def stages(
    backend: Any, options: Any, language: Any = Language.TRITON,
) -> dict[str, Callable[[Any, dict[str, Any]], Any]]:
    """Return the stages that a module goes through, by name and in order; each may add to the metadata."""
    by_name: dict[str, Callable[[Any, dict[str, Any]], Any]] = {}
    backend.add_stages(by_name, options, language)
    return by_name


def lowered(
    module: Any, options: Any, target: GPUTarget, language: Any, last: str = "ptx",
) -> tuple[dict[str, str], dict[str, Any]]:
    """Return a module's texts after each stage up to `last`, and the metadata. No assembler is asked for its version.
    """
    # The newest version that every LLVM and assembler knows, or the first that has the target.
    object.__setattr__(options, "ptx_version", 86 if target.arch < 120 else 88)
    texts: dict[str, str] = {}
    metadata: dict[str, Any] = {}
    with with_lines():
        for name, make in stages(make_backend(target), options, language).items():
            module = make(module, metadata)
            texts[name] = str(module)
            if name == last:
                break
    return texts, metadata


@contextmanager
def with_lines() -> Iterator[None]:
    """Keep line numbers of the source in the stages that run inside the block."""
    with knobs.compilation.scope():
        knobs.compilation.disable_line_info = False
        yield


def shared_memory(module: Any, options: Any, capability: int) -> int:
    """Return the bytes of shared memory that a program of a module takes. The module has gone through the stage "ttgir"
    and may go through no other stage afterwards.

    The passes are the first ones of Triton's next stage, up to the pass that gives each tensor its place: see
    `make_llir`.
    """
    manager = ir.pass_manager(module.context)
    passes.ttgpuir.add_combine_tensor_select_and_if(manager)
    try:
        passes.ttgpuir.add_allocate_warp_groups(manager)
    except TypeError:
        # Triton 3.9 asks whether a sanitizer of concurrency follows.
        passes.ttgpuir.add_allocate_warp_groups(manager, False)
    passes.convert.add_scf_to_cf(manager)
    passes.gluon.add_inliner(manager)
    version = get_ptx_version_from_options(options, capability)
    nvidia.passes.ttgpuir.add_allocate_shared_memory_nv(manager, capability, version)
    manager.run(module, "shared_memory")
    return int(module.get_int_attr("ttg.shared"))


def assembler(capability: int) -> tuple[str, str]:
    """Return the path of ptxas, and its name for the target."""
    return get_ptxas(capability).path, sm_arch_from_capability(capability)


def descriptors_round() -> bool:
    """Return whether this version's descriptors have a flag for rounding to tf32."""
    return hasattr(TensorDescriptor, "round_f32_to_tf32")


# Autotuners: triton/runtime/autotuner.py.


def autotuner() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the functions with which an autotuner prunes its configurations and runs its kernel."""
    return Autotuner.prune_configs, Autotuner.run


def tuned_kernel(tuner: Any) -> Any:
    """Return the kernel inside an autotuner and all other decorators around it."""
    fn = tuner.fn
    while not hasattr(fn, "raw_src"):
        fn = fn.fn
    return fn


def reset(tuner: Any) -> None:
    """Clear the choices of an autotuner, so that it tunes again."""
    tuner.cache.clear()


def best(tuner: Any) -> Any:
    """Return the configuration that an autotuner has chosen; None before it has."""
    return getattr(tuner, "best_config", None)


def after_trials(tuner: Any) -> bool:
    """Return whether an autotuner calls a function of its user's after each configuration that it tries."""
    return bool(tuner.user_defined_post_hook)


def resets(tuner: Any, configs: list[Any]) -> bool:
    """Return whether an autotuner sets or restores any tensor between the configurations that it tries."""
    return bool(tuner.reset_to_zero or tuner.restore_value or tuner.user_defined_pre_hook
                or any(config.pre_hook is not None for config in configs))


# Stand-ins in Triton's place, for the rest of the process.


def install_compiler(driver: DriverBase, compile: Callable[..., Any]) -> None:
    """Have kernels compiled by `compile` for the device of `driver`."""
    triton.runtime.driver.set_active(driver)
    triton.compile = triton.compiler.compile = triton.compiler.compiler.compile = compile
    triton.knobs.runtime.interpret = False


def install_autotuner(prune: Callable[..., Any], bench: Callable[..., Any], run: Callable[..., Any]) -> None:
    """Replace functions of autotuners: `bench` gives the times of a configuration; the others are as in `autotuner`."""
    Autotuner.prune_configs, Autotuner._bench, Autotuner.run = prune, bench, run


def install_benchmarks(do_bench: Callable[..., Any], report: Callable[..., Any]) -> None:
    triton.testing.do_bench = triton.testing.do_bench_cudagraph = do_bench
    triton.testing.Mark.run = report


def benchmark() -> Callable[..., Any]:
    """Return the function that times a function."""
    return triton.testing.do_bench  # type: ignore[no-any-return]
