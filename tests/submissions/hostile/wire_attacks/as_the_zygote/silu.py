# Sends the messages that pass between judge and zygote.
# verdict: runtime_error
# expect: must not close, print to or write into file descriptors
# base: hostile/wire_attacks/not_attempted
#-# shared: questions
#
#-    say(b'{"seq":%d,"op":"failed","failure":"not_attempted","message":"the stub"}\n' % asked())
#+    for frame in (b'{"seq":0,"op":"ready","python":"","torch":"","triton":"","numpy":""}\n',
#+                  b'{"seq":1,"op":"spawned","pid":1}\n', b'{"seq":1,"op":"reaped","survivors":0}\n',
#+                  b'{"seq":1,"op":"spawn","folder":"/","limits":{}}\n'):
#+        say(frame)
