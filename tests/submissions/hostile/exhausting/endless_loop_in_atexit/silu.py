# A function registered with atexit loops, then the process ends.
# verdict: runtime_error, time_limit
# base: hostile/exhausting/endless_loop_in_profiler
#-import sys
#+import atexit
#+import sys
#-def loop(*_):
#+def loop():
#-    sys.setprofile(loop)
#+    atexit.register(loop)
#+    sys.exit(0)
