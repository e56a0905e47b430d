# Hooks of the interpreter's end loop, then the process ends.
# verdict: runtime_error, time_limit
import sys
import weakref

# shared: triton
class Anything:
    pass


def loop():
    while True:
        pass


anything = Anything()
weakref.finalize(anything, loop)


def attack():
    sys.exit(0)
# shared: tells_of_attack
