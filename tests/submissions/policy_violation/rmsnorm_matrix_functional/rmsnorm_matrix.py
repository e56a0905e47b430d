# Calls torch.nn.functional.rms_norm.
# expect: rms_norm
from torch.nn.functional import rms_norm


def rmsnorm_matrix(x, weight, eps, out):
    out.copy_(rms_norm(x, (x.shape[1],), weight, eps))
