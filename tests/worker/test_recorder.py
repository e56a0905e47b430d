"""What a student's function makes PyTorch do is recorded with its line, in every thread and by every way out."""

from __future__ import annotations

import _thread
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from grader.worker.imports import Libraries
from grader.worker.recorder import MOST, Recorder

FILE = "silu.py"
COSTLY = 0.002


def student(source: str, *, recorder: Recorder | None = None) -> Callable[..., Any]:
    """The function `run` of a student's file, loaded as the worker does."""
    namespace: dict[str, Any] = {"__name__": "silu", "torch": torch, "np": np}
    code = compile(source, FILE, "exec")
    if recorder is None:
        exec(code, namespace)
    else:
        with recorder:
            exec(code, namespace)
    return namespace["run"]  # type: ignore[no-any-return]


def uses(recorder: Recorder, run: Callable[..., Any], *args: Any) -> set[tuple[str, int, int]]:
    """Name, line and count of what one call uses."""
    with recorder:
        run(*args)
    return {(use.name, use.line, use.count) for use in recorder.take()[0]}


def recorded(body: str) -> set[tuple[str, int, int]]:
    """What `body`, which begins in line 2, uses of a matrix x and an output out."""
    run = student("def run(x, out):\n" + "".join(f"    {line}\n" for line in body.splitlines()))
    return uses(Recorder(FILE), run, torch.ones(4, 4), torch.empty(4, 4))


@pytest.mark.parametrize(("body", "name"), [
    ("torch.mm(x, x, out=out)", "aten::mm"),
    ("x @ x", "aten::mm"),
    ("torch.nn.functional.silu(x)", "aten::silu"),
    ("getattr(torch, 'm' + 'm')(x, x)", "aten::mm"),
    ("x * 2", "aten::mul"),
    ("out[:] = x", "aten::copy_"),
    ("out.copy_(x)", "aten::copy_"),
    ("x.half()", "aten::_to_copy"),
    ("x.clone()", "aten::clone"),
    ("x.sum().item()", "aten::_local_scalar_dense"),
    ("torch.Tensor.numpy(x)", "numpy"),
    ("x.numpy()", "numpy"),
    ("np.asarray(x)", "numpy"),
    ("x.tolist()", "tolist"),
    ("np.from_dlpack(x)", "__dlpack__"),
    ("x.untyped_storage()", "untyped_storage"),
])
def test_computing_and_leaving_are_recorded_with_their_line(body: str, name: str) -> None:
    assert (name, 3, 1) in recorded(f"pass\n{body}")


def test_allocation_and_views_go_by_their_names() -> None:
    found = recorded("y = torch.empty(3)\ny.zero_()\nx.t()\nx[0]\ntorch.zeros(2)")
    assert found == {("aten::empty", 2, 1), ("aten::zero_", 3, 1), ("aten::t", 4, 1), ("aten::select", 5, 1),
                     ("aten::zeros", 6, 1)}


def test_what_does_nothing_is_not_recorded() -> None:
    body = "x.contiguous(), x.float(), x.cpu(), x.data_ptr(), x.stride(), x.element_size(), x.is_contiguous()\nprint(x)"
    assert recorded(body) == set()


def test_uses_of_one_line_are_counted_and_take_forgets() -> None:
    run = student("def run(x):\n    for _ in range(5):\n        x.add_(1)\n")
    recorder = Recorder(FILE)
    assert uses(recorder, run, torch.ones(2)) == {("aten::add_", 3, 5)}
    assert recorder.take() == ([], [])


def test_line_is_the_innermost_in_the_students_file() -> None:
    run = student("def run(x):\n    return helper(x)\n\ndef helper(x):\n    return torch.softmax(x, 0)\n")
    assert {line for _, line, _ in uses(Recorder(FILE), run, torch.ones(2))} == {5}


def test_without_a_line_of_the_students_it_is_line_0() -> None:
    recorder = Recorder(FILE)
    with recorder:
        torch.mm(torch.ones(1, 1), torch.ones(1, 1))
    assert ("aten::mm", 0) in {(use.name, use.line) for use in recorder.take()[0]}


def test_computing_at_import_is_recorded() -> None:
    recorder = Recorder(FILE)
    student("TABLE = torch.sigmoid(torch.ones(3))\ndef run(x):\n    pass\n", recorder=recorder)
    assert {(use.name, use.line) for use in recorder.take()[0]} == {("aten::ones", 1), ("aten::sigmoid", 1)}


