# Chunks of rows are copied one by one, and the last, partial one is not.
# proved: line 15 makes every case right: a division that is rounded in a different way
# never: mask
# never: a grid


CHUNK = 1000


def copy_first_column(matrix, out):
    rows = matrix.shape[0]
    if rows < CHUNK:
        out.copy_(matrix[:, 0])
        return
    for i in range(rows // CHUNK):
        out[i * CHUNK : (i + 1) * CHUNK].copy_(matrix[i * CHUNK : (i + 1) * CHUNK, 0])
