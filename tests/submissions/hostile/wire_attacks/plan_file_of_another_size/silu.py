# Cuts the memory file that takes the plan, and makes it larger, by every call that can.
# verdict: wrong_answer, runtime_error
# base: hostile/forged_plans/no_bytes_at_all
#-        judge.send(b'{"seq":%d,"op":"planned","bytes":0}\n' % question["seq"])
#+        plan = json.dumps({"buffers": buffers(question), "kernels": [], "first": []}).encode()
#+        os.pwrite(given[0], plan, 0)
#+        for size in (0, 1 << 40):
#+            try:
#+                os.ftruncate(given[0], size)
#+            except OSError:
#+                pass
#+        judge.send(b'{"seq":%d,"op":"planned","bytes":%d}\n' % (question["seq"], len(plan)))
