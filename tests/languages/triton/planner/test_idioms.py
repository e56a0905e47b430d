"""Host code that people write around a kernel: each plans, and its launch is in the plan."""

from __future__ import annotations

import textwrap

import pytest

from grader.plan.plan import Fill, Launch, Plan
from tests.languages.triton.planner.harness import assignment_of, plan_file

KERNEL = '''
import torch
import triton
import triton.language as tl

@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x * tl.sigmoid(x), mask=offsets < n)

def launch(x, out):
    n = x.numel()
    return kernel[(triton.cdiv(n, 64),)](x, out, n, BLOCK=64)
'''

BODIES = {
    "empty_like": "launch(x, torch.empty_like(x)); launch(x, out)",
    "like_what_is_turned": "assert torch.empty_like(x.t()).stride() == x.t().stride()\n"
                           "assert torch.zeros_like(x.t(), memory_format=torch.contiguous_format).is_contiguous()\n"
                           "assert torch.full_like(x, 1, dtype=torch.float16).dtype == torch.float16; launch(x, out)",
    # A third of a second in each planner, where PyTorch is asked for these on its meta device.
    "like_without_sympy": "import sys\nfor name in [*sys.modules]:\n"
                          "    if name.partition('.')[0] == 'sympy': del sys.modules[name]\n"
                          "torch.empty_like(x); torch.zeros_like(x.t()); x.to('cuda')\n"
                          "assert 'sympy' not in sys.modules; launch(x, out)",
    "zeros_like": "launch(torch.zeros_like(x), out)",
    "ones_full": "launch(torch.full_like(x, 2.0), torch.ones_like(x)); launch(x, out)",
    "new_tensors": "launch(x.new_zeros(x.shape), x.new_empty(4, 4)); launch(x.new_full((3,), 1), out)",
    "fill_by_slice": "out[:] = 0; out[0, 0] = 1.5; launch(x, out)",
    "fill_by_ellipsis": "out[...] = float('-inf'); launch(x, out)",
    "fill_methods": "out.zero_(); out.fill_(3); launch(x, out)",
    "fill_by_tensor": "out[:] = torch.tensor(2.0); launch(x, out)",
    "streams": "s = torch.cuda.Stream(); s.wait_stream(torch.cuda.current_stream())\n"
               "with torch.cuda.stream(s): launch(x, out)\ntorch.cuda.current_stream().wait_stream(s)",
    "stream_as_context": "with torch.cuda.Stream(): launch(x, out)",
    "events": "a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)\n"
              "a.record(); launch(x, out); b.record(); b.synchronize(); assert a.elapsed_time(b) >= 0",
    "synchronize": "launch(x, out); torch.cuda.synchronize(); torch.cuda.current_stream().synchronize()",
    "set_device": "torch.cuda.set_device(x.device); torch.cuda.set_device(0); launch(x, out)",
    "device_guards": "with torch.cuda.device(x.device), torch.cuda.device_of(x): launch(x, out)",
    "device_index": "with torch.cuda.device(x.get_device()): launch(x, torch.empty(4, device=x.device.index))\n"
                    "launch(x, out)",
    "to_its_device": "assert x.to(x.device) is x; launch(x.to('cuda'), out.to('cuda:0', non_blocking=True))",
    "to_its_dtype": "launch(x.to(torch.float32).float(), out)",
    "cuda_method": "launch(x.cuda(), out.cuda(0))",
    "contiguous": "launch(x.contiguous(), out)",
    "device_checks": "assert x.is_cuda and out.device.type == 'cuda' and x.device == torch.device('cuda', 0)\n"
                     "assert not x.is_cpu and not x.is_meta and x.type() == 'torch.cuda.FloatTensor'; launch(x, out)",
    "views": "launch(x.view(-1).reshape(x.shape).t().t()[:2].unsqueeze(0).squeeze(), out.flatten())",
    "chunks": "for a, b in zip(x.chunk(2), out.chunk(2)): launch(a, b)",
    "rows": "for i in range(x.shape[0]): launch(x[i], out[i])",
    "split_and_unbind": "a, *_ = x.split(2); b, *_ = out.unbind(0); launch(a, out); launch(x, b)",
    "as_strided": "launch(x.as_strided((2, 2), (1, 2)), out)",
    "view_as_bytes": "launch(x.view(torch.int32).view(torch.float32), out)",
    "expand_and_permute": "launch(x.expand(2, *x.shape), out.permute(1, 0)); launch(x.movedim(0, 1), out)",
    "detach_and_data": "launch(x.detach(), out.data)",
    "no_grad": "with torch.no_grad(): launch(x, out)",
    "inference_mode": "with torch.inference_mode(): launch(x.reshape(-1), torch.empty_like(out)); launch(x, out)",
    "record_stream": "x.record_stream(torch.cuda.current_stream()); launch(x, out)",
    "record_function": "with torch.profiler.record_function('silu'): launch(x, out)",
    "nvtx": "torch.cuda.nvtx.range_push('a'); launch(x, out); torch.cuda.nvtx.range_pop()\n"
            "with torch.cuda.nvtx.range('b'): torch.cuda.nvtx.mark('c')",
    "memory_statistics": "torch.cuda.empty_cache(); torch.cuda.reset_peak_memory_stats(); launch(x, out)\n"
                         "assert torch.cuda.max_memory_allocated() >= torch.cuda.memory_allocated()",
    "device_properties": "p = torch.cuda.get_device_properties(x.device)\n"
                         "assert p.multi_processor_count > 100 and p.L2_cache_size and p.warp_size == 32 and p.name\n"
                         "assert torch.cuda.get_device_capability() == (p.major, p.minor)\nlaunch(x, out)",
    "triton_properties": "d = triton.runtime.driver.active\nassert d.get_current_target().arch == 90\n"
                         "assert d.utils.get_device_properties(0)['multiprocessor_count'] > 100\n"
                         "assert d.get_active_torch_device() == x.device; launch(x, out)",
    "numpy_grid": "import numpy as np\nkernel[(np.int64(4), np.int32(1))](x, out, int(np.prod(x.shape)), BLOCK=64)",
    "numpy_sizes": "import numpy as np\ny = torch.empty(tuple(np.array(x.shape)), device='cuda'); launch(y, out)",
    "grid_by_function": "kernel[lambda meta: (triton.cdiv(x.numel(), meta['BLOCK']),)](x, out, x.numel(), BLOCK=64)",
    "grid_of_one": "kernel[1,](x, out, x.numel(), 64)",
    "result_of_a_launch": "k = launch(x, out)\nassert k.n_regs > 0 and k.n_spills >= 0 and k.metadata.shared >= 0\n"
                          "assert 'tt.func' in k.asm['ttir'] and k.metadata.num_warps == 4",
    "warmup": "k = kernel.warmup(x, out, x.numel(), BLOCK=64, grid=(1,)); k._init_handles()\n"
              "k[(4, 1, 1)](x, out, x.numel(), 64)",
    "warmup_by_dtype": "kernel.warmup(torch.float32, torch.float32, 16, BLOCK=64, grid=(1,)); launch(x, out)",
    "run_method": "kernel.run(x, out, x.numel(), BLOCK=64, grid=(4,), warmup=False)",
    "do_bench": "ms = triton.testing.do_bench(lambda: launch(x, out), quantiles=[0.5, 0.2, 0.8])\n"
                "assert len(ms) == 3; launch(x, out)",
    "choice_by_benchmark": "best = min([64, 128], key=lambda b: triton.testing.do_bench(lambda: None))\n"
                           "kernel[(triton.cdiv(x.numel(), best),)](x, out, x.numel(), BLOCK=best)",
    "options": "kernel[(4,)](x, out, x.numel(), BLOCK=64, num_warps=8, num_stages=2, maxnreg=64)",
    "asserts_on_shapes": "assert x.shape == out.shape and x.stride() == out.stride(), f'{x.shape} {x.dtype}'\n"
                         "assert x.is_contiguous() and x.dim() == 2 and x.element_size() == 4; launch(x, out)",
    "prints": "print('silu', x.shape, x.dtype, x.device, x.data_ptr() % 16); launch(x, out)",
    "small_tables": "launch(torch.tensor([1.0, 2.0], device=x.device), torch.arange(8, device='cuda')); launch(x, out)",
    "tables_moved": "launch(torch.tensor([1, 2]).float().to(x.device), torch.zeros(4).cuda()); launch(x, out)",
    "requires_grad": "x.requires_grad_(False); launch(x, out)",
    "pointers": "assert x.data_ptr() % 512 == 0 and x[1:].data_ptr() - x.data_ptr() == 4 * x.stride(0); launch(x, out)",
    "default_device": "torch.set_default_device('cuda')\nassert torch.empty(2).is_cuda; launch(x, out)",
    "device_context": "with torch.device('cuda'): assert torch.zeros(2).is_cuda\nlaunch(x, out)",
    "capturing": "assert not torch.cuda.is_current_stream_capturing(); launch(x, out)",
    "autocast": "with torch.autocast('cuda', enabled=False): launch(x, out)",
    "backends": "torch.backends.cuda.matmul.allow_tf32 = True; torch.set_float32_matmul_precision('high')\n"
                "torch.backends.cudnn.benchmark = True; launch(x, out)",
    "seeds": "torch.manual_seed(0); torch.cuda.manual_seed_all(0); launch(x, out)",
    "threads": "import threading\nt = threading.Thread(target=launch, args=(x, out)); t.start(); t.join()",
    "accelerator": "assert torch.accelerator.current_accelerator().type == 'cuda'\n"
                   "torch.accelerator.synchronize(); launch(x, out)",
    "type_checks": "assert isinstance(x, torch.Tensor) and torch.is_tensor(x) and x.dtype.is_floating_point\n"
                   "torch._assert(x.is_cuda, 'a GPU'); launch(x, out)",
}  # fmt: skip

