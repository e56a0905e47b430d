# The transfer is made smaller by going through fp16, which loses bits.
# expect: converted to float16
import torch


def copy_first_column(matrix, out):
    out.copy_(matrix[:, 0].to(torch.float16).to(out.device))
