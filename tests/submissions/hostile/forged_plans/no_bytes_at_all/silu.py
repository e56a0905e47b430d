# Says that its plan is there, and that it has no byte.
# verdict: runtime_error, wrong_answer
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
        judge.send(b'{"seq":%d,"op":"planned","bytes":0}\n' % question["seq"])
# shared: serves
