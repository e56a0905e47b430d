# Answers each question with the plan of the one before, whose sizes are others.
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
    plan = b"{}"
    while True:
        question, given = asked(judge)
        os.pwrite(given[0], plan, 0)
        judge.send(b'{"seq":%d,"op":"planned","bytes":%d}\n' % (question["seq"], len(plan)))
        plan = json.dumps({"buffers": buffers(question), "kernels": [], "first": []}).encode()
# shared: serves
