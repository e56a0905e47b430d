# Raises with a text of thirty megabytes, and with a chain of a hundred other errors.
# verdict: runtime_error
# base: hostile/injection/exception_message
#-    raise ValueError(NASTY)
#+    error = None
#+    for number in range(100):
#+        one = ValueError(NASTY * 10)
#+        one.__cause__ = error
#+        error = one
#+    raise RuntimeError(NASTY * 150_000) from error
