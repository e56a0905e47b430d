# Says that its plan is larger than the memory file that the judge gave for it.
# verdict: runtime_error
# base: hostile/forged_plans/no_bytes_at_all
#-        judge.send(b'{"seq":%d,"op":"planned","bytes":0}\n' % question["seq"])
#+        judge.send(b'{"seq":%d,"op":"planned","bytes":%d}\n' % (question["seq"], 1 << 62))
