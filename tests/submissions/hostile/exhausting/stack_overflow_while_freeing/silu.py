# A chain of a million objects is freed, one inside the other.
# verdict: runtime_error, time_limit, memory_limit
# shared: triton
class Link:
    __slots__ = ("next",)

    def __del__(self):
        self.next


def attack():
    last = None
    for _ in range(1_000_000):
        link = Link()
        link.next = last
        last = link
    del link, last
    raise RuntimeError("freed")
# shared: tells_of_attack
