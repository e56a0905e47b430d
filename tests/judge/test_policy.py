"""Honest sources stay unflagged, dishonest ones are flagged at their line, and no text brings the reader down."""

from __future__ import annotations

import re
import textwrap
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.assignment import Assignment
from grader.catalogue import ROOT, assignments
from grader.judge.policy import SourceProblem, Violation, judge_record, read_source
from grader.judge.policy.source import MAX_BYTES
from grader.plan.wire import KernelUse, OperatorUse

ASSIGNMENTS = assignments()
# Of processor time: the longest file takes about one and a half, a quadratic reader half a minute.
SECONDS = 2.5
FLAG = re.compile(r"# FLAG (.+)$")

HEAD = """
import torch
import triton
import triton.language as tl

@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x * tl.sigmoid(x), mask=offsets < n)

"""
LAUNCH = "kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)"
PLAIN = f"{HEAD}def silu(x, out):\n    {LAUNCH}\n"

HONEST: dict[str, str] = {
    "plain": PLAIN,
    "annotated": HEAD + f"""
        from typing import Optional
        def silu(x: torch.Tensor, out: torch.Tensor, block: Optional["torch.mm"] = None) -> torch.nn.Module:
            n: int = x.numel()
            {LAUNCH}
        """,
    "asserts": HEAD + f"""
        def silu(x, out):
            assert x.is_contiguous() and out.is_contiguous(), "contiguous expected"
            assert x.shape == out.shape and x.dtype == torch.float32 and x.device == out.device
            assert isinstance(x, torch.Tensor) and torch.is_tensor(out)
            {LAUNCH}
        """,
    "devices": HEAD + f"""
        DEVICE = triton.runtime.driver.active.get_active_torch_device()
        DEVICE2 = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        def silu(x, out):
            props = torch.cuda.get_device_properties(x.device)
            with torch.cuda.device(x.device), torch.no_grad():
                stream = torch.cuda.current_stream()
                {LAUNCH}
            torch.cuda.synchronize()
            with torch.cuda.device_of(x):
                print("SMs", props.multi_processor_count, stream)
        """,
    "scratch": HEAD + """
        def silu(x, out):
            partial = torch.empty((triton.cdiv(x.numel(), 64), 4), device=x.device, dtype=torch.float32)
            zeros = torch.zeros_like(partial)
            total = x.new_zeros(1)
            strided = torch.empty_strided((4, 4), (4, 1), device=x.device)
            flags = torch.full((4,), -1, dtype=torch.int32)
            out.zero_()
            kernel[(1,)](x.view(-1), out.flatten(), x.size(0) * x.stride(0), BLOCK=128)
        """,
    "views": HEAD + """
        def silu(x, out):
            x = x.contiguous()
            rows, cols = x.shape
            for row in range(rows):
                kernel[(1,)](x[row].unsqueeze(0), out[row, :], cols, BLOCK=triton.next_power_of_2(cols))
            kernel[(1,)](x.t().T.transpose(0, 1).permute(1, 0), out.expand(2, rows, cols), cols, BLOCK=2)
            kernel[(1,)](torch.transpose(x, 0, 1), torch.as_strided(out, (1,), (1,)), cols, BLOCK=2)
        """,
    "main_guard": PLAIN + """
        if __name__ == "__main__":
            import torch.nn.functional as F
            torch.manual_seed(0)
            x = torch.randn(100, 100)
            out = torch.empty_like(x)
            silu(x, out)
            torch.testing.assert_close(out, F.silu(x))
            print((out - F.silu(x)).abs().max(), x @ x)
        """,
    "leftover_test": "import torch.nn.functional as F\n" + PLAIN + """
        def reference(x):
            return x * torch.sigmoid(x)

        def test():
            x = torch.randn(5, 5)
            out = torch.empty_like(x)
            silu(x, out)
            torch.testing.assert_close(out, F.silu(x))
            torch.testing.assert_close(out, reference(x))
        """,
    "leftover_benchmark": PLAIN + """
        @triton.testing.perf_report(triton.testing.Benchmark(
            x_names=["N"], x_vals=[2**i for i in range(12, 28)], line_arg="provider", line_vals=["triton", "torch"],
            line_names=["Triton", "Torch"], plot_name="silu", args={}))
        def benchmark(N, provider):
            x = torch.rand(N)
            return triton.testing.do_bench(lambda: torch.nn.functional.silu(x), quantiles=[0.5])
        """,
    "leftover_pytest": "import pytest\nimport numpy as np\n" + PLAIN + """
        @pytest.mark.parametrize("n", [1, 2, 3])
        def test_silu(n):
            assert np.allclose(torch.ones(n).numpy(), torch.mm(torch.ones(1, 1), torch.ones(1, n)).numpy())

        class Reference(torch.nn.Module):
            def forward(self, x):
                return torch.nn.functional.silu(x)
        """,
    "leftover_at_import": "import torch.nn.functional as F\n" + PLAIN + """
        def check(n):
            x = torch.randn(n, n)
            out = torch.empty_like(x)
            silu(x, out)
            assert torch.allclose(out, F.silu(x)) and (x @ x).sum()

        for n in (1, 5):
            check(n)
        x, out = torch.randn(8, 8), torch.empty(8, 8)
        torch.manual_seed(0)
        silu(x, out)
        expected = F.silu(x)
        print("ok", torch.allclose(out, expected), (out - expected).abs().max())
        torch.testing.assert_close(out, expected)
        assert torch.equal(out, out.clone())
        """,
    "names_written_out": "import sys\n" + PLAIN + """
        class Plan:
            def __init__(self, **options):
                for name, value in options.items():
                    setattr(self, name, value)
                self.__dict__.update(options)
                self.handle = super(Plan, self)
        def kind(half):
            return getattr(torch, "float16" if half else "float32")
        def describe(x):
            for what in ("shape", "dtype"):
                print(what, getattr(x, what), "triton" in sys.modules, hasattr(x, what))
            return Plan(block=1).handle
        silu = [silu, kind, describe][0]
        """,
    "wrapped_kernel": HEAD + """
        def silu(x, out):
            torch.library.wrap_triton(kernel)[(1,)](x, out, x.numel(), BLOCK=16)
        """,
    "leftover_lambda": PLAIN + """
        reference = lambda x: torch.nn.functional.silu(x)
        BASELINES = {"torch": torch.nn.functional.silu, "mm": torch.mm}
        other = torch.sigmoid
        """,
    "first_try_replaced": HEAD + f"""
        def silu(x, out):
            out.copy_(torch.nn.functional.silu(x))

        def silu(x, out):
            {LAUNCH}
        """,
    "dead_code": HEAD + f"""
        def silu(x, out):
            {LAUNCH}
            return
            out.copy_(torch.nn.functional.silu(x))

        if False:
            print(torch.mm(torch.ones(1, 1), torch.ones(1, 1)))
        """,
    "autotune": HEAD + """
        def configs():
            return [triton.Config({"BLOCK": b}, num_warps=w, num_stages=2) for b in (64, 128) for w in (2, 4)]

        @triton.autotune(configs=configs(), key=["n"], reset_to_zero=["out_ptr"])
        @triton.heuristics({"EVEN": lambda args: args["n"] % 128 == 0})
        @triton.jit
        def tuned(x_ptr, out_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
            i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
            tl.store(out_ptr + i, x / (1 + tl.exp(-x)), mask=i < n)

        def silu(x, out):
            grid = lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)
            tuned[grid](x, out, x.numel())
        """,
    "helpers_in_kernel": """
        import torch, triton
        from triton import language as tl
        try:
            from triton.language.extra import libdevice
        except ImportError:
            from triton.language.math import libdevice

        @triton.jit
        def sigmoid(x):
            return 1 / (1 + tl.exp(-x))

        @triton.jit
        def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
            i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            x = tl.load(x_ptr + i, mask=i < n)
            y = x.to(tl.float32)
            z = tl.dot(y[:, None], y[None, :]).sum(axis=1) + x.exp() + libdevice.rsqrt(y) + getattr(tl, "sigmoid")(x)
            tl.store(out_ptr + i, x * sigmoid(x) + z.sigmoid() * 0, mask=i < n)

        def silu(x, out):
            kernel[(1,)](x, out, x.numel(), 1024)
        """,
    "undecorated_kernel_helper": """
        import torch, triton, triton.language as tl
        def act(x):
            return x * x.sigmoid()
        @triton.jit
        def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
            tl.store(out_ptr + tl.arange(0, BLOCK), act(tl.load(x_ptr + tl.arange(0, BLOCK))))
        def silu(x, out):
            kernel[(1,)](x, out, x.numel(), 1024)
        """,
    "jit_by_call": """
        import torch as th
        from triton import jit, cdiv
        import triton.language as tl
        def _body(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
            i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            x = tl.load(x_ptr + i, mask=i < n)
            tl.store(out_ptr + i, x * x.sigmoid(), mask=i < n)
        _kernel = jit(_body)
        def silu(x, out):
            assert x.dtype in (th.float32, th.float16, th.bfloat16)
            _kernel[(cdiv(x.numel(), 64),)](x, out, x.numel(), 64)
        """,
    "jit_with_options": """
        import torch, triton, triton.language as tl
        @triton.jit(do_not_specialize=["n"])
        def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
            tl.store(out_ptr + tl.arange(0, BLOCK), tl.load(x_ptr + tl.arange(0, BLOCK)).sigmoid())
        def silu(x, out):
            kernel[(1,)](x, out, x.numel(), 1024)
        """,
    "descriptors": HEAD + """
        from triton.tools.tensor_descriptor import TensorDescriptor
        def silu(x, out):
            def alloc(size: int, alignment: int, stream):
                return torch.empty(size, device=x.device, dtype=torch.int8)
            triton.set_allocator(alloc)
            desc = TensorDescriptor(x, shape=list(x.shape), strides=[x.stride(0), 1], block_shape=[16, 16])
            other = TensorDescriptor.from_tensor(out, [16, 16])
            kernel[(1,)](desc, other, x.numel(), BLOCK=16)
        """,
    "classes": HEAD + f"""
        from dataclasses import dataclass
        @dataclass(frozen=True)
        class Launch:
            block: int = 1024
            def run(self, x, out):
                {LAUNCH}
            def check(self, x):
                return torch.allclose(x, torch.sigmoid(x))

        class SiLU(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, out):
                Launch().run(x, out)
                return out

        def silu(x, out):
            SiLU.apply(x, out)
        """,
    "own_matrix_class": HEAD + f"""
        class Plan:
            def mm(self, m, n):
                return m * n
        def silu(x, out):
            Plan().mm(2, 3)
            {LAUNCH}
        """,
    "cached_plan": HEAD + f"""
        import functools, math, os
        import numpy as np
        from functools import lru_cache
        @lru_cache(maxsize=None)
        def plan(n):
            return 2 ** int(math.log2(n)), int(np.ceil(n / 3)), np.prod((2, 3)).item(), np.sqrt(n), np.float32(1)
        @functools.cache
        def sms(index):
            return torch.cuda.get_device_properties(index).multi_processor_count
        def silu(x, out):
            plan(x.numel()), os.environ.get("BLOCK", "1024"), math.exp(1.0), math.sqrt(x.element_size())
            seen = set(); seen.add(1); text = " ".join(["a"]).replace("a", "b")
            {LAUNCH}
        """,
    "dispatch_table": HEAD + """
        KERNELS = {torch.float32: kernel, torch.float16: kernel}
        def small(x, out): KERNELS[x.dtype][(1,)](x, out, x.numel(), BLOCK=16)
        def large(x, out): KERNELS[x.dtype][(4,)](x, out, x.numel(), BLOCK=1024)
        PLANS = {"small": small, "large": large}
        def silu(x, out):
            PLANS["small" if x.numel() < 17 else "large"](x, out)
        """,
    "settings": HEAD + f"""
        torch.backends.cuda.matmul.allow_tf32 = True
        torch.set_float32_matmul_precision("high")
        triton.knobs.autotuning.print = False
        def silu(x, out):
            largest = torch.finfo(torch.float32).max, torch.iinfo(torch.int32).max, torch.__version__
            size = torch.Size([1, 2]), getattr(torch, "float32"), hasattr(torch, "float8_e4m3fn")
            {LAUNCH}
        """,
    "unused_imports": "import torch.nn as nn\nimport torch.nn.functional as F\nimport scipy\nimport ctypes\n" + PLAIN,
    "assigned_function": HEAD + f"""
        def _silu(x, out):
            {LAUNCH}
        silu = _silu
        """,
    "decorated_function": HEAD + f"""
        import functools
        def checked(function):
            @functools.wraps(function)
            def wrapper(*args, **kwargs):
                assert len(args) == 2
                return function(*args, **kwargs)
            return wrapper

        @checked
        @torch.no_grad()
        def silu(*args, **kwargs):
            x, out = args
            {LAUNCH}
        """,
    "extra_defaults": HEAD + "def silu(x, out, BLOCK=1024, *, num_warps=4):\n"
                             "    kernel[(1,)](x, out, x.numel(), BLOCK=BLOCK, num_warps=num_warps)\n",
    "positional_only_names": HEAD + f"def silu(input, output, /):\n    x, out = input, output\n    {LAUNCH}\n",
    "streams": HEAD + f"""
        from torch import Tensor, empty_like as like, cuda
        def silu(x: Tensor, out: Tensor):
            tmp = like(x)
            side = cuda.Stream()
            with cuda.stream(side):
                {LAUNCH}
            cuda.current_stream().wait_stream(side)
            del tmp
        """,
    "byte_order_mark": "\ufeff" + PLAIN,
    "invalid_escape": 'PATTERN = "\\d+"\n' + PLAIN,
    "windows_lines": PLAIN.replace("\n", "\r\n"),
}

