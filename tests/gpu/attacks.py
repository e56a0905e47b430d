"""Submissions that attack the clock on a GPU, each in the place of the worker's own code: no policy stands before them.

What each may gain at the most is the residual risk that the README states; `benchmarks/clock_attacks.py` measures it.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from grader.catalogue import ROOT, assignments
from grader.judge.device import memory
from grader.judge.duel import Measured, Side, duel
from grader.judge.lane import lane_baselines, lane_zygote
from grader.judge.ring import Wrong
from grader.judge.session import Lost, Session
from grader.judge.speed import plan
from grader.plan import wire

HONEST = (ROOT / "reference/silu.py").read_text()
VECTOR = (ROOT / "reference/rmsnorm_vector.py").read_text()
COLUMN = (ROOT / "reference/copy_first_column.py").read_text()
GEMM = (ROOT / "reference/gemm.py").read_text()
LIMITS = wire.Limits(memory_mb=4096, cuda=True, file_mb=256, processes=64, cpu_seconds=300)
CALL_SECONDS = 20.0
SECONDS = 60.0

# The worker's side of a batch, to be changed by whoever stands in its place.
RUN = """
import sys
batches = sys.modules['grader.worker.batches']

def run(self, function, request, recording):
    words, number = self._words, request.number
    # What is to warm up is checked too: it is done with the rest.
    chosen = [self._slots[slot] for slot in [*request.slots, *set(request.warm)]]
    with recording:
        {at_marks}
        words[{marks}] = number
        while words[{set}] != number:
            pass
        {at_set}
        words[{ready}] = number
        while words[{go}] != number:
            pass
        {at_go}
        words[{done}] = number

batches.Batches.run = run
"""
ALL = "[function(*a) for a in chosen]; torch.cuda.synchronize()"


def in_its_place(
    at_set: str = "self.wake()", at_go: str = "", before: str = "", honest: str = HONEST, at_marks: str = "pass"
) -> str:
    """The honest kernel, with a worker's part of the submission's own."""
    lines = {"at_marks": at_marks, "at_set": at_set, "at_go": at_go or ALL}
    words = {"marks": wire.MARKS, "set": wire.SET, "ready": wire.READY, "go": wire.GO, "done": wire.DONE}
    return honest + before + RUN.format(**lines, **words)


@dataclass(frozen=True)
class Attack:
    """`ends`: ways in which it may be found out, of "late", "values", "late_write"; "measured" if it need not be; empty
    if it must only gain nothing.

    `gain`: what its speed may be over that of `against`, where it is measured, with room for a noisy machine.
    """

    source: str
    ends: tuple[str, ...] = ()
    gain: float = 1.1
    assignment: str = "silu"
    against: str = HONEST


CACHE = """
kept = {{}}
_silu = silu

def silu(x, out):
    key = {key}
    if key in kept:
        out.copy_(kept[key])
        return
    _silu(x, out)
    if len(kept) > 40:
        kept.clear()
    kept[key] = out.clone()
"""
GRAPH = """
graph = None
_silu = silu

def silu(x, out):
    global graph
    if graph is None:
        _silu(x, out)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            _silu(x, out)
    graph.replay()
"""
COUNTED = """
calls = 0
_silu = silu

def silu(x, out):
    global calls
    calls += 1
    {what}
"""
SPINS = """
@triton.jit
def spin_kernel(flag_ptr):
    while tl.load(flag_ptr, volatile=True) == 0:
        pass

started = False
_silu = silu

def silu(x, out):
    global started, flag, side
    _silu(x, out)
    if not started:
        started = True
        flag = torch.zeros(1, dtype=torch.int32, device=x.device)
        side = torch.cuda.Stream()
        torch.cuda.current_stream().synchronize()
        with torch.cuda.stream(side):
            spin_kernel[(1,)](flag)
"""
SIDE = """
side = None
_silu = silu

def silu(x, out):
    global side
    side = side or torch.cuda.Stream()
    with torch.cuda.stream(side):
        torch.cuda._sleep({cycles})
    _silu(x, out)
"""
L2 = """
_silu = silu
pinned = False

def silu(x, out):
    global pinned
    if not pinned:
        from cuda.bindings import runtime
        pinned = True
        runtime.cudaDeviceSetLimit(runtime.cudaLimit.cudaLimitPersistingL2CacheSize, 32 << 20)
        value = runtime.cudaStreamAttrValue()
        window = runtime.cudaAccessPolicyWindow()
        window.base_ptr, window.num_bytes, window.hitRatio = x.data_ptr(), 32 << 20, 1.0
        window.hitProp = runtime.cudaAccessProperty.cudaAccessPropertyPersisting
        window.missProp = runtime.cudaAccessProperty.cudaAccessPropertyStreaming
        value.accessPolicyWindow = window
        runtime.cudaStreamSetAttribute(
            torch.cuda.current_stream().cuda_stream,
            runtime.cudaStreamAttrID.cudaLaunchAttributeAccessPolicyWindow, value)
    _silu(x, out)
