# mypy: ignore-errors
"""Launches: grids, arguments, the autotuner, what host code may ask of the driver, and the bounds of memory."""

import warnings

import numpy as np
import torch
import triton
import triton.language as tl
from torch.utils._python_dispatch import TorchDispatchMode

from grader.worker import interpreter


@triton.jit
def add_one(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


def added(grid, *args, **options):
    x = torch.zeros(16)
    add_one[grid](x, *args, **options)
    return x.sum().item()


def case_grid_as_list():
    return added([2], 16, BLOCK=8)


def case_grid_of_numpy_integers():
    return added((np.int64(2),), 16, BLOCK=8)


def case_grid_from_meta():
    return added(lambda meta: (triton.cdiv(meta["n"], meta["BLOCK"]),), 16, BLOCK=8)


def case_grid_of_zero_starts_nothing():
    return added((0,), 16, BLOCK=8)


def case_grid_of_floats():
    return added((16 / 8,), 16, BLOCK=8)


def case_grid_not_a_tuple():
    return added(2, 16, BLOCK=8)


def case_grid_beyond_cuda():
    return added((1, 70000), 16, BLOCK=8)


def case_too_many_programs():
    return added((1001,), 16, BLOCK=8)


def case_forgotten_grid():
    add_one(torch.zeros(16), 16, BLOCK=8)


def case_unknown_keyword():
    return added((2,), 16, BLOCK=8, BLOK=8)


def case_launch_options_pass():
    return added((2,), 16, BLOCK=8, num_warps=2, num_stages=4, num_ctas=1, maxnreg=64)


def case_odd_number_of_warps():
    return added((2,), 16, BLOCK=8, num_warps=3)


def case_missing_constexpr():
    return added((2,), 16)


def case_numpy_argument():
    add_one[(1,)](np.zeros(8, dtype=np.float32), 8, BLOCK=8)


def case_argument_on_another_device():
    add_one[(1,)](torch.zeros(8, device="meta"), 8, BLOCK=8)


def case_warmup_is_harmless():
    add_one.warmup(torch.float32, 16, BLOCK=8, grid=(1,))
    return added((2,), 16, BLOCK=8)


def case_warmup_gives_nothing_to_ask():
    return add_one.warmup(torch.float32, 16, BLOCK=8, grid=(1,)).n_regs


def case_names_of_the_module_are_left_alone():
    added((2,), 16, BLOCK=8)
    return sorted(n for n in ("interpreter_semantic", "math", "inspect", "TensorHandle") if n in globals())


def case_launches_are_told():
    seen = []
    interpreter.configure(max_programs=100, on_launch=lambda *facts: seen.append(facts))
    added((2,), 16, BLOCK=8)
    line = add_one.fn.__code__.co_firstlineno + 1
    return [[name, found - line, programs] for name, found, programs in seen]


class Operators(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.seen.append([str(function), interpreter.launching()])
        return function(*args, **(kwargs or {}))


def case_no_operator_is_dispatched():
    x = torch.zeros(16)
    with Operators() as operators:
        add_one[(2,)](x, 16, BLOCK=8)
    return [operators.seen, x.sum().item(), interpreter.launching()]


# the autotuner

CONFIGS = [triton.Config({"BLOCK": 4}, num_warps=2), triton.Config({"BLOCK": 8}), triton.Config({"BLOCK": 16})]


def blocks_of_eight_and_more(configs, named_args, **kwargs):
    return [c for c in configs if c.kwargs["BLOCK"] >= 8]


@triton.autotune(configs=CONFIGS, key=["n"])
@triton.jit
def tuned(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, BLOCK, mask=i < n)


def case_autotune_takes_the_first():
    x = torch.zeros(16)
    tuned[lambda meta: (triton.cdiv(16, meta["BLOCK"]),)](x, 16)
    return [x.tolist(), tuned.best_config.kwargs]


def case_autotune_conflict():
    tuned[(1,)](torch.zeros(16), 32, BLOCK=8)


@triton.autotune(
    configs=CONFIGS, key=["n"], prune_configs_by={"early_config_prune": blocks_of_eight_and_more}, reset_to_zero=["x"]
)
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def tuned_with_heuristics(x, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.atomic_add(x + i, BLOCK)
    else:
        tl.atomic_add(x + i, BLOCK, mask=i < n)


def case_autotune_prunes_and_resets():
    x = torch.full((16,), 7.0)
    tuned_with_heuristics[lambda meta: (triton.cdiv(16, meta["BLOCK"]),)](x, 16)
    return x.tolist()


hooked = []


@triton.autotune(
    configs=[triton.Config({"BLOCK": 8}, pre_hook=lambda args: hooked.append(args["BLOCK"])), CONFIGS[0]],
    key=["n"], restore_value=["x"], pre_hook=lambda args, reset_only=False: hooked.append(reset_only),
)  # fmt: skip
@triton.jit
def tuned_with_hooks(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i) + 1)


def case_autotune_hooks():
    x = torch.zeros(16)
    tuned_with_hooks[(2,)](x, 16)
    return [x.sum().item(), hooked]


def case_autotune_by_deprecated_arguments():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        kernel = triton.autotune(configs=CONFIGS, key=["n"], warmup=5, rep=10)(tuned.fn)
    x = torch.zeros(16)
    kernel[(4,)](x, 16)
    return x.tolist()


# the driver


@triton.jit
def persistent(x, n, BLOCK: tl.constexpr):
    for block in range(tl.program_id(0), tl.cdiv(n, BLOCK), tl.num_programs(0)):
        i = block * BLOCK + tl.arange(0, BLOCK)
        tl.store(x + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


def case_persistent_grid():
    active = triton.runtime.driver.active
    device = active.get_active_torch_device()
    counts = [
        active.utils.get_device_properties(device.index)["multiprocessor_count"],
        torch.cuda.get_device_properties(device).multi_processor_count,
        torch.cuda.get_device_properties(torch.cuda.current_device()).multi_processor_count,
    ]
    x = torch.zeros(100, device=device)
    persistent[(counts[0],)](x, 100, BLOCK=8)
    torch.cuda.synchronize()
    return [x.sum().item(), len(set(counts)), active.get_current_target().backend, torch.cuda.is_available()]


def case_timing_is_refused():
    return triton.testing.do_bench(lambda: None)


# memory


@triton.jit
def unmasked(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i)  # fault
    tl.store(out + i, v, mask=i < n)


def case_load_past_the_end():
    unmasked[(2,)](torch.zeros(10), torch.zeros(10), 10, BLOCK=8)


@triton.jit
def unmasked_store(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i - 4, 1.0, mask=i < 6)  # fault


def case_store_before_the_start():
    unmasked_store[(1,)](torch.zeros(8), torch.zeros(8), BLOCK=8)


@triton.jit
def far(x, distance):
    tl.store(x + distance, 1.0)  # fault


def case_store_far_away():
    far[(1,)](torch.zeros(8), 2**45)


@triton.jit
def into_another(x, distance):
    tl.store(x + distance, 1.0)  # fault


def case_neighbour_is_not_ours():
    both = [torch.zeros(8), torch.zeros(8)]
    distance = (both[1].data_ptr() - both[0].data_ptr()) // 4
    two[(1,)](both[0], both[1], distance)


@triton.jit
def two(x, out, distance):
    tl.store(x + distance, 1.0)  # fault


@triton.jit
def adds(x, BLOCK: tl.constexpr):
    tl.atomic_add(x + tl.arange(0, BLOCK), 1.0)  # fault


def case_atomic_past_the_end():
    adds[(1,)](torch.zeros(5), BLOCK=8)


@triton.jit
def block_past_the_end(x, n, BLOCK: tl.constexpr):
    block = tl.make_block_ptr(x, (n,), (1,), (0,), (BLOCK,), (0,))
    tl.store(block, tl.zeros((BLOCK,), tl.float32))  # fault


def case_block_pointer_past_the_end():
    block_past_the_end[(1,)](torch.zeros(5), 5, BLOCK=8)


def case_masked_lanes_are_not_judged():
    x, out = torch.ones(10), torch.zeros(10)
    add_one[(2,)](x, 10, BLOCK=8)
    return x.tolist() + out.tolist()


def case_empty_tensor():
    add_one[(1,)](torch.empty(0), 0, BLOCK=8)
    return "nothing touched"


def case_same_storage_is_one_region():
    x = torch.zeros(16)
    add_one[(2,)](x[8:], 8, BLOCK=8)
    far[(1,)](x[8:], -8)
    return x.tolist()