COPIES = {
    "copy": """
        import torch
        def copy_first_column(matrix, out):
            out.copy_(matrix[:, 0])
        """,
    "pinned": """
        import torch
        def copy_first_column(matrix, out):
            staging = torch.empty(matrix.shape[0], pin_memory=True)
            staging.copy_(matrix[:, 0])
            torch.Tensor.copy_(out, staging.to(out.device, non_blocking=True))
        """,
    "clone": """
        import torch
        def copy_first_column(matrix, out):
            column = torch.clone(matrix[:, 0]).contiguous().clone().pin_memory().cuda(non_blocking=True).cpu()
            out[:] = column
        """,
}

# Each flagged line says what is to be found in it; nothing else may be.
DISHONEST: dict[str, str] = {
    "functional": """
        def silu(x, out):
            out[...] = torch.nn.functional.silu(x)  # FLAG torch.nn.functional.silu
        """,
    "functional_alias": """
        import torch.nn.functional as F
        def silu(x, out):
            out[:] = F.silu(x)  # FLAG torch.nn.functional.silu
        """,
    "functional_from": """
        from torch.nn import functional
        def silu(x, out):
            functional.silu(x)  # FLAG torch.nn.functional.silu
        """,
    "sigmoid": """
        def silu(x, out):
            y = x * torch.sigmoid(x)  # FLAG torch.sigmoid
        """,
    "out_argument": """
        def silu(x, out):
            torch.mul(x, x, out=out)  # FLAG torch.mul
        """,
    "module_alias": """
        import torch as t
        def silu(x, out):
            t.mm(x, x, out=out)  # FLAG torch.mm
        """,
    "from_alias": """
        from torch import mm as q
        def silu(x, out):
            q(x, x, out=out)  # FLAG torch.mm
        """,
    "assigned_alias": """
        f = torch.mm
        g = f
        def silu(x, out):
            g(x, x, out=out)  # FLAG torch.mm
        """,
    "local_alias": """
        def silu(x, out):
            lib, one = torch, 1
            multiply = lib.mm
            multiply(x, x, out=out)  # FLAG torch.mm
        """,
    "star_import": """
        from torch import *
        def silu(x, out):
            y = sigmoid(x)  # FLAG torch.sigmoid
        """,
    "matmul_operator": """
        def silu(x, out):
            y = x @ out  # FLAG x @ out
            y @= x  # FLAG y @= x
        """,
    "operator_module": """
        import operator
        def silu(x, out):
            operator.matmul(x, x)  # FLAG operator.matmul
        """,
    "copy_method": """
        def silu(x, out):
            out.copy_(x.t())  # FLAG out.copy_
        """,
    "methods": """
        def silu(x, out):
            y = x.sigmoid().mul_(x)  # FLAG x.sigmoid|x.sigmoid().mul_
            y.rsqrt_()  # FLAG y.rsqrt_
            z = x.clone()  # FLAG x.clone
        """,
    "unbound_method": """
        def silu(x, out):
            torch.Tensor.mm(x, x)  # FLAG torch.Tensor.mm
        """,
    "dunder": """
        def silu(x, out):
            x.__matmul__(x)  # FLAG x.__matmul__
        """,
    "numpy": """
        import numpy as np
        def silu(x, out):
            y = x.numpy()  # FLAG x.numpy
            z = y / (1 + np.exp(-y))  # FLAG numpy.exp
            np.matmul(y, y)  # FLAG numpy.matmul
        """,
    "getattr_put_together": """
        def silu(x, out):
            getattr(torch, "m" + "m")(x, x, out=out)  # FLAG getattr(torch, "m" + "m")
        """,
    "getattr_constant": """
        def silu(x, out):
            getattr(torch, "mm")(x, x, out=out)  # FLAG torch.mm
            getattr(x, "mm")(x)  # FLAG getattr(x, "mm")
        """,
    "fallback": HEAD + f"""
        def silu(x, out):
            try:
                {LAUNCH}
            except Exception:
                out.copy_(torch.nn.functional.silu(x))  # FLAG torch.nn.functional.silu|out.copy_
        """,
    "ghost_kernel": HEAD + f"""
        def silu(x, out):
            {LAUNCH}
            torch.mm(x, x, out=out)  # FLAG torch.mm
        """,
    "in_helper": """
        def silu(x, out):
            first(x, out)
        def first(x, out):
            second(x, out)
        def second(x, out):
            torch.mm(x, x, out=out)  # FLAG torch.mm
        """,
    "in_method": """
        class Worker:
            def __call__(self, x, out):
                self.run(x, out)
            def run(self, x, out):
                torch.mm(x, x, out=out)  # FLAG torch.mm
        def silu(x, out):
            Worker()(x, out)
        """,
    "in_decorator": """
        def swap(function):
            return lambda x, out: torch.mm(x, x, out=out)  # FLAG torch.mm
        @swap
        def silu(x, out):
            pass
        """,
    "in_table": """
        TABLE = {
            "a": torch.mm,  # FLAG torch.mm
        }
        def silu(x, out):
            TABLE["a"](x, x, out=out)
        """,
    "in_default": """
        def silu(x, out, mm=torch.mm):  # FLAG torch.mm
            mm(x, x, out=out)
        """,
    "in_lambda": """
        def silu(x, out):
            f = lambda: torch.mm(x, x, out=out)  # FLAG torch.mm
            f()
        """,
    "by_globals": """
        def hidden(x, out):
            torch.mm(x, x, out=out)  # FLAG torch.mm
        def silu(x, out):
            globals()["hid" + "den"](x, out)
        """,
    "at_import": """
        first = torch.sigmoid(torch.arange(10.0))  # FLAG torch.sigmoid
        TABLE = [first]
        TABLE.append(torch.exp(first))  # FLAG torch.exp
        def silu(x, out):
            TABLE[0]
        """,
    "graded_is_torch": """
        from torch.nn.functional import silu  # FLAG torch.nn.functional.silu
        """,
    "compiled": """
        @torch.compile  # FLAG torch.compile
        def silu(x, out):
            pass
        """,
    "scripted": """
        def silu(x, out):
            torch.jit.script(lambda a: a)  # FLAG torch.jit.script
            torch.ops.aten.mm.out(x, x, out=out)  # FLAG torch.ops.aten.mm.out
        """,
    "layers": """
        from torch import nn
        layer = nn.SiLU()  # FLAG torch.nn.SiLU
        def silu(x, out):
            layer(x)
        """,
    "extension": """
        from torch.utils.cpp_extension import load_inline
        def silu(x, out):
            load_inline("a", "b")  # FLAG torch.utils.cpp_extension.load_inline
        """,
    "vendor": """
        import ctypes
        import cupy as cp
        def silu(x, out):
            ctypes.CDLL("libcublas.so")  # FLAG ctypes.CDLL
            cp.matmul(x, x)  # FLAG cupy.matmul
        """,
    "evaluating": """
        def silu(x, out):
            exec("torch.mm(x, x, out=out)")  # FLAG exec
            eval("x @ x")  # FLAG eval
            __import__("torch").mm(x, x)  # FLAG torch.mm
        """,
    "import_module": """
        import importlib, sys
        def silu(x, out):
            importlib.import_module("torch").mm(x, x)  # FLAG torch.mm
            sys.modules["torch"].mm(x, x)  # FLAG torch.mm
        """,
    "roundabout": """
        import triton.testing
        def silu(x, out):
            triton.testing.torch.mm(x, x)  # FLAG triton.testing.torch.mm
            torch.cuda.torch.mm(x, x)  # FLAG torch.cuda.torch.mm
            vars(torch)["mm"](x, x)  # FLAG torch
        """,
    "patching": """
        import triton
        def silu(x, out):
            torch.Tensor.numpy = None  # FLAG torch.Tensor.numpy
            triton.jit = None  # FLAG triton.jit
        """,
    "torch_in_kernel": """
        import triton
        import numpy as np
        @triton.jit
        def kernel(x, out):
            torch.mm(x, x)  # FLAG torch.mm
            np.sqrt(x)  # FLAG numpy.sqrt
            x.handle  # FLAG x.handle
        def silu(x, out):
            kernel[(1,)](x, out)
        """,
    "pretended_kernel": """
        class triton:
            jit = staticmethod(lambda f: f)
        @triton.jit
        def kernel(x, out):
            out.copy_(x)  # FLAG out.copy_
        def silu(x, out):
            kernel(x, out)
        """,
    "own_name": """
        __name__ = "__main__"
        def silu(x, out):
            TABLE
        if __name__ == "__main__":
            TABLE = torch.mm(torch.ones(1, 1), torch.ones(1, 1))  # FLAG torch.mm
        """,
    "escaping": """
        import os, subprocess
        def silu(x, out):
            subprocess.run(["true"])  # FLAG subprocess.run
            os.fork()  # FLAG os.fork
            torch.cuda.os.fork()  # FLAG torch.cuda.os.fork
            open("/proc/self/mem")  # FLAG open("/proc/self/mem")
            os.pread(4, 10, 0)  # FLAG os.pread
            open("/pro" + "c")  # FLAG open("/pro" + "c")
        """,
    "names_put_together": """
        import importlib, operator, sys, os
        from torch import Tensor
        def silu(x, out):
            getattr(os, "fo" + "rk")  # FLAG getattr(os, "fo" + "rk")
            importlib.import_module("to" + "rch")  # FLAG importlib.import_module("to" + "rch")
            sys.modules.get("torch")  # FLAG sys.modules.get
            os.__dict__["fork"]  # FLAG os.__dict__
            vars(os)["fork"]  # FLAG os
            operator.attrgetter("nu" + "mpy")(x)  # FLAG operator.attrgetter("nu" + "mpy")
            operator.attrgetter("numpy")(x)  # FLAG operator.attrgetter("numpy")
            list(map(getattr, [x], ["numpy"]))  # FLAG getattr
            type("A", (), {})  # FLAG type("A", (), {})
            for name in ("float32", "mm"):
                getattr(torch, name)  # FLAG torch.mm
        """,
    "insides": """
        import gc, pickle, types, codeop
        def silu(x, out):
            torch.Tensor.__mro__[1]  # FLAG torch.Tensor.__mro__
            object.__subclasses__()  # FLAG object.__subclasses__
            silu.__code__  # FLAG silu.__code__
            kernel.fn.__globals__["__builtins__"]  # FLAG kernel.fn.__globals__|"__builtins__"
            globals()["__buil" + "tins__"]  # FLAG "__buil" + "tins__"
            super(torch.Tensor, x).tolist()  # FLAG super(torch.Tensor, x)
            keep = x.numpy  # FLAG x.numpy
            keep()
            x.handle  # FLAG x.handle
            gc.get_objects()  # FLAG gc.get_objects
            pickle.loads(b"")  # FLAG pickle.loads
            types.FunctionType  # FLAG types.FunctionType
            codeop.compile_command("")  # FLAG codeop.compile_command
            try:
                pass
            except ValueError as error:
                frame = error.__traceback__.tb_frame  # FLAG error.__traceback__.tb_frame
                list(frame.f_back)  # FLAG frame.f_back
        """,
    "array_at_an_address": """
        import numpy as np
        class A:
            __array_interface__ = {}  # FLAG __array_interface__
        def silu(x, out):
            np.array(A())
        """,
    "fork_in_a_test": """
        import os
        def test():
            os.fork()  # FLAG os.fork
        test()
        def silu(x, out):
            pass
        """,
}


