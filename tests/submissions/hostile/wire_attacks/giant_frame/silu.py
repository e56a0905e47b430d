# Sends frames of up to a mebibyte.
# verdict: runtime_error
# expect: must not close, print to or write into file descriptors
# base: hostile/wire_attacks/not_attempted
#-# shared: questions
#
#-    say(b'{"seq":%d,"op":"failed","failure":"not_attempted","message":"the stub"}\n' % asked())
#+    for size in (1 << 20, 200_000, 65_537):
#+        say(b"a" * size)
