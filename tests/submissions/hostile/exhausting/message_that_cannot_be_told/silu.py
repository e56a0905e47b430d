# An exception that fails when it is turned into text, and whose class has no name.
# verdict: runtime_error
# shared: triton
class Mute(Exception):
    def __str__(self):
        raise SystemExit("no text")

    __repr__ = __str__


Mute.__name__ = ""


def attack():
    raise Mute
# shared: tells_of_attack
