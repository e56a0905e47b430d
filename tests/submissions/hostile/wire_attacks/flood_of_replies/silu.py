# Answers as often as the channel takes it.
# verdict: runtime_error, time_limit
# base: hostile/wire_attacks/not_attempted
#-    say(b'{"seq":%d,"op":"failed","failure":"not_attempted","message":"the stub"}\n' % asked())
#+    for _ in range(300):
#+        say(PLANNED % asked())
