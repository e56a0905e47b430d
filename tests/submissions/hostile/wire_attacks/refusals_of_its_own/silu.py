# Tells refusals: of an operator that is markup, in a line that the file has not, with a traceback of escapes.
# verdict: policy_violation, runtime_error
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
        judge.send(b'{"seq":%d,"op":"refused","why":"other","operator":"<script>alert(1)</script>\\u001b[2J\\u202e",'
                   b'"line":9999999,"traceback":"=cmd|\\u0000"}\n' % question["seq"])
# shared: serves
