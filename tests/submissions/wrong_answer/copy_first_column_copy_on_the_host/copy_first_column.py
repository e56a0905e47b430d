# out.cpu() is a copy, and the column goes into that.
# expect: goes into another tensor
# expect: out.cpu()
# never: no kernel was launched
# never: tl.arange


def copy_first_column(matrix, out):
    host = out.cpu()
    host.copy_(matrix[:, 0])