def text(source: str) -> str:
    """Sources above are indented for reading, their shared head is not."""
    head = source.startswith((HEAD, "import", "\ufeff", "PATTERN")) and source.find("\n        ")
    if head and head > 0:
        return source[:head] + textwrap.dedent(source[head:])
    return textwrap.dedent(source)


@pytest.mark.parametrize("name", HONEST)
def test_honest_source_is_not_flagged(name: str) -> None:
    assert read_source(text(HONEST[name]).encode(), ASSIGNMENTS["silu"]) == []


@pytest.mark.parametrize("name", COPIES)
def test_copies_are_free_only_where_the_assignment_allows_them(name: str) -> None:
    source = text(COPIES[name])
    assert read_source(source.encode(), ASSIGNMENTS["copy_first_column"]) == []
    elsewhere = source.replace("copy_first_column(matrix, out)", "silu(matrix, out)")
    found = read_source(elsewhere.encode(), ASSIGNMENTS["silu"])
    assert {v.what.rpartition(".")[2] for v in found} & {"copy_", "clone"}


@pytest.mark.parametrize("name", DISHONEST)
def test_dishonest_source_is_flagged_at_its_line(name: str) -> None:
    source = "import torch\n" + text(DISHONEST[name])
    expected = {(number, what) for number, line in enumerate(source.splitlines(), 1) if (flag := FLAG.search(line))
                for what in flag[1].split("|")}
    found = read_source(source.encode(), ASSIGNMENTS["silu"])
    assert expected
    assert {(v.line, v.what) for v in found} == expected
    assert all(v.why for v in found)


