# Answers each question with the plan of the one before, whose sizes are others.
# verdict: runtime_error, wrong_answer
# base: hostile/forged_plans/no_bytes_at_all
#-    judge.send(b'{"seq":1,"op":"loaded"}\n')
#+    judge.send(b'{"seq":1,"op":"loaded"}\n')
#+    plan = b"{}"
#-        judge.send(b'{"seq":%d,"op":"planned","bytes":0}\n' % question["seq"])
#+        os.pwrite(given[0], plan, 0)
#+        judge.send(b'{"seq":%d,"op":"planned","bytes":%d}\n' % (question["seq"], len(plan)))
#+        plan = json.dumps({"buffers": buffers(question), "kernels": [], "first": []}).encode()
