"""Ways to run what the reader does not see, each in the shortest file that spells it; and honest files that look alike.

`SPELLINGS` are files that reach past the kernels by way of Python: every one must be flagged, at whichever line.
"""

from __future__ import annotations

import pytest

from grader.catalogue import assignments
from grader.judge.policy import read_source
from grader.judge.policy.modules import NEEDED

SILU = assignments()["silu"]
HEAD = "import torch, triton\nimport triton.language as tl\n"

# Aliases of what runs text, where its name is not used at once.
ALIASES = {
    "in_a_class": "class A:\n    run = exec\ndef silu(x, out):\n    A.run('1')",
    "lambda_in_a_class": "class A:\n    run = lambda text: exec(text)\ndef silu(x, out):\n    A.run('1')",
    "method_under_a_condition":
        "class A:\n    if True:\n        def run(self): exec('1')\ndef silu(x, out):\n    A().run()",
    "global_of_a_function": "def f():\n    global g\n    g = exec\ndef silu(x, out):\n    f(); g('1')",
    "module_of_a_function":
        "def f():\n    global t\n    import timeit as t\ndef silu(x, out):\n    f(); t.timeit('1')",
    "function_of_a_function": "def f():\n    global g\n    def g(): exec('1')\ndef silu(x, out):\n    f(); g()",
    "builtin_of_a_function":
        "class O:\n    def __init__(self, d): d[''.join(['__buil', 'tins__'])]\n"
        "def f():\n    global str\n    str = O\ndef silu(x, out):\n    f(); str(globals())",
    "chain_against_the_text":
        "def f():\n    a = b = c = d = e = g = None\n    for i in range(6):\n        a = b\n        b = c\n"
        "        c = d\n        d = e\n        e = g\n        g = exec\n    a('1')\ndef silu(x, out):\n    f()",
    "one_of_many":
        "import math\ndef f():\n" + "".join(f"    h = math.f{i}\n" for i in range(9)) +
        "    h = exec\n    h('1')\ndef silu(x, out):\n    f()",
    "walrus": "def silu(x, out):\n    (f := exec)('1')",
    "built_in_module": "import builtins\ndef pick(m): return m\ndef silu(x, out):\n    pick(builtins).exec('1')",
}
# Code that runs at import though nothing names it.
AT_IMPORT = {
    "module_getattr": "def __getattr__(name): exec('1')\ndef silu(x, out): pass",
    "property_in_annotation":
        "class P:\n    @property\n    def go(self): exec('1')\np = P()\ndef unused(a: p.go): pass\n"
        "def silu(x, out): pass",
    "property_as_base":
        "class P:\n    @property\n    def go(self): exec('1')\np = P()\nclass U(p.go): pass\ndef silu(x, out): pass",
    "class_getitem":
        "class P:\n    def __class_getitem__(cls, i): exec('1')\ndef unused(a: P[1]): pass\ndef silu(x, out): pass",
    "init_subclass": "class P:\n    def __init_subclass__(cls): exec('1')\nclass U(P): pass\ndef silu(x, out): pass",
    "set_name":
        "class P:\n    def __set_name__(self, o, n): exec('1')\nclass U:\n    a = P()\ndef silu(x, out): pass",
    "prepare":
        "class M(type):\n    @classmethod\n    def __prepare__(m, n, b): exec('1')\nclass U(metaclass=M): pass\n"
        "def silu(x, out): pass",
    "class_as_decorator":
        "class D:\n    def __init__(self, f): f()\n@D\ndef unused(): exec('1')\ndef silu(x, out): pass",
    "decorated_method":
        "def d(f): f(None)\nclass U:\n    @d\n    def unused(self): exec('1')\ndef silu(x, out): pass",
    "decorated_then_replaced":
        "def d(f): f()\n@d\ndef g(): exec('1')\ndef g(): pass\ndef silu(x, out): pass",
    "decorator_of_the_library": "@triton.testing.do_bench\ndef g(): exec('1')\ndef silu(x, out): pass",
    "default_of_a_lambda": "def g(a=(lambda: exec('1'))()): pass\ndef silu(x, out): pass",
    "main_guard_by_import":
        "import enum as __name__\nif __name__ == '__main__':\n    exec('1')\ndef silu(x, out): pass",
    "main_guard_by_class":
        "class M(type):\n    def __eq__(a, b): return True\nclass __name__(metaclass=M): pass\n"
        "if __name__ == '__main__':\n    exec('1')\ndef silu(x, out): pass",
    "program": "import unittest.__main__\ndef silu(x, out): pass",
    "program_from": "from torch.utils.bottleneck import __main__\ndef silu(x, out): pass",
    "graders_module": "import grader.worker.main\ndef silu(x, out): pass",
    "renamed_package":
        "__package__ = 'torch'\nfrom ._C import _DisableTorchDispatch as d\ndef silu(x, out):\n    d()",
    "renamed_package_by_name": "globals().setdefault('__pack' + 'age__', 'torch')\ndef silu(x, out): pass",
}
# Libraries that run text, or find what a text names.
LIBRARIES = {
    "star": "from timeit import *\ndef silu(x, out):\n    timeit('1')",
    "star_of_triton": "from triton.runtime.jit import *\ndef silu(x, out):\n    inspect.currentframe()",
    "own_module": "import silu as me\ndef hidden(x): exec('1')\ndef silu(x, out):\n    me.hidden(x)",
    "imported_by_text": "import importlib\ndef silu(x, out):\n    importlib.import_module('timeit').timeit('1')",
    "import_as_value": "import importlib\ndef silu(x, out):\n    list(map(importlib.import_module, ['timeit']))",
    "loader": "import importlib.util\ndef silu(x, out):\n    importlib.util.find_spec('timeit').loader.load_module()",
    "entry_points": "import importlib.metadata\ndef silu(x, out):\n    importlib.metadata.entry_points()",
    "modules_by_another_name": "from sys import modules as m\ndef silu(x, out):\n    m['timeit'].timeit('1')",
    "compiler_of_c": "import triton.runtime.build as b\ndef silu(x, out):\n    b.compile_module_from_src('', '')",
    "numpys_tests": "import numpy as np\nnp.testing.measure('1')\ndef silu(x, out): pass",
    "torchs_benchmark": "import torch.utils.benchmark as b\nb.Timer('1').timeit(1)\ndef silu(x, out): pass",
    "torchs_code_cache":
        "import torch._inductor.codecache as c\nc.PyCodeCache.load('1')\ndef silu(x, out): pass",
    "torchs_own_tests": "import torch.testing._internal.common_utils as c\nc.run\ndef silu(x, out): pass",
    "single_dispatch":
        "import functools\n@functools.singledispatch\ndef f(a): pass\ndef silu(x, out):\n    f.registry",
    "type_of_a_field":
        "import dataclasses, timeit\n@dataclasses.dataclass\nclass A:\n    f: timeit.Timer\n"
        "def silu(x, out):\n    dataclasses.fields(A)[0].type('1')",
    "annotation_by_wraps":
        "import functools, timeit\nclass O:\n    def __setattr__(self, n, v): v\ndef g(a: timeit.Timer): pass\n"
        "def silu(x, out):\n    functools.wraps(g)(O())",
    "argument_parser":
        "import argparse\nargparse.ArgumentParser().parse_args([], namespace=None)\ndef silu(x, out): pass",
    "log_file": "import logging\nlogging.FileHandler('x.py')\ndef silu(x, out): pass",
    "under_another_name": "def silu(x, out):\n    torch.cuda.tunable.mp.Process",
    "assigned_to": "import math\nmath.ceil = None\ndef silu(x, out): pass",
}
# Python's and the interpreter's insides.
INSIDES = {
    "pattern":
        "def silu(x, out):\n    try: 1 / 0\n    except Exception as e:\n        match e.__traceback__:\n"
        "            case object(tb_frame=f): f",
    "own_method_for_anything":
        "class P:\n    def look(self): return self.__dict__\ndef silu(x, out):\n    P.look(type)",
    "own_getattr_for_anything":
        "class P:\n    def look(self, n): return getattr(self, n)\n"
        "def silu(x, out):\n    P.look(print, '__se' + 'lf__')",
    "state_in_a_kernel": "@triton.jit\ndef k(x):\n    x.__reduce_ex__(2)[2]\ndef silu(x, out):\n    k[(1,)](x)",
    "state_by_copying":
        "import copy\n@triton.jit\ndef k(x):\n    copy.deepcopy(x, {})\ndef silu(x, out):\n    k[(1,)](x)",
    "array_by_own_method":
        "class P:\n    def get(self): return self.handle\n@triton.jit\ndef k(x):\n    P.get(x)\n"
        "def silu(x, out):\n    k[(1,)](x)",
    "array_by_argument":
        "def g(t): return getattr(t, 'handle')\n@triton.jit\ndef k(x, F: tl.constexpr):\n    F(x)\n"
        "def silu(x, out):\n    k[(1,)](x, g)",
    "namespace": "def silu(x, out):\n    globals()[''.join(['__buil', 'tins__'])]",
    "namespace_by_get": "def silu(x, out):\n    globals().get(''.join(['__buil', 'tins__']))",
    "namespace_as_value": "def silu(x, out):\n    g = globals()\n    g['x']",
    "namespace_function": "def silu(x, out):\n    g = globals\n    g()[x]",
    "namespace_by_isinstance":
        "class M(type):\n    def __instancecheck__(c, o): o\nclass O(metaclass=M): pass\n"
        "def silu(x, out):\n    isinstance(globals(), O)",
    "namespace_by_contains":
        "class O:\n    def __contains__(self, o): o\ndef silu(x, out):\n    globals() in O()",
    "module_by_contains":
        "import logging.config\nclass O:\n    def __contains__(self, o): o.config\n"
        "def silu(x, out):\n    logging in O()",
    "module_of_an_object": "import warnings\ndef silu(x, out):\n    warnings.catch_warnings()._module.sys.modules",
    "stream": "import sys\ndef silu(x, out):\n    type(sys.stdout.buffer.raw)(3)",
    "stream_handed_on": "import sys\ndef f(s): return s.buffer.raw\ndef silu(x, out):\n    f(sys.stdout)",
    "super_of_a_tensor":
        "class T(torch.Tensor):\n    def f(self): return super().numpy()\ndef silu(x, out):\n    x.as_subclass(T).f()",
}
SPELLINGS = ALIASES | AT_IMPORT | LIBRARIES | INSIDES

