# Cuts the memory file that takes the plan, and makes it larger, by every call that can.
# verdict: wrong_answer, runtime_error
import json
import os
import socket
import stat

# shared: triton
# shared: silu_kernel
# shared: channel
# shared: buffers
def serve(judge):
    judge.send(b'{"seq":1,"op":"loaded"}\n')
    while True:
        question, given = asked(judge)
        plan = json.dumps({"buffers": buffers(question), "kernels": [], "first": []}).encode()
        os.pwrite(given[0], plan, 0)
        for size in (0, 1 << 40):
            try:
                os.ftruncate(given[0], size)
            except OSError:
                pass
        judge.send(b'{"seq":%d,"op":"planned","bytes":%d}\n' % (question["seq"], len(plan)))
# shared: serves
