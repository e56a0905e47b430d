# Says that 64 lines were skipped, with markup for their text, and plans nothing.
# verdict: wrong_answer, runtime_error
# base: hostile/forged_plans/no_bytes_at_all
#-    judge.send(b'{"seq":1,"op":"loaded"}\n')
#+    skipped = [{"line": 9999999, "why": "numbers", "text": "<script>alert(1)</script>\x1b[2J\u202e"}] * 64
#+    judge.send(json.dumps({"seq": 1, "op": "loaded", "skipped": skipped}).encode() + b"\n")
#-        judge.send(b'{"seq":%d,"op":"planned","bytes":0}\n' % question["seq"])
#+        plan = json.dumps({"buffers": buffers(question), "kernels": [], "first": []}).encode()
#+        os.pwrite(given[0], plan, 0)
#+        judge.send(b'{"seq":%d,"op":"planned","bytes":%d}\n' % (question["seq"], len(plan)))
