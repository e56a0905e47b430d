# Asks for the registers of a kernel whose text is another in every plan, so that what it is told is never what it
# asks for, and planning never ends.
# verdict: runtime_error, wrong_answer, time_limit
# base: hostile/forged_plans/no_bytes_at_all
#-# shared: buffers
#+# shared: buffers
#+TEXT = "module {\n  tt.func public @silu_kernel(%x: !tt.ptr<f32>) {\n    tt.return\n  }\n}\n"
#+
#+
#-        judge.send(b'{"seq":%d,"op":"planned","bytes":0}\n' % question["seq"])
#+        text = TEXT + f"// {question['seq']} {os.getpid()} {os.urandom(8).hex()}\n"
#+        kernel = {"name": "silu_kernel", "symbol": "silu_kernel", "text": text, "signature": ["*fp32"]}
#+        launch = {"op": "launch", "kernel": 0, "grid": [1, 1, 1], "arguments": [{"kind": "pointer", "buffer": 0}]}
#+        plan = json.dumps({"buffers": buffers(question), "kernels": [kernel], "first": [launch], "asked": [0]}).encode()
#+        os.pwrite(given[0], plan, 0)
#+        judge.send(b'{"seq":%d,"op":"planned","bytes":%d}\n' % (question["seq"], len(plan)))
