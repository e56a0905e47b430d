# The column is returned, and out is never written.
# expect: what the function returns is ignored
# never: no kernel was launched
# never: tl.arange


def copy_first_column(matrix, out):
    return matrix[:, 0].contiguous().cuda()
