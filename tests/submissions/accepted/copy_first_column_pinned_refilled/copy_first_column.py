# Chunks of rows through one pinned buffer, which is filled again while the copy before it may still read it.
# expect: The operation in line 15 uses pinned memory, and host code does not wait for it
# expect: before it uses that memory again in line 14
import torch

CHUNK = 4096


def copy_first_column(matrix, out):
    rows = matrix.shape[0]
    staging = torch.empty(CHUNK, dtype=matrix.dtype, pin_memory=True)
    for start in range(0, rows, CHUNK):
        end = min(start + CHUNK, rows)
        staging[: end - start].copy_(matrix[start:end, 0])
        out[start:end].copy_(staging[: end - start], non_blocking=True)
    torch.cuda.synchronize()