@pytest.mark.parametrize("folder", ["student_template", "reference"])
@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_our_own_files_are_honest(folder: str, name: str) -> None:
    assignment = ASSIGNMENTS[name]
    assert read_source((ROOT / folder / assignment.file).read_bytes(), assignment) == []


@pytest.mark.parametrize(("source", "kind", "line", "words"), [
    (b"", "missing_function", 0, "silu(x, out)"),
    (b"def SiLU(x, out): pass\n", "missing_function", 0, "found: SiLU"),
    (b"if __name__ == '__main__':\n    def silu(x, out): pass\n", "missing_function", 0, "no function named silu"),
    (b"class A:\n    def silu(x, out): pass\n", "missing_function", 0, "no function named silu"),
    (b"def silu(x, out):\n    pass\n\0", "unreadable_source", 3, "null byte"),
    ("# größe\ndef silu(x, out): pass\n".encode("latin-1"), "unreadable_source", 1, "0xf6 is not UTF-8"),
    (b"a = 1\n" * MAX_BYTES, "unreadable_source", 0, "bytes long"),
    (b"def silu(x, out)\n    pass\n", "syntax_error", 1, "expected ':'"),
    (b"def silu(x, out):\npass\n", "syntax_error", 2, "indented block"),
    (b"def silu(x):\n    pass\n", "wrong_signature", 1, "expected silu(x, out), found silu(x)"),
    (b"\ndef silu(x: int, *, out): pass\n", "wrong_signature", 2, "found silu(x, *, out)"),
    (b"def silu(out, x): pass\n", "wrong_signature", 1, "found silu(out, x)"),
    (b"def silu(a, b, c): pass\n", "wrong_signature", 1, "found silu(a, b, c)"),
    (b"async def silu(x, out): pass\n", "wrong_signature", 1, "found async def silu(x, out)"),
    (b"def silu(a=0x" + b"f" * 5000 + b", *, b): pass\n", "wrong_signature", 1, "found silu(…)"),
    (b"\n" + b"".join(b"from m%d import *\n" % i for i in range(9)), "unreadable_source", 10, "more than 8 modules"),
])
def test_a_file_that_cannot_be_graded(source: bytes, kind: str, line: int, words: str) -> None:
    with pytest.raises(SourceProblem) as caught:
        read_source(source, ASSIGNMENTS["silu"])
    assert (caught.value.kind, caught.value.line) == (kind, line)
    assert words in caught.value.message
    assert "\n" not in caught.value.message and len(caught.value.message) < 300


