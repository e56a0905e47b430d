# Answers twice: the second answer is there before the next question.
# verdict: runtime_error
# expect: must not close, print to or write into file descriptors
# base: hostile/wire_attacks/not_attempted
#-    say(b'{"seq":%d,"op":"failed","failure":"not_attempted","message":"the stub"}\n' % asked())
#+    say(PLANNED % asked())
