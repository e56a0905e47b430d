# Fails after it has asked for the registers of kernels whose text is another each time, so that it is planned again and
# again; in every second answer they do not hold, or are longer than the file.
# verdict: runtime_error, time_limit
# expect: no luck
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


TEXT = "module {\n  tt.func public @silu_kernel(%x: !tt.ptr<f32>) {\n    tt.return\n  }\n}\n"


def serve(judge):
    judge.send(b'{"seq":1,"op":"loaded"}\n')
    while True:
        question, given = asked(judge)
        text = TEXT + f"// {question['seq']} {os.getpid()} {os.urandom(8).hex()}\n"
        kernel = {"name": "silu_kernel", "symbol": "silu_kernel", "text": text, "signature": ["*fp32"]}
        kernels = json.dumps({"kernels": [kernel] * 64 if question["seq"] % 3 else [{**kernel, "symbol": "other"}]}).encode()
        os.pwrite(given[0], kernels, 0)
        size = len(kernels) if question["seq"] % 2 else 1 << 40
        judge.send(b'{"seq":%d,"op":"failed","failure":"exception","message":"no luck","asked":%d}\n' % (
            question["seq"], size))


serve(channel())


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