@pytest.mark.parametrize("source", [
    b"def silu(*args): pass", b"def silu(x, out=None, *rest): pass", b"silu = print", b"from kernels import silu",
    b"try:\n    import a\nexcept ImportError:\n    def silu(x, out): pass", b"from kernels import *",
    b"@decorated\ndef silu(): pass", b"globals()['silu'] = print",
])
def test_what_only_a_run_can_tell_is_left_to_it(source: bytes) -> None:
    assert read_source(source, ASSIGNMENTS["silu"]) == []


def test_a_number_too_long_to_write_down_is_no_main_guard() -> None:
    source = f"import torch\ndef silu(x, out):\n    pass\nif 0x{'f' * 5000} == 1:\n    silu = torch.mm\n"
    assert [v.line for v in read_source(source.encode(), ASSIGNMENTS["silu"])] == [5]


@pytest.mark.parametrize(("guard", "flagged"), [
    ("__name__ == '__main__'", False), ("'__main__' == __name__", False), ("__name__ == '__main__' == __name__", False),
    ("__name__ == 'main'", True), ("__name__ == __name__", True), ("__name__ != '__main__'", True),
])
def test_only_a_main_guard_keeps_its_body_from_running(guard: str, flagged: bool) -> None:
    source = f"import torch\ndef silu(x, out):\n    pass\nif {guard}:\n    silu = torch.mm\n"
    assert bool(read_source(source.encode(), ASSIGNMENTS["silu"])) == flagged


