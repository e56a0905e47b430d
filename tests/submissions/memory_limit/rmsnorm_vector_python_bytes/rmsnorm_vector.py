# Grows a list of byte strings, 20 GB at most.
def rmsnorm_vector(x, weight, eps, out):
    kept = []
    for _ in range(80):
        kept.append(bytes(256 * 1024 * 1024))
