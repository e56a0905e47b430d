# Tells a failure of its own making: a text over the cap, a line that is none.
# verdict: runtime_error
# expect: must not close, print to or write into file descriptors
# base: hostile/wire_attacks/not_attempted
#-    say(b'{"seq":%d,"op":"failed","failure":"not_attempted","message":"the stub"}\n' % asked())
#+    say(b'{"seq":%d,"op":"failed","failure":"infrastructure","message":"the grader failed"}\n' % asked())
#+    say(b'{"seq":%d,"op":"failed","failure":"exception","message":"%s","line":-1}\n' % (asked(), b"m" * 40_000))
