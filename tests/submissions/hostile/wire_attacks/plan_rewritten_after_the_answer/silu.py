# Hands in an empty plan, and keeps writing others over it from a process that has left its group: the judge
# might read one, check it, and run another.
# verdict: wrong_answer, runtime_error
import ctypes
import json
import os
import socket
import stat
import time

# shared: triton
# shared: fork
# shared: silu_kernel
# shared: channel
# shared: buffers
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
# shared: serves
