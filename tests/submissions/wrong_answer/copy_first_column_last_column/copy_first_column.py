# The last column.
# expect: last column
# never: column after
def copy_first_column(matrix, out):
    out.copy_(matrix[:, -1])
