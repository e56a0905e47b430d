# The name out is bound to a new tensor; the tensor that was passed stays as it was.
# expect: goes into another tensor
# expect: `out = ...`
# never: no kernel was launched
# never: tl.arange


def copy_first_column(matrix, out):
    out = matrix[:, 0].contiguous().to(out.device)