def test_what_a_violation_quotes_can_be_written_on_one_line() -> None:
    source = b"import torch\ndef silu(x, out):\n    getattr(torch, '\\ud800\\n\\x1b[31m')\n"
    (violation,) = read_source(source, ASSIGNMENTS["silu"])
    assert violation.what == "torch.\\ud800\\n\\x1b[31m"


def nested_if(depth: int) -> str:
    return "".join(" " * i + "if x:\n" for i in range(depth)) + " " * depth + "pass\n"


@pytest.mark.parametrize("piece", [
    "(" * 100_000, "(" * 60_000 + ")" * 60_000, "[" * 150 + "]" * 150, "-" * 100_000 + "1", "~" * 5_000 + "1",
    "a" + ".b" * 60_000, "a" + ".b" * 3_000, "1" + "+1" * 60_000, "1" + "+1" * 2_000, "1" + "**1" * 2_000,
    "not " * 5_000 + "1", "lambda: " * 5_000 + "1", "1" + " if 1 else 1" * 3_000, "f" + "()" * 20_000,
    "a" + "[0]" * 20_000, "a" + " = a" * 5_000, "await " * 500 + "a",
    nested_if(90), nested_if(500), nested_if(5_000),
    "if x: pass\n" + "elif x: pass\n" * 3_000, "x" * 120_000, "1" * 100_000, 'f"{' * 500, "f'{x:" * 200 + "}'" * 200,
    "a = a.b\n" * 5_000, "import torch as a\n" + "a = a.b\n" * 8_000, "f" + "(0)" * 100 + ".mm()" * 30,
    "f(" + "0," * 20_000 + ")" + ".mm()" * 60,
    "globals()\n" * 8_000, "x @ y\n" * 10_000, "lambda x: x\n" * 6_000,
    "def f(): f()\n" * 6_000, "class A:\n    def f(self): A.f()\n" * 4_000, "try: pass\nexcept: pass\n" * 5_000,
    # What names, values, star imports and texts are times what they are looked for in.
    "".join(f"a{i}," for i in range(9_000)) + "= f(" + "torch.mm," * 6_000 + ")\n",
    "".join(f"a{i} = " for i in range(7_000)) + "[" + "lambda: 0," * 6_000 + "]\n",
    "for n in (" + "".join(f"'m{i}'," for i in range(7_000)) + "): pass\n" + "getattr(x, n)\n" * 4_000,
    "if x:\n def f(): f()\n" * 6_000,
    "".join(f"from m{i} import *\n" for i in range(2_500)) + "".join(f"a{i}\n" for i in range(9_000)),
    "'" * 99_999, "\\\n" * 50_000, "\t \t", "x = (yield)\n" * 100,
], ids=lambda piece: f"{piece[:12].strip()}-{len(piece)}".encode("unicode_escape").decode())
def test_no_nesting_brings_the_reader_down(piece: str) -> None:
    for source in (piece, f"def silu(x, out): a0\n{piece}\n"):
        begun = time.process_time()
        try:
            read_source(source.encode(), ASSIGNMENTS["silu"])
        except SourceProblem as problem:
            assert problem.kind in ("unreadable_source", "syntax_error", "missing_function")
        assert time.process_time() - begun < SECONDS


