# Says each time that its plan rests on the case before and must be made again, so that planning never ends.
# verdict: runtime_error, wrong_answer, time_limit
# base: hostile/forged_plans/no_bytes_at_all
#-        judge.send(b'{"seq":%d,"op":"planned","bytes":0}\n' % question["seq"])
#+        plan = json.dumps({"buffers": buffers(question), "kernels": [], "first": []}).encode()
#+        os.pwrite(given[0], plan, 0)
#+        judge.send(b'{"seq":%d,"op":"planned","bytes":%d,"earlier":true}\n' % (question["seq"], len(plan)))
