# Tells failures that only the planner's own code can know of: something that it cannot plan, memory, the front end.
# verdict: runtime_error
# base: hostile/wire_attacks/not_attempted
#-    say(b'{"seq":%d,"op":"failed","failure":"not_attempted","message":"the stub"}\n' % asked())
#+    for failure in (b"unsupported", b"compile_error", b"out_of_memory", b"too_large", b"wrong_signature"):
#+        say(b'{"seq":%d,"op":"failed","failure":"%s","message":"no fault of mine"}\n' % (asked(), failure))
