# Says each time that its plan rests on the case before and must be made again, so that planning never ends.
# verdict: runtime_error, wrong_answer, time_limit
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
        judge.send(b'{"seq":%d,"op":"planned","bytes":%d,"earlier":true}\n' % (question["seq"], len(plan)))
# shared: serves