TOKENS = st.sampled_from([
    "torch", "triton", "tl", "silu", "x", "out", ".", ",", ":", "(", ")", "[", "]", "{", "}", "=", ":=", "@", "+", "-",
    "*", "**", " ", "\n", "\n    ", "def ", "class ", "lambda ", "if ", "else ", "for ", "in ", "return ", "import ",
    "from ", "as ", "global ", "getattr", "'mm'", "__name__", "1", "f'{x}'", "try:", "except ", "with ", "async ", "\\",
])


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(st.one_of(st.binary(max_size=200), st.lists(TOKENS, max_size=60).map(lambda t: "".join(t).encode())))
def test_any_bytes_give_violations_or_a_source_problem(source: bytes) -> None:
    for given_source in (source, PLAIN.encode() + source):
        try:
            violations = read_source(given_source, ASSIGNMENTS["silu"])
        except SourceProblem as problem:
            assert problem.message
        else:
            assert all(v.line >= 0 and len(v.what) <= 60 for v in violations)


def use(name: str, line: int = 5, count: int = 1) -> OperatorUse:
    return OperatorUse(name=name, line=line, count=count)


KERNEL = KernelUse(name="kernel", line=3, programs=7)


def record(*uses: OperatorUse, kernels: tuple[KernelUse, ...] = (KERNEL,), name: str = "silu") -> list[Violation]:
    assignment: Assignment = ASSIGNMENTS[name]
    return judge_record(uses, kernels, assignment)


