# Sends bytes that are no text to the judge, then answers as if nothing had been.
# verdict: runtime_error
# expect: must not close, print to or write into file descriptors
# base: hostile/wire_attacks/not_attempted
#-# shared: questions
#
#-    say(b'{"seq":%d,"op":"failed","failure":"not_attempted","message":"the stub"}\n' % asked())
#+    say(b"\xff\xfe\x00 garbage \x80" * 100)
