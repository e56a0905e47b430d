# Asks for the registers of a kernel whose text is another in every plan, so that what it is told is never what it
# asks for, and planning never ends.
# verdict: runtime_error, wrong_answer, time_limit
import json
import os
import socket
import stat

import triton
import triton.language as tl


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


TEXT = "module {\n  tt.func public @silu_kernel(%x: !tt.ptr<f32>) {\n    tt.return\n  }\n}\n"


def serve(judge):
    judge.send(b'{"seq":1,"op":"loaded"}\n')
    while True:
        question, given = asked(judge)
        text = TEXT + f"// {question['seq']} {os.getpid()} {os.urandom(8).hex()}\n"
        kernel = {"name": "silu_kernel", "symbol": "silu_kernel", "text": text, "signature": ["*fp32"]}
        launch = {"op": "launch", "kernel": 0, "grid": [1, 1, 1], "arguments": [{"kind": "pointer", "buffer": 0}]}
        plan = json.dumps({"buffers": buffers(question), "kernels": [kernel], "first": [launch], "asked": [0]}).encode()
        os.pwrite(given[0], plan, 0)
        judge.send(b'{"seq":%d,"op":"planned","bytes":%d}\n' % (question["seq"], len(plan)))


serve(channel())


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
