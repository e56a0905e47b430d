# Hands in an empty plan, and keeps writing others over it from a process that has left its group: the judge
# might read one, check it, and run another.
# verdict: wrong_answer, runtime_error
import ctypes
import json
import os
import socket
import stat
import time

import triton
import triton.language as tl


def fork():
    """A process by C's own call: Python's is refused by its name."""
    pid = ctypes.PyDLL(None, use_errno=True).fork()
    if pid < 0:
        raise OSError(ctypes.get_errno(), "fork")
    return pid


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)


def channel():
    """The judge's end of the conversation: the one descriptor that is a socket."""
    for number in range(3, 128):
        try:
            if stat.S_ISSOCK(os.fstat(number).st_mode):
                return socket.socket(fileno=number)
        except OSError:
            pass
    raise RuntimeError("no socket")


def asked(judge):
    """The judge's next question, and the memory file that takes the plan."""
    frame, given, _, _ = socket.recv_fds(judge, 1 << 16, 16)
    if not frame:
        os._exit(0)
    return json.loads(frame), given


def buffers(question):
    """A plan's buffers, of the sizes that the judge knows."""
    made = []
    for one in question["given"]:
        if one["kind"] == "tensor":
            elements = 1
            for size in one["shape"]:
                elements *= size
            made.append({"bytes": elements * 4, "given": one["name"]})
    return made


def rewrite(descriptor, plans):
    """Ends by itself after twenty seconds."""
    os.setsid()
    end = time.monotonic() + 20
    while time.monotonic() < end:
        for plan in plans:
            os.pwrite(descriptor, plan, 0)


def serve(judge):
    judge.send(b'{"seq":1,"op":"loaded"}\n')
    while True:
        question, given = asked(judge)
        empty = {"buffers": buffers(question), "kernels": [], "first": []}
        plan = json.dumps(empty).encode()
        os.pwrite(given[0], plan, 0)
        if not fork():
            fill = {"op": "fill", "value": 0.0, "target": {
                "buffer": 0, "shape": [1 << 40], "strides": [1], "dtype": "float32"}}
            large = json.dumps({**empty, "first": [fill]}).encode()
            rewrite(given[0], [plan, large])
            os._exit(0)
        judge.send(b'{"seq":%d,"op":"planned","bytes":%d}\n' % (question["seq"], len(plan)))


serve(channel())


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