def test_record_of_allocation_views_and_a_kernel_is_clean() -> None:
    names = ["empty", "zeros", "zero_", "fill_", "view", "slice", "select", "t", "transpose", "as_strided", "alias"]
    assert record(*(use(f"aten::{name}") for name in names)) == []


@pytest.mark.parametrize("name", [
    "aten::mm", "aten::copy_", "aten::_to_copy", "aten::clone", "aten::_local_scalar_dense", "numpy", "tolist",
    "untyped_storage", "mylib::silu", "os.fork", "open /proc/1/mem",
])
def test_record_of_computing_is_a_violation(name: str) -> None:
    assert [(v.line, v.what) for v in record(use(name, 9), use("aten::empty"))] == [(9, name)]


def test_record_without_a_kernel_is_a_violation() -> None:
    assert [(v.line, v.what) for v in record(kernels=())] == [(0, "no kernel was launched")]
    assert record(kernels=(KernelUse(name="kernel", line=3, programs=0),)) != []


def test_record_of_copies_needs_no_kernel_where_copies_are_allowed() -> None:
    assert record(use("aten::select"), use("aten::copy_"), kernels=(), name="copy_first_column") == []
    assert record(use("aten::select"), kernels=(), name="copy_first_column") != []
    assert record(use("aten::is_pinned"), kernels=(), name="copy_first_column") != []
    assert [v.what for v in record(use("aten::index_select"), name="copy_first_column")] == ["aten::index_select"]


def test_record_of_elements_written_one_by_one_is_a_violation() -> None:
    assert record(use("aten::fill_", count=4)) == []
    assert [v.what for v in record(use("aten::fill_", count=4000))] == ["aten::fill_"]
