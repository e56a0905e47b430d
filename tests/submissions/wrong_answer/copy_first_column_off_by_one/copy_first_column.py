# The second column, counting from one (the only column where there is one).
# expect: column after the first
# never: last column
def copy_first_column(matrix, out):
    out.copy_(matrix[:, min(1, matrix.shape[1] - 1)])
