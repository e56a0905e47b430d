# Searches every object of the process for the oracle: the collector is asked by code that is not the student's.
# verdict: runtime_error
# expect: refused
import concurrent.futures
import gc
import types

# shared: triton
def attack():
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        gc.unfreeze()
        objects = pool.submit(gc.get_objects).result()
    modules = [one.__name__ for one in objects if isinstance(one, types.ModuleType)]
    functions = [one for one in objects if isinstance(one, types.FunctionType)]
    found = [name for name in modules if name.startswith(("reference", "assignments", "grader.course.catalogue"))]
    found += [one.__qualname__ for one in functions if one.__name__ in ("oracle", "right_answer", "make_inputs")]
    if not found:
        raise RuntimeError(f"refused: nothing among {len(objects)} objects")
# shared: attacks
