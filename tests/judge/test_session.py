"""A worker's life, with real workers: what the judge sees when a submission answers, fails, dies, floods or hangs."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
import torch

from grader.assignment import Assignment, Case
from grader.catalogue import assignments
from grader.confine import processes
from grader.forkserver.handle import InfrastructureError, Zygote
from grader.judge.compare import unwritten
from grader.judge.session import Answer, Lost, Session
from grader.plan import wire

LIMITS = wire.Limits(memory_mb=1024, file_mb=1, processes=16, cpu_seconds=60)
CASE = Case(name="5x9", sizes={"M": 5, "N": 9})
X = torch.arange(45, dtype=torch.float32).view(5, 9)

DOUBLE = """
import triton
import triton.language as tl

@triton.jit
def double_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)

def silu(x, out):
    double_kernel[(triton.cdiv(x.numel(), 16),)](x, out, x.numel(), BLOCK=16)
"""


@pytest.fixture
def silu() -> Assignment:
    return assignments()["silu"]


def session(zygote: Zygote, assignment: Assignment, source: str, seconds: float = 20) -> Session:
    return Session(
        zygote, assignment, source.encode(), LIMITS, max_programs=1000, call_seconds=seconds,
        deadline=time.monotonic() + seconds)


def outcome(zygote: Zygote, assignment: Assignment, source: str, seconds: float = 20) -> Answer | Lost:
    one = session(zygote, assignment, source, seconds)
    try:
        return one.load() or one.call(CASE, {"x": X})
    finally:
        one.close()


def test_an_answer_is_the_output_with_the_record_of_what_ran(zygote: Zygote, silu: Assignment) -> None:
    answer = outcome(zygote, silu, DOUBLE)
    assert isinstance(answer, Answer), answer
    assert torch.equal(answer.output, 2 * X)
    assert [(k.name, k.programs) for k in answer.kernels] == [("double_kernel", 3)]
    assert not answer.changed and 0 < answer.seconds < 20


def test_an_untouched_output_is_all_poison(zygote: Zygote, silu: Assignment) -> None:
    answer = outcome(zygote, silu, "def silu(x, out): pass")
    assert isinstance(answer, Answer) and bool(unwritten(answer.output).all())


def test_the_return_value_and_rebinding_count_for_nothing(zygote: Zygote, silu: Assignment) -> None:
    answer = outcome(zygote, silu, "def silu(x, out):\n    out.data = x * 2\n    return x * 2")
    assert isinstance(answer, Answer) and bool(unwritten(answer.output).all())


def test_a_changed_input_is_seen_and_the_judges_copy_is_safe(zygote: Zygote, silu: Assignment) -> None:
    before = X.clone()
    answer = outcome(zygote, silu, "def silu(x, out):\n    x.zero_()\n    out.zero_()")
    assert isinstance(answer, Answer) and answer.changed == ("x",)
    assert torch.equal(X, before)


LOST = {
    "exception": ("def silu(x, out):\n    raise ValueError('why')", "exception", 2),
    "stub": ("def silu(x, out):\n    raise NotImplementedError", "not_attempted", 2),
    "at import": ("import torch\nraise RuntimeError('now')", "import_error", 2),
    "no such module": ("import sillu", "import_error", 1),
    "exit at import": ("import sys\nsys.exit(0)", "import_error", 2),
    "exit": ("import os\ndef silu(x, out):\n    os._exit(0)", "crash", 0),
    "kills itself": ("import os\ndef silu(x, out):\n    os.kill(os.getpid(), 9)", "crash", 0),
    "segmentation fault": ("import ctypes\ndef silu(x, out):\n    ctypes.string_at(8)", "crash", 0),
    "recursion": ("def silu(x, out):\n    silu(x, out)", "exception", 2),
    "memory": ("import torch\ndef silu(x, out):\n    torch.empty(8 << 30, dtype=torch.uint8)", "out_of_memory", 3),
    "python memory": ("def silu(x, out):\n    bytearray(8 << 30)", "out_of_memory", 2),
    "missing function": ("def sillu(x, out): pass", "missing_function", 0),
    "signature": ("def silu(x): pass", "wrong_signature", 0),
    "forged frame": ("import os\ndef silu(x, out):\n    os.write(3, b'PASSED')\n    os._exit(0)", "protocol", 0),
    "closes the channel": (
        "import os, time\ndef silu(x, out):\n    os.close(3)\n    time.sleep(9)", "protocol", 0),
}


@pytest.mark.parametrize(("source", "kind", "line"), LOST.values(), ids=LOST)
def test_a_failure_is_a_value_of_its_kind(
    zygote: Zygote, silu: Assignment, source: str, kind: str, line: int
) -> None:
    lost = outcome(zygote, silu, source)
    assert isinstance(lost, Lost)
    assert (lost.kind, lost.line) == (kind, line), lost


@pytest.mark.parametrize("source", [
    "def silu(x, out):\n    while True: pass",
    "import time\ntime.sleep(60)",
    "import os, signal\ndef silu(x, out):\n    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\n"
    "    while True: pass",
], ids=["endless loop", "sleeps at import", "blocks signals"])
def test_a_time_out_ends_by_the_judges_clock(zygote: Zygote, silu: Assignment, source: str) -> None:
    started = time.monotonic()
    lost = outcome(zygote, silu, source, seconds=1)
    assert isinstance(lost, Lost) and lost.kind == "time_out"
    assert time.monotonic() - started < 10


FORKS = """
import os, time
for i in range(5):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(100)
        os._exit(0)
