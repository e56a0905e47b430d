# The column is gathered by NumPy.
import numpy as np
import torch


def copy_first_column(matrix, out):
    out.copy_(torch.from_numpy(np.ascontiguousarray(matrix.numpy()[:, 0])))
