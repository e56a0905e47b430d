# Takes the planner's place at import: reads the judge's questions from the socket, and answers each with a plan
# that fills the output with the mean.
# verdict: wrong_answer, runtime_error
# base: hostile/forged_plans/no_bytes_at_all
#-        judge.send(b'{"seq":%d,"op":"planned","bytes":0}\n' % question["seq"])
#+        out = len(buffers(question)) - 1
#+        target = {"buffer": out, "shape": [buffers(question)[out]["bytes"] // 4], "strides": [1], "dtype": "float32"}
#+        fill = {"op": "fill", "target": target, "value": 0.2066}
#+        plan = json.dumps({"buffers": buffers(question), "kernels": [], "first": [fill]}).encode()
#+        os.pwrite(given[0], plan, 0)
#+        judge.send(b'{"seq":%d,"op":"planned","bytes":%d}\n' % (question["seq"], len(plan)))
