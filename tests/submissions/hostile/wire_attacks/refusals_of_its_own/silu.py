# Tells refusals: of an operator that is markup, in a line that the file has not, with a traceback of escapes.
# verdict: policy_violation, runtime_error
# base: hostile/forged_plans/no_bytes_at_all
#-        judge.send(b'{"seq":%d,"op":"planned","bytes":0}\n' % question["seq"])
#+        judge.send(b'{"seq":%d,"op":"refused","why":"other","operator":"<script>alert(1)</script>\\u001b[2J\\u202e",'
#+                   b'"line":9999999,"traceback":"=cmd|\\u0000"}\n' % question["seq"])
