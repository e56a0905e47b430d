# Sends 60,000 opening brackets, for a parser that recurses.
# verdict: runtime_error
# expect: must not close, print to or write into file descriptors
# base: hostile/wire_attacks/not_attempted
#-# shared: questions
#
#-    say(b'{"seq":%d,"op":"failed","failure":"not_attempted","message":"the stub"}\n' % asked())
#+    say(b"[" * 60_000 + b"\n")
