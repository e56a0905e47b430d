# Tells a failure in escapes that stand for half characters, null bytes and markup.
# verdict: runtime_error
# base: hostile/wire_attacks/not_attempted
#-    say(b'{"seq":%d,"op":"failed","failure":"not_attempted","message":"the stub"}\n' % asked())
#+    text = b"\\ud800\\u0000<script>alert(1)</script>\\u001b[2J\\u202e=1+1" * 200
#+    say(b'{"seq":%d,"op":"failed","failure":"exception","message":"%s","line":9999999,"traceback":"%s"}\n'
#+        % (asked(), text, text))
