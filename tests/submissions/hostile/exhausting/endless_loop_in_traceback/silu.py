# An exception whose text takes for ever.
# verdict: time_limit
# shared: triton
class Endless(Exception):
    def __str__(self):
        while True:
            pass


def attack():
    raise Endless
# shared: tells_of_attack
