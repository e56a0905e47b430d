# Stops the process that forked the worker (and lets it go on).
# verdict: runtime_error
# expect: refused
# base: hostile/attacking_the_grader/limits_of_parent
#-import resource
#-import sys
#+import signal
#+import sys
#+import time
#-    if worked("prlimit", lambda: resource.prlimit(
#-            pid, resource.RLIMIT_NOFILE, resource.prlimit(pid, resource.RLIMIT_NOFILE))):
#+    if worked("SIGSTOP", lambda: os.kill(pid, signal.SIGSTOP)):
#+        time.sleep(0.1)
#+        os.kill(pid, signal.SIGCONT)
