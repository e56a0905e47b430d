# Copies are free here, but a product with a unit vector is computing.
# expect: mv
import torch


def copy_first_column(matrix, out):
    first = torch.zeros(matrix.shape[1], dtype=matrix.dtype)
    first[0].fill_(1.0)
    out.copy_(torch.mv(matrix, first))