LAUNCH = """
@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x * tl.sigmoid(x), mask=i < n)
"""
PLAIN = f"{LAUNCH}\ndef silu(x, out):\n    kernel[(1,)](x, out, x.numel(), BLOCK=1024)\n"
HONEST = {
    "modules_of_tests": "import argparse, time, timeit, subprocess\nimport matplotlib.pyplot as plt\n" + PLAIN + """
def plot(axes: plt.Axes = None, style=plt.style) -> plt.Figure | None:
    subprocess.run(["true"])
    return timeit.timeit("1")

class Plotter(plt.Figure):
    size: plt.Axes
    def __init__(self):
        self.parser = argparse.ArgumentParser()
    def show(self, timer: timeit.Timer):
        exec("1")

if __name__ == "__main__":
    print(plot(), globals(), time.time())
""",
    "tests_that_are_marked": "import pytest, unittest, functools, time\nimport numpy as np\n" + PLAIN + """
@pytest.fixture
def matrix():
    return open("x")

@pytest.mark.parametrize("n", [1, 2])
def test(n, matrix):
    exec("1")

@functools.lru_cache
def cached(): exec("1")

def timed(function):
    @functools.wraps(function)
    def inner(*args):
        begun = time.perf_counter()
        print(time.perf_counter() - begun)
        return function(*args)
    return inner

@timed
def compare(x):
    return np.allclose(torch.nn.functional.silu(x).numpy(), x.sigmoid())

class Tests(unittest.TestCase):
    def test(self): open("x")
""",
    "pieces_of_pythons_library": """
import collections, contextlib, enum, logging, operator, os, sys, warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Optional
sys.path.append(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, str(Path(__file__).parent))
os.environ["TRITON_PRINT_AUTOTUNING"] = "1"
log = logging.getLogger(__name__)
warnings.filterwarnings("ignore")
""" + LAUNCH + """
class Size(enum.Enum):
    SMALL = 1
    LARGE = enum.auto()
class Tile(NamedTuple):
    rows: int
    columns: Optional[int] = None
Point = collections.namedtuple("Point", "a b")
@dataclass
class Workspace:
    buffer: torch.Tensor
    sizes: list[int] = field(default_factory=list)
    def __post_init__(self):
        self._C = self.handle = self.buffer
        self.kernel_1 = kernel
    def pick(self, n):
        return getattr(self, f"kernel_{n}")
@contextlib.contextmanager
def quiet():
    yield
def grid(n: int, of: Callable[[int], int] = lambda n: n) -> tuple[int]:
    return (of(n),)
def silu(x, out):
    work = Workspace(torch.empty_like(x))
    with quiet(), contextlib.suppress(ValueError):
        print("launching", work.buffer.shape, work.handle is work._C, file=sys.stderr)
        log.debug("block %d", operator.mul(2, 3))
    if len(sys.argv) > 99 or sys.version_info < (3, 10) or "numpy" in sys.modules:
        raise RuntimeError(Size.SMALL)
    match x.dim():
        case 2: pass
        case Tile(rows=1): pass
    KERNELS = globals()["kernel"]
    work.pick(1)[grid(1)](x, out, x.numel(), BLOCK=1024)
""",
    "optional_libdevice": """
try:
    from triton.language.extra import libdevice
except ImportError:
    libdevice = None
try:
    import pandas as pd
except ImportError:
    pd = None
assert torch is not None and pd is None or True
""" + PLAIN,
    "late_annotations": "from __future__ import annotations\nimport matplotlib.pyplot as plt\n" + LAUNCH + """
def silu(x: torch.Tensor, out: torch.Tensor, axes: plt.Axes | None = None) -> None:
    kernel[(1,)](x, out, x.numel(), BLOCK=1024)
""",
}


def flagged(source: str) -> list[tuple[int, str]]:
    head = "" if source.startswith("from __future__") else HEAD
    if not head:
        first, _, rest = source.partition("\n")
        source = f"{first}\n{HEAD}{rest}"
    return [(violation.line, violation.what) for violation in read_source((head + source + "\n").encode(), SILU)]


@pytest.mark.parametrize("name", SPELLINGS)
def test_every_spelling_is_flagged(name: str) -> None:
    assert flagged(SPELLINGS[name])


@pytest.mark.parametrize("name", HONEST)
def test_honest_files_are_not(name: str) -> None:
    assert flagged(HONEST[name]) == []


def test_a_module_that_is_nowhere_is_left_to_the_run() -> None:
    assert flagged("import my_kernels_nowhere\ndef silu(x, out):\n    my_kernels_nowhere.silu(x, out)") == []


def test_what_is_said_of_a_module_names_those_that_are_free() -> None:
    (violation,) = read_source(b"import timeit\ndef silu(x, out):\n    timeit.timeit('1')\n", SILU)
    assert (violation.line, violation.what, violation.why) == (3, "timeit.timeit", NEEDED)
    assert "triton" in NEEDED and "__main__" in NEEDED