def silu(x, out):
    if os.fork() == 0:
        time.sleep(100)
    out.fill_(os.getpid())
"""


def test_daemons_do_not_outlive_their_session(zygote: Zygote, silu: Assignment) -> None:
    one = session(zygote, silu, FORKS)
    assert one.load() is None
    answer = one.call(CASE, {"x": X})
    assert isinstance(answer, Answer)
    left = processes.descendants(zygote.pid)
    assert len(left) >= 7
    one.close()
    assert not processes.descendants(zygote.pid)
    assert not [pid for pid in left if Path(f"/proc/{pid}").exists()]


LATE = """
import os, time
def silu(x, out):
    out.copy_(x)
    if os.fork() == 0:
        time.sleep(0.3)
        out.fill_(7)
        os._exit(0)
"""


def test_a_late_write_is_found_and_does_not_reach_the_answer(zygote: Zygote, silu: Assignment) -> None:
    one = session(zygote, silu, LATE)
    assert one.load() is None
    answer = one.call(CASE, {"x": X})
    time.sleep(0.8)
    assert one.close() == [CASE.name]
    assert isinstance(answer, Answer) and torch.equal(answer.output, X)


def test_output_is_drained_and_its_end_kept(zygote: Zygote, silu: Assignment) -> None:
    answer = outcome(zygote, silu, "def silu(x, out):\n    for _ in range(300): print('y' * 100_000)\n    print('end')")
    assert isinstance(answer, Answer)
    assert answer.printed.endswith("end\n") and len(answer.printed) < 25_000 and "left out" in answer.printed


PEEK = """
import os, sys
def silu(x, out):
    print(sorted(os.listdir('.')), os.getcwd())
    print(sorted(os.environ))
    # Landlock's rules keep names of /proc open, which nothing can be read through.
    names = {}
    for f in os.listdir('/proc/self/fd'):
        try:
            names[int(f)] = os.readlink(f'/proc/self/fd/{f}')
        except FileNotFoundError:
            pass
    print(sorted(f for f, name in names.items() if not name.startswith('/proc/')))
    print(os.getsid(0) == os.getpid())
    for name in ('reference.silu', 'assignments.silu.assignment', 'tests'):
        try:
            __import__(name); print('found', name)
        except ImportError:
            pass
    print(sys.argv)
"""


def test_a_worker_sees_an_empty_folder_a_bare_environment_and_its_own_descriptors(
    zygote: Zygote, silu: Assignment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "1")
    with Path(__file__).open() as inherited:
        os.set_inheritable(inherited.fileno(), True)
        answer = outcome(zygote, silu, PEEK)
    assert isinstance(answer, Answer)
    listing, environment, descriptors, leads, *rest = answer.printed.splitlines()
    assert listing.startswith("[] ")
    assert set(eval(environment)) <= {
        "CUDA_VISIBLE_DEVICES", "HOME", "LANG", "LD_LIBRARY_PATH", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PATH",
        "TMPDIR", "TRITON_CACHE_DIR", "TRITON_HOME", "TRITON_INTERPRET", "LC_CTYPE"}
    # 0 to 2, the control socket, the two tensors of the call.
    assert eval(descriptors)[:4] == [0, 1, 2, 3] and len(eval(descriptors)) <= 6
    assert leads == "True"
    assert not any(line.startswith("found") for line in rest), rest


def test_sessions_start_afresh(zygote: Zygote, silu: Assignment) -> None:
    first = outcome(zygote, silu, "import builtins\nbuiltins.leak = 1\nopen('left', 'w').close()\n" + DOUBLE)
    again = outcome(zygote, silu, "import os\nimport builtins\ndef silu(x, out):\n"
                                  "    print(hasattr(builtins, 'leak'), os.listdir('.'))")
    assert isinstance(first, Answer) and isinstance(again, Answer)
    assert again.printed == "False []\n"


def test_a_lost_zygote_is_a_failure_of_ours(silu: Assignment) -> None:
    own = Zygote(interpret=True, layers=wire.Layers())
    one = session(own, silu, "def silu(x, out): pass")
    try:
        assert one.load() is None
        os.kill(own.pid, signal.SIGKILL)
        with pytest.raises(InfrastructureError):
            one.call(CASE, {"x": X})
            one.close()
        assert not own.alive
    finally:
        own.close()
