# Searches every object of the process for the oracle: the collector is asked by code that is not the student's.
# verdict: runtime_error
# expect: refused
import concurrent.futures
import gc
import types

import triton
import triton.language as tl


def attack():
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        gc.unfreeze()
        objects = pool.submit(gc.get_objects).result()
    modules = [one.__name__ for one in objects if isinstance(one, types.ModuleType)]
    functions = [one for one in objects if isinstance(one, types.FunctionType)]
    found = [name for name in modules if name.startswith(("reference", "assignments", "grader.model.catalogue"))]
    found += [one.__qualname__ for one in functions if one.__name__ in ("oracle", "right_answer", "make_inputs")]
    if not found:
        raise RuntimeError(f"refused: nothing among {len(objects)} objects")


@triton.jit
def silu_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v / (1 + tl.exp(-v)), mask=i < n)


attack()


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 4096),)](x, out, x.numel(), BLOCK=4096)
