# A thread that is no daemon loops, then the process ends.
# verdict: runtime_error, time_limit
# base: hostile/exhausting/endless_loop_in_profiler
#-import sys
#+import sys
#+import threading
#-def loop(*_):
#+def loop():
#-    sys.setprofile(loop)
#+    threading.Thread(target=loop).start()
#+    sys.exit(0)
