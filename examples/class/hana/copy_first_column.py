def copy_first_column(matrix, out):
    out.copy_(matrix[:, 0].contiguous())
