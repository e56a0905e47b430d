def copy_first_column(matrix, out):
    # first the whole matrix to the device, then the column: lots of bytes, but it works
    on_device = matrix.to(out.device)
    out.copy_(on_device[:, 0])
