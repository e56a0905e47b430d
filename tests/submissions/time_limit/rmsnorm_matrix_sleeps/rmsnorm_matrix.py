# Sleeps for ten minutes.
import time


def rmsnorm_matrix(x, weight, eps, out):
    time.sleep(600)
