# Prints the same, and bytes that are no text, and much of it.
# verdict: wrong_answer
# base: hostile/injection/exception_message
#-import torch
#+import sys
#+
#+import torch
#-    raise ValueError(NASTY)
#+    sys.stdout.buffer.write(NASTY.encode("utf-8", "surrogatepass") * 2000 + b"\xff\xfe\x80\n")
#+    sys.stderr.buffer.write(b"\x1b[31m<script>" * 20_000)
