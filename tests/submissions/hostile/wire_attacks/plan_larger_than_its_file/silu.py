# Says that its plan is larger than the memory file that the judge gave for it.
# verdict: runtime_error
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
        judge.send(b'{"seq":%d,"op":"planned","bytes":%d}\n' % (question["seq"], 1 << 62))
# shared: serves
