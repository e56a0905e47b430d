# A signal handler loops, and an alarm calls it while the function runs.
# verdict: time_limit
# base: hostile/exhausting/endless_loop_in_profiler
#-import sys
#+import signal
#+import time
#-    sys.setprofile(loop)
#+    signal.signal(signal.SIGALRM, loop)
#+    signal.setitimer(signal.ITIMER_REAL, 0.2)
#+    time.sleep(30)
