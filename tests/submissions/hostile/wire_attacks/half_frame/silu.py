# Sends the first half of an answer, and ends.
# verdict: runtime_error
# base: hostile/wire_attacks/not_attempted
#-# shared: questions
#
#-    say(b'{"seq":%d,"op":"failed","failure":"not_attempted","message":"the stub"}\n' % asked())
#+    say(b'{"seq":2,"op":"planned","bytes":[')
#+    os._exit(0)