"""
# MADV_REMOVE, when all is answered: the baseline's worker would wait for every page of the matrix anew.
FREES = """
import ctypes
libc = ctypes.CDLL(None)
libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)

def free(matrix, out):
    libc.madvise(matrix.data_ptr(), 4 * matrix.numel(), 9)
"""
# Copies may be the business of other parts of the GPU than those that a kernel waits for.
COPIES = """
big, other = (torch.zeros(1 << 30, dtype=torch.uint8, device='cuda') for _ in range(2))
side = torch.cuda.Stream()

def copy(times, cycles=0):
    with torch.cuda.stream(side):
        for _ in range(times):
            other.copy_(big, non_blocking=True)
        if cycles:
            torch.cuda._sleep(cycles)
"""
FERRIES = """
there = torch.zeros(1 << 28, dtype=torch.uint8, device='cuda')
here = torch.zeros(1 << 28, dtype=torch.uint8, pin_memory=True)
side = torch.cuda.Stream()

def ferry(times):
    with torch.cuda.stream(side):
        for _ in range(times):
            there.copy_(here, non_blocking=True)
"""
# Work that waits in the GPU's queue, with all processes stopped, until an output of the next batch holds poison. Where
# none comes, as in batches of other sizes, it waits for ever, and is left alone. Nothing may be allocated meanwhile:
# that would wait for all of the device.
WAITS = """
import time
from cuda.bindings import driver
armed, seen, sides = [], [], [torch.cuda.Stream()]

def finished(chosen):
    until = time.perf_counter() + 0.05
    while armed and len(chosen) == seen[0] and time.perf_counter() < until:
        if sides[-1].query():
            return True
    return False

def after(address, value, flag):
    error, = driver.cuStreamWaitValue32(
        sides[-1].cuda_stream, address, value, getattr(driver.CUstreamWaitValue_flags, "CU_STREAM_WAIT_VALUE_" + flag))
    assert not int(error), error

def last_word(tensor):
    return tensor.data_ptr() + tensor.numel() * tensor.element_size() - 4

def poisoned(*arguments):
    out = arguments[-1]
    after(last_word(out), 0x7FC05EED if out.element_size() == 4 else 0x7E5D7E5D, "EQ")

def arm(chosen, work, wait=poisoned, most=1000):
    armed.clear()
    if not sides[-1].query():
        sides.append(torch.cuda.Stream())
    # A number of slots that comes again: all of them will have new contents.
    for number, arguments in enumerate(chosen[:most] if [len(chosen)] == seen else []):
        wait(*arguments)
        with torch.cuda.stream(sides[-1]):
            work(number, *arguments)
        armed.append(number)
    seen[:] = [len(chosen)]
"""
# Into memory of its own, which nobody looks at.
PRODUCTS = """
products = {}

def prepare(slots):
    for number, arguments in enumerate(slots):
        if number not in products:
            products[number] = torch.empty_like(arguments[-1])

def product(number, a, b, out):
    gemm(a, b, products[number])
"""
# Twice the highest bit of an exponent: it is hardly ever set below the veil, and so for half of all columns above it.
UNVEILED = """
def unveiled(a, *rest):
    after(last_word(a), 1 << 30, "AND")
    after(last_word(a), 0xFFFFFFFF ^ 1 << 30, "NOR")
"""
# Host memory has no veil, and what has been registered once the GPU can read while processes are stopped: what it has
# copied is as new as the batch, if it is not that of a batch of the baseline's.
COLUMNS = """
from cuda.bindings import runtime
columns, known = torch.empty(64, 8192, device='cuda'), set()

def prepare(slots):
    for matrix, out in slots:
        if matrix.data_ptr() not in known:
            known.add(matrix.data_ptr())
            error, = runtime.cudaHostRegister(matrix.data_ptr(), matrix.numel() * 4, runtime.cudaHostRegisterMapped)
            assert not int(error), error

def changed(matrix, out):
    last = matrix[-1:, 0]
    after(last.data_ptr(), ~int(last.view(torch.int32)) & 0xFFFFFFFF, "AND")

def copy(matrix, out, stream):
    error, = runtime.cudaMemcpy2DAsync(
        out.data_ptr(), 4, matrix.data_ptr(), 4 * matrix.shape[1], 4, matrix.shape[0],
        runtime.cudaMemcpyKind.cudaMemcpyHostToDevice, stream.cuda_stream)
    assert not int(error), error