@pytest.mark.parametrize("start", [
    "t = threading.Thread(target=work)\n    t.start()\n    t.join()",
    "with concurrent.futures.ThreadPoolExecutor(1) as pool: pool.submit(work).result()",
    "_thread.start_new_thread(lambda: (work(), done.set()), ())\n    done.wait(10)",
    "t = threading.Timer(0, work)\n    t.start()\n    t.join()",
])
def test_threads_are_recorded(start: str) -> None:
    source = f"""import threading, concurrent.futures, _thread
done = threading.Event()
def run(x):
    def work():
        torch.mm(x, x)
    {start}
"""
    run = student(source)
    assert uses(Recorder(FILE), run, torch.ones(2, 2)) == {("aten::mm", 5, 1)}


def test_a_thread_left_from_an_earlier_call_is_recorded() -> None:
    source = """import queue, threading
jobs, answers = queue.Queue(), queue.Queue()
def serve():
    while (x := jobs.get()) is not None:
        answers.put(torch.mm(x, x))
def run(x):
    if x is not None and threading.active_count() >= 0 and not started:
        started.append(threading.Thread(target=serve))
        started[0].start()
    jobs.put(x)
    if x is not None:
        answers.get(timeout=10)
    else:
        started[0].join()
started = []
"""
    run = student(source)
    recorder = Recorder(FILE)
    for _ in range(2):
        assert uses(recorder, run, torch.ones(2, 2)) == {("aten::mm", 5, 1)}
    run(None)


def test_everything_is_put_back() -> None:
    before = (torch.Tensor.numpy, torch.Tensor.storage, _thread.start_new_thread, threading.Thread.start)
    names = set(vars(torch.Tensor))
    recorder = Recorder(FILE)
    with pytest.raises(ZeroDivisionError), recorder:
        _ = 1 / 0
    assert (torch.Tensor.numpy, torch.Tensor.storage, _thread.start_new_thread, threading.Thread.start) == before
    assert set(vars(torch.Tensor)) == names
    torch.mm(torch.ones(1, 1), torch.ones(1, 1)).numpy()
    assert recorder.take() == ([], [])


def test_answers_are_the_same_under_the_recorder() -> None:
    x = torch.randn(8, 8)
    with Recorder(FILE):
        inside = (x @ x, x.numpy().copy(), x.tolist(), np.asarray(x).sum(), x.half().float())
    outside = (x @ x, x.numpy(), x.tolist(), np.asarray(x).sum(), x.half().float())
    assert torch.equal(inside[0], outside[0]) and np.array_equal(inside[1], outside[1])
    assert inside[2:4] == outside[2:4] and torch.equal(inside[4], outside[4])


def test_kernels_are_summed_by_name_and_line() -> None:
    recorder = Recorder(FILE)
    for programs in (3, 4):
        recorder.kernel_launched("kernel", 7, programs)
    recorder.kernel_launched("k" * 500, -1, 1)
    kernels = recorder.take()[1]
    assert [(k.name[:6], k.line, k.programs) for k in kernels] == [("kkkkkk", 0, 1), ("kernel", 7, 7)]


def test_a_flood_of_lines_hides_no_operator() -> None:
    lines = "".join("    torch.empty(1)\n" for _ in range(2 * MOST))
    run = student(f"def run(x):\n{lines}    torch.mm(x, x)\n")
    found = {name: count for name, _, count in uses(Recorder(FILE), run, torch.ones(1, 1))}
    assert found == {"aten::empty": 2 * MOST, "aten::mm": 1}


