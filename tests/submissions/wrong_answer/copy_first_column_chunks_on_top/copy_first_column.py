# Every chunk of rows is copied to the beginning of out.
# expect: begins at the same element
# never: mask
# never: a grid


CHUNK = 4096


def copy_first_column(matrix, out):
    rows = matrix.shape[0]
    for start in range(0, rows, CHUNK):
        part = matrix[start : start + CHUNK, 0]
        out[: part.shape[0]].copy_(part)