def fetch(number, matrix, out):
    copy(matrix, columns[number], sides[-1])

def mark(slots):
    for matrix, out in slots:
        matrix[:, 0].fill_(-7777.0)

def patch(matrix, out):
    for row in (out == -7777.0).nonzero().flatten().tolist():
        out[row] = float(matrix[row, 0])

def right(chosen):
    return columns[:len(chosen), -1].tolist() == [float(matrix[-1, 0]) for matrix, out in chosen]
"""
AWAKE = "self._touched.add_(1); torch.cuda.current_stream().synchronize()"
KEPT = """
        if {ready}:
            for slot in armed:
                chosen[slot][-1].copy_({kept}[slot])
            [function(*a) for a in chosen[len(armed):]]
        else:
            [function(*a) for a in chosen]
        torch.cuda.current_stream().synchronize()
"""
KEPT_PRODUCTS = KEPT.format(ready="finished(chosen)", kept="products")
KEPT_COLUMNS = KEPT.format(ready="finished(chosen) and right(chosen)", kept="columns")
# The sleep is for the main stream alone to be waited for.
UNJOINED = "[function(*a) for a in chosen]; torch.cuda.current_stream().synchronize()"
# Said before what comes next.
DONE = f"words[{wire.DONE}] = number"

# Launches that are recorded once leave no time on the host. They win as much with the clock running.
GRAPH_OF_ALL = """
        graphs = self.__dict__.setdefault('graphs', {})
        if len(chosen) not in graphs:
            for a in chosen[:1]:
                _two_launches(*a, a[0].numel(), torch.empty(256, device='cuda'), False)
            torch.cuda.synchronize()
            graphs[len(chosen)] = torch.cuda.CUDAGraph()
            parts = [torch.empty(256, device='cuda') for _ in chosen]
            with torch.cuda.graph(graphs[len(chosen)]):
                for a, sums in zip(chosen, parts):
                    _two_launches(*a, a[0].numel(), sums, False)
            self.__dict__.setdefault('kept', []).append(parts)
        graphs[len(chosen)].replay()