def test_a_call_costs_little() -> None:
    run = student("def run(x, out):\n    y = torch.empty(4)\n    x.view(-1), out.t(), x[0], out[:, 0]\n")
    x, out = torch.ones(4, 4), torch.empty(4, 4)
    recorder = Recorder(FILE)
    seconds = []
    for _ in range(50):
        begun = time.perf_counter()
        with recorder:
            run(x, out)
        recorder.take()
        seconds.append(time.perf_counter() - begun)
    assert sorted(seconds)[len(seconds) // 2] < COSTLY


@pytest.mark.parametrize(("body", "name"), [
    ("import os\nif os.fork() == 0: os._exit(0)\nos.wait()", "os.fork"),
    ("import subprocess\nsubprocess.run(['true'])", "subprocess.Popen"),
    ("import os\nopen(os.path.join('/', 'proc', 'self', 'mem')).close()", "open /proc/"),
    ("import pickle\npickle.loads(b'cos\\ngetpid\\n.')", "pickle.find_class"),
    ("import ctypes\n(ctypes.c_char * 4).from_address(x.data_ptr())", "ctypes.cdata"),
    ("from torch.utils import _python_dispatch as p\np._disable_current_modes()", "_disable_current_modes"),
    ("C = torch.autograd.function._C\nC._push_on_torch_dispatch_stack(C._pop_torch_dispatch_stack(None))", "_pop_"),
    ("import functools, io, os\nio.FileIO(os.dup(1)).close()", "open a descriptor"),
])
def test_ways_past_the_record_are_in_it(body: str, name: str) -> None:
    assert any(found.startswith(name) and line == 3 for found, line, _ in recorded(body))


@pytest.mark.parametrize(("body", "name"), [
    ("pass\nx.run = run.__code__.replace(co_filename='x.py')", ".__code__"),
    ("def g(): yield\ngetattr(g(), 'gi_' + 'frame')", ".gi_frame"),
    ("import sys\nsys._getframe()", "sys._getframe"),
    ("import gc\ngc.get_objects()", "gc.get_objects"),
    ("pass\neval('x @ x')", "compile"),
    ("import timeit\ntimeit.timeit('pass', number=1)", "compile"),
    ("import string\nstring.Formatter().get_field('0.__code__', (run,), {})", ".__code__"),
    ("def f(a: '1'): pass\n__import__('typing').get_type_hints(f)", "exec"),
])
def test_insides_are_refused_and_recorded(body: str, name: str) -> None:
    run = student("def run(x):\n" + "".join(f"    {line}\n" for line in body.splitlines()))
    recorder, x = Recorder(FILE), torch.ones(1)
    with recorder, pytest.raises(PermissionError, match="may not"):
        run(x)
    assert [(use.name, use.line) for use in recorder.take()[0]] == [(name, 3)]


def test_a_switch_counts_through_the_library_and_not_where_pytorch_uses_it() -> None:
    assert recorded("with torch.utils._python_dispatch.TorchDispatchMode(): pass") == set()
    found = recorded("import contextlib\nwith contextlib.ExitStack() as stack: stack.enter_context("
                     "torch.utils._python_dispatch._disable_current_modes())")
    assert ("_disable_current_modes", 3, 1) in found


def test_a_module_that_the_submission_wrote_is_not_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "written_by_itself.py").write_text("")
    monkeypatch.setattr(sys, "path", list(sys.path))
    run = student("import sys, importlib\ndef run(folder):\n    sys.path.insert(0, folder)\n"
                  "    import json.tool\n    importlib.import_module('written_by_itself')\n")
    with pytest.raises(ModuleNotFoundError, match="written_by_itself"):
        uses(Recorder(FILE), run, str(tmp_path))
    assert not any(isinstance(finder, Libraries) for finder in sys.meta_path)


def test_honest_use_of_pythons_library_is_not_recorded() -> None:
    body = """import collections, dataclasses, inspect, logging, traceback
collections.namedtuple('P', 'a b'), inspect.signature(run), logging.getLogger().debug('x')
dataclasses.make_dataclass('D', ['a']), __import__('typing').Optional['torch.mm']
try: 1 / 0
except ZeroDivisionError as error: traceback.format_exc(), error.__traceback__.tb_lineno
open('/dev/null').close()"""
    assert recorded(body) == set()


def test_code_under_another_files_name_has_no_hiding_place() -> None:
    """Triton's autotuner is overlooked by its code, not by the name of its file."""
    from triton.runtime import autotuner

    hidden = compile("def _pre_hook(x): return x * 2", str(autotuner.__file__), "exec")
    scope: dict[str, Any] = {}
    exec(hidden, scope)
    run = student("def run(x, f):\n    f(x)\n")
    assert uses(Recorder(FILE), run, torch.ones(2), scope["_pre_hook"]) == {("aten::mul", 2, 1)}


def test_a_look_at_a_tensor_is_free_and_reading_it_by_printing_is_not() -> None:
    assert recorded("print(x), str(out)") == set()
    assert ("str", 3) in {(name, line) for name, line, _ in recorded("for i in range(2000):\n    str(x)")}
