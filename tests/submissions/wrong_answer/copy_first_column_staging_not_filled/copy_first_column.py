# The pinned buffer is sent without anything in it.
# expect: the copy in line
# expect: nothing has written
# never: no kernel was launched
# never: tl.arange
# never: division by zero
import torch


def copy_first_column(matrix, out):
    staging = torch.empty(matrix.shape[0], dtype=matrix.dtype, pin_memory=True)
    out.copy_(staging, non_blocking=True)
