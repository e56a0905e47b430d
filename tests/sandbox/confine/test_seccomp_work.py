"""Under the filter a worker signals itself, starts threads and children and takes its tensors as it does without."""

import fcntl
import os
import signal
import socket
import textwrap
from pathlib import Path

from tests.sandbox.confine.filtered import on_this_system, printed, run


@on_this_system
def test_a_worker_may_still_signal_itself() -> None:
    assert printed("""
        signal.signal(signal.SIGUSR1, lambda *_: print("handled"))
        os.kill(os.getpid(), signal.SIGUSR1)
        signal.raise_signal(signal.SIGUSR1)
        signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
        # A second thread's own: pthread_kill names that thread.
        t = threading.Thread(target=lambda: signal.pthread_kill(threading.get_ident(), signal.SIGUSR1))
        t.start(); t.join()
    """) == "\n".join(["handled"] * 4)
    assert run("os.abort()").returncode == -signal.SIGABRT


@on_this_system
def test_ordinary_work_goes_on(tmp_path: Path) -> None:
    assert printed("""
        os.chdir(sys.argv[1])
        threads = [threading.Thread(target=sum, args=(range(1000),)) for _ in range(8)]
        [t.start() for t in threads]; [t.join() for t in threads]
        pid = os.fork()
        if not pid:
            os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
        own = mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        own.write(b"x" * 1000)
        for advice in (mmap.MADV_WILLNEED, mmap.MADV_FREE, mmap.MADV_DONTFORK, mmap.MADV_DONTNEED):
            own.madvise(advice)
        assert own[0] == 0
        import pathlib, shutil, tempfile, time
        with tempfile.TemporaryDirectory(dir=".") as folder:
            file = pathlib.Path(folder, "a")
            file.write_text("text")
            os.replace(file, pathlib.Path(folder, "b"))
            descriptor = os.open(pathlib.Path(folder, "b"), os.O_RDWR)
            os.ftruncate(descriptor, 1)
            os.posix_fallocate(descriptor, 0, 8192)
            # FALLOC_FL_KEEP_SIZE
            assert libc.fallocate(descriptor, 1, ctypes.c_long(0), ctypes.c_long(16384)) == 0
            assert os.fstat(descriptor).st_size == 8192
        os.nice(1)
        os.sched_setaffinity(0, os.sched_getaffinity(0))
        import resource
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.prlimit(os.getpid(), resource.RLIMIT_CORE, (0, 0))
        print("done")
    """, tmp_path) == "done"


@on_this_system
def test_a_sealed_memfd_arrives_with_a_message_and_the_answer_goes_back() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        memory = os.memfd_create("tensor", os.MFD_ALLOW_SEALING)
        os.ftruncate(memory, 4096)
        fcntl.fcntl(memory, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
        socket.send_fds(ours, [b"take"], [memory])
        body = """
            # A socket that is adopted by number asks the kernel what it is; it opens none.
            channel = socket.socket(fileno=int(sys.argv[1]))
            frame, descriptors, _, _ = socket.recv_fds(channel, 100, 1)
            shared = mmap.mmap(descriptors[0], 4096)
            shared[:5] = b"hello"
            try:
                fcntl.fcntl(descriptors[0], fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE)
            except PermissionError:
                channel.sendmsg([b"taken"])
        """
        printed(body, theirs.fileno(), descriptors=(theirs.fileno(),))
        assert ours.recv(100) == b"taken"
        assert os.pread(memory, 5, 0) == b"hello"
        os.close(memory)


@on_this_system
def test_torch_numpy_and_an_interpreted_kernel_work(tmp_path: Path) -> None:
    # Triton reads a kernel's source from a file.
    (tmp_path / "doubling.py").write_text(textwrap.dedent("""
        import os
        os.environ["TRITON_INTERPRET"] = "1"
        import numpy, torch, triton
        import triton.language as tl

        @triton.jit
        def double(x, out, n, BLOCK: tl.constexpr):
            i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            tl.store(out + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)

        def work():
            x = torch.randn(1000)
            out = torch.empty_like(x)
            double[(triton.cdiv(1000, 256),)](x, out, 1000, BLOCK=256)
            assert torch.equal(out, 2 * x)
            a = torch.randn(64, 64)
            assert torch.allclose(a @ a, torch.from_numpy(a.numpy() @ a.numpy()), atol=1e-3)
            numpy.linalg.svd(numpy.eye(8))
    """))
    before = "sys.path.insert(0, sys.argv[1])\nimport doubling"
    assert printed("doubling.work(); print('done')", tmp_path, before=before) == "done"
