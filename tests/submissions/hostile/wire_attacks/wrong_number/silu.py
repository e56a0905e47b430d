# Answers with the numbers of other questions: those to come, negative, none.
# verdict: runtime_error
# expect: must not close, print to or write into file descriptors
# base: hostile/wire_attacks/not_attempted
#-    say(b'{"seq":%d,"op":"failed","failure":"not_attempted","message":"the stub"}\n' % asked())
#+    for number in (asked() + 1, asked() + 2, -1, 0, 2**63):
#+        say(PLANNED % number)
