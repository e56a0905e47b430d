# Sends frames whose fields hold what no answer holds: huge numbers, other types, names twice.
# verdict: runtime_error
# expect: must not close, print to or write into file descriptors
# base: hostile/wire_attacks/not_attempted
#-    say(b'{"seq":%d,"op":"failed","failure":"not_attempted","message":"the stub"}\n' % asked())
#+    for frame in (
#+        b'{"seq":1e400,"op":"planned","bytes":10}\n',
#+        b'{"seq":%d,"op":"planned","bytes":-1}\n' % asked(),
#+        b'{"seq":%d,"op":"planned","bytes":10,"score":100,"verdict":"accepted"}\n' % asked(),
#+        b'{"seq":%d,"seq":true,"op":"loaded","op":["planned"]}\n' % asked(),
#+        b'{"seq":' + b"9" * 50_000 + b',"op":"planned"}\n',
#+    ):
#+        say(frame)
