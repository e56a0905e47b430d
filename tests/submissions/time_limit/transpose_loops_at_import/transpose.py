# The file itself never finishes (gives up after ten minutes).
import time

started = time.monotonic()
while time.monotonic() - started < 600:
    pass


def transpose(x, out):
    out.zero_()