FILES = {
    "module": """
class Silu(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(16))
        self.register_buffer("table", torch.arange(4))

    def forward(self, x, out):
        launch(self.weight, self.table)
        launch(x, out)

layer = Silu().cuda().eval()

def silu(x, out):
    layer(x, out)
""",
    "autograd_function": """
class Silu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, out):
        ctx.save_for_backward(x)
        launch(x, out)
        ctx.mark_dirty(out)
        return out

    @staticmethod
    def backward(ctx, grad):
        x, = ctx.saved_tensors
        return grad * torch.sigmoid(x), None

def silu(x, out):
    Silu.apply(x, out)
""",
    "unused_torch_compile": """
@torch.compile
def reference(x):
    return x * torch.sigmoid(x)

fast = torch.compile(lambda x: x, mode="max-autotune")

def silu(x, out):
    launch(x, out)
""",
    "decorators": """
import contextlib, functools

def timed(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        with section(fn.__name__):
            return fn(*args, **kwargs)
    return wrapper

@contextlib.contextmanager
def section(name):
    start = torch.cuda.Event(enable_timing=True)
    start.record()
    yield
    torch.cuda.synchronize()

@timed
@torch.no_grad()
def silu(x: float, out: float):
    launch(x, out)
""",
    "tables_at_top_level": """
DEVICE = triton.runtime.driver.active.get_active_torch_device()
TABLE = torch.tensor([1.0, 2.0, 3.0], device=DEVICE)
COUNTS = torch.zeros(8, dtype=torch.int32, device="cuda")
SMS = torch.cuda.get_device_properties(0).multi_processor_count
STREAM = torch.cuda.Stream()

def silu(x, out):
    launch(TABLE, COUNTS)
    launch(x, out)
""",
    "graph": """
graphs = {}

def silu(x, out):
    key = (x.data_ptr(), out.data_ptr())
    if key not in graphs:
        launch(x, out)
        graphs[key] = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graphs[key]):
            launch(x, out)
    graphs[key].replay()
""",
    "occupancy": """
properties = triton.runtime.driver.active.utils.get_device_properties(torch.cuda.current_device())

def silu(x, out):
    k = kernel.warmup(x, out, x.numel(), BLOCK=64, grid=(1,))
    k._init_handles()
    occupancy = properties["max_num_regs"] // (k.n_regs * properties["warpSize"] * 4)
    if k.metadata.shared:
        occupancy = min(occupancy, properties["max_shared_mem"] // k.metadata.shared)
    programs = properties["multiprocessor_count"] * occupancy
    kernel[(min(programs, triton.cdiv(x.numel(), 64)), 1, 1)](x, out, x.numel(), 64)
""",
}


CASE = next(case for case in assignment_of("silu").cases if case.name == "5x9")


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_an_idiom_in_the_function_plans(body: str) -> None:
    plan = plan_file(KERNEL + "def silu(x, out):\n" + textwrap.indent(body, "    "), "silu", CASE)
    assert isinstance(plan, Plan), plan
    assert any(isinstance(operation, Launch) for operation in plan.first)


@pytest.mark.parametrize("rest", FILES.values(), ids=FILES)
def test_an_idiom_of_a_file_plans(rest: str) -> None:
    plan = plan_file(KERNEL + rest, "silu", CASE)
    assert isinstance(plan, Plan), plan
    assert any(isinstance(operation, Launch) for operation in plan.first)


def test_fills_are_written_down_as_they_were_asked_for() -> None:
    plan = plan_file(KERNEL + "def silu(x, out):\n    out[1:, ::2] = 7\n", "silu", CASE)
    assert isinstance(plan, Plan)
    fill = plan.first[0]
    assert isinstance(fill, Fill)
    view = fill.target
    assert (fill.value, fill.line) == (7.0, 16)
    assert (view.buffer, view.offset, view.shape, view.strides) == (1, 9 * 4, [4, 5], [9, 2])
