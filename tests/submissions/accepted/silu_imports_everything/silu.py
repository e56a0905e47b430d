# Imports whatever a notebook has at its top; most of it is not there, and none of it is needed.
# expect: no such module where kernels are graded
# expect: no file may start a program while it is graded
# expect: no file reaches the network
import argparse
import math
import os
import random
import subprocess
import urllib.request

import cupy as cp
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import wandb
from numba import cuda
from tqdm import tqdm
import torch
import triton
import triton.language as tl

os.environ["TRITON_INTERPRET"] = "1"
os.system("nvidia-smi")
GPU = subprocess.check_output(["nvidia-smi", "-L"], text=True)
urllib.request.urlretrieve("https://example.org/x.npy", "x.npy")
random.seed(0)
np.random.seed(0)
torch.manual_seed(0)
torch.set_float32_matmul_precision("high")
plt.style.use("ggplot")


# shared: masked_kernel
def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)


@pytest.mark.parametrize("shape", [(1, 1), (3, 5)])
def test_silu(shape):
    x = torch.randn(shape, device="cuda")
    out = torch.empty_like(x)
    silu(x, out)
    np.testing.assert_allclose(out.cpu().numpy(), torch.nn.functional.silu(x).cpu().numpy(), rtol=1e-5)


pytest.main([__file__, "-q"])
