# Asks for the registers of a kernel whose text is another in every plan, so that what it is told is never what it
# asks for, and planning never ends.
# verdict: runtime_error, wrong_answer, time_limit
import json
import os
import socket
import stat

# shared: triton
# shared: silu_kernel
# shared: channel
# shared: buffers
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
# shared: serves