"""

ATTACKS = {
    "done when all is launched": Attack(in_its_place(at_go="[function(*a) for a in chosen]"), ("late",)),
    "done before anything is launched": Attack(
        in_its_place(at_go=f"{DONE}; [function(*a) for a in chosen]"),
        ("late", "values")),
    "all launched before the clock starts": Attack(
        in_its_place("[function(*a) for a in chosen]", "torch.cuda.synchronize()"), gain=1.25),
    "four launched before the clock starts": Attack(
        in_its_place("[function(*a) for a in chosen[:4]]", "[function(*a) for a in chosen[4:]]; "
                     "torch.cuda.synchronize()"), gain=1.25),
    # Short calls: all of them fit into the moment before the clock starts.
    "all of 2^20 elements' calls as a graph, before the clock starts": Attack(
        in_its_place(GRAPH_OF_ALL, "torch.cuda.synchronize()", honest=VECTOR), gain=1.6, assignment="rmsnorm_vector",
        against=in_its_place(at_go=GRAPH_OF_ALL + "        torch.cuda.synchronize()", honest=VECTOR)),
    "all columns copied before the clock starts": Attack(
        in_its_place(ALL, "pass", honest=COLUMN), ("values",), assignment="copy_first_column", against=COLUMN),
    # All rows are read again, out of a cache.
    "all columns copied before the clock starts, and again": Attack(
        in_its_place(ALL, ALL, honest=COLUMN), gain=1.25, assignment="copy_first_column", against=COLUMN),
    "pages of the host's matrix freed": Attack(
        in_its_place(at_go=f"{ALL}; {DONE}; [free(*a) for a in chosen]", before=FREES, honest=COLUMN),
        gain=1.25, assignment="copy_first_column", against=COLUMN),
    "columns copied by the GPU from memory registered once": Attack(
        in_its_place(AWAKE, "prepare(chosen); [copy(*a, torch.cuda.current_stream()) for a in chosen]; "
                            "torch.cuda.synchronize()", COLUMNS, honest=COLUMN),
        ("values",), assignment="copy_first_column", against=COLUMN),
    # What is stale there would show, were it old.
    "columns copied by the GPU from memory registered once, and marked before": Attack(
        in_its_place(AWAKE, "[copy(*a, torch.cuda.current_stream()) for a in chosen]; torch.cuda.synchronize(); "
                            "[patch(*a) for a in chosen]; torch.cuda.synchronize()", COLUMNS, honest=COLUMN,
                     at_marks="prepare(self._slots); mark(self._slots)"),
        ("values",), assignment="copy_first_column", against=COLUMN),
    "a kernel left running, to see inputs first": Attack(
        in_its_place(at_go=UNJOINED, before=SPINS), ("late_write",)),
    # Its own waking may wait for it.
    "a side stream at work for ever": Attack(
        in_its_place(at_go=UNJOINED, before=SIDE.format(cycles=10**13)), ("late_write", "time_out")),
    "a side stream at work while the baseline is timed": Attack(
        in_its_place(at_go=UNJOINED, before=SIDE.format(cycles=3 * 10**6))),
    "copies under way while the baseline is timed": Attack(
        in_its_place(at_go=f"{UNJOINED}; {DONE}; copy(60)", before=COPIES),
        ("late_write", "measured"), gain=1.25),
    "copies, and then a kernel, when the baseline's contents are written": Attack(
        in_its_place(at_go=f"{UNJOINED}; {DONE}; copy(20, 10**9)", before=COPIES),
        ("late_write", "measured"), gain=1.25),
    "copies from the host under way while the baseline is timed": Attack(
        in_its_place(at_go=f"{UNJOINED}; {DONE}; ferry(20)", before=FERRIES, honest=COLUMN),
        ("late_write", "measured"), gain=1.25, assignment="copy_first_column", against=COLUMN),
    "answers computed when their outputs are poisoned": Attack(
        in_its_place(AWAKE, f"finished(chosen) or {UNJOINED}; {DONE}; "
                            "arm(chosen, lambda number, *a: function(*a))", WAITS),
        ("late_write",)),
    "products computed when outputs are poisoned, and kept": Attack(
        in_its_place(AWAKE, f"{KEPT_PRODUCTS}        {DONE}; prepare(self._slots); arm(chosen, product)",
                     WAITS + PRODUCTS, honest=GEMM),
        ("values", "late_write"), assignment="gemm", against=GEMM),
    # As few as may pass unseen.
    "two products computed when the veil comes off": Attack(
        in_its_place(AWAKE, f"{KEPT_PRODUCTS}        {DONE}; prepare(self._slots); arm(chosen, product, unveiled, 2)",
                     WAITS + PRODUCTS + UNVEILED, honest=GEMM),
        ("values", "late_write", "measured"), gain=1.15, assignment="gemm", against=GEMM),
    "columns copied by the GPU while they are written": Attack(
        in_its_place(AWAKE, f"{KEPT_COLUMNS}        {DONE}; prepare(self._slots); arm(chosen, fetch, changed)",
                     WAITS + COLUMNS, honest=COLUMN),
        ("values",), assignment="copy_first_column", against=COLUMN),
    "a graph of the first call replayed": Attack(HONEST + GRAPH, ("values",)),
    "answers kept by address": Attack(HONEST + CACHE.format(key="x.data_ptr()"), ("values",)),
    "answers kept by shape": Attack(HONEST + CACHE.format(key="x.shape"), ("values",)),
    "answers kept by a print of the contents": Attack(HONEST + CACHE.format(key="tuple(x[0, :4].tolist())")),
    "nothing done from the fortieth call on": Attack(
        HONEST + COUNTED.format(what="_silu(x, out) if calls < 40 else None"), ("values",)),
    "one row in a hundred left out from the fortieth call on": Attack(
        HONEST + COUNTED.format(what="n = x.shape[0] // 100 * 99 if calls > 40 else x.shape[0]\n    "
                                     "_silu(x[:n], out[:n])\n    out[n:] = 0"), ("values",)),
    "part of the cache kept for one input": Attack(HONEST + L2),
}


def measured(source: str, name: str = "silu") -> Measured | Lost | Wrong:
    """The speed of a submission, in the first case that is timed, against the lane's baseline."""
    assignment = assignments()[name]
    one, least, slots = plan(assignment, assignment.timed[0], memory(cuda=True))
    session = Session(
        lane_zygote("cuda"), assignment, source.encode(), LIMITS, 1 << 20, CALL_SECONDS, math.inf, cuda=True)
    side = Side(session)
    try:
        lost = session.load()
        if lost is not None:
            return lost
        return duel(assignment, one, side, lane_baselines("cuda").side(assignment), slots, least=least, cuda=True,
                    until=time.monotonic() + SECONDS)
    finally:
        session.close()
        side.clock.close()


def ended(found: Measured | Lost | Wrong) -> str:
    """In a word: how it was found out, or "measured"."""
    return "measured" if isinstance(found, Measured) else found.what if isinstance(found, Wrong) else found.kind
