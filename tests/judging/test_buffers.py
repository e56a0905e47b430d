"""Memory that the judge shares with confined processes."""

import contextlib
import faulthandler
import mmap
import os
import signal

import pytest

from grader.judging.running import buffers
from grader.judging.running.buffers import HostTensor, memory_file

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


@pytest.mark.parametrize("shape", [(1,), (3, 5), (300, 1000)])
def test_all_of_it_is_there_before_it_is_touched(shape: tuple[int, ...]) -> None:
    # Else it would count as the process's that touches it.
    tensor = HostTensor(shape, "float32")
    assert os.fstat(tensor.descriptor).st_blocks * 512 >= tensor.tensor.nbytes
    assert not bool(tensor.tensor.any())
    tensor.close()


def test_a_memory_file_holds_its_contents_and_keeps_its_size() -> None:
    descriptor = memory_file(contents=b"plan")
    assert os.pread(descriptor, 10, 0) == b"plan"
    for size in (0, 100):
        with pytest.raises(PermissionError):
            os.truncate(descriptor, size)
    with mmap.mmap(descriptor, 4) as shared:
        shared[:] = b"PLAN"
    assert os.pread(descriptor, 10, 0) == b"PLAN"
    os.close(descriptor)


def test_an_empty_memory_file_takes_no_memory() -> None:
    descriptor = memory_file(1 << 30)
    assert os.fstat(descriptor).st_size == 1 << 30
    assert os.fstat(descriptor).st_blocks == 0
    os.close(descriptor)


@pytest.mark.parametrize("sealed", [True, False])
def test_shared_memory_cannot_be_cut_under_the_judge(sealed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not sealed:
        monkeypatch.setattr(buffers, "SEALS", 0)
    pid = os.fork()
    if pid == 0:
        faulthandler.disable()
        shared = buffers.HostTensor((1 << 16,), "float32")
        with contextlib.suppress(PermissionError):
            os.ftruncate(shared.descriptor, 0)
        _ = float(shared.tensor[0])
        os._exit(0)
    status = os.waitpid(pid, 0)[1]
    assert os.WIFSIGNALED(status) != sealed
    if not sealed:
        assert os.WTERMSIG(status) == signal.SIGBUS


@pytest.mark.parametrize("sealed", [True, False])
def test_shared_memory_cannot_be_grown(sealed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not sealed:
        monkeypatch.setattr(buffers, "SEALS", 0)
    shared = buffers.HostTensor((16,), "float32")
    try:
        with pytest.raises(PermissionError) if sealed else contextlib.nullcontext():
            os.ftruncate(shared.descriptor, 1 << 20)
    finally:
        shared.close()
