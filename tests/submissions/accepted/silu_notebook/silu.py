# A notebook saved as a script: cells, shell commands as comments, displays of tensors, each cell's own checks.
# coding: utf-8

# In[1]:


# !pip install triton
import torch
import triton
import triton.language as tl

print(torch.__version__, triton.__version__)
torch.cuda.get_device_name(0)


# In[2]:


x = torch.randn(4, 4, device="cuda")
x


# In[3]:


@triton.jit
def silu_k(x_ptr, o_ptr, n, BS: tl.constexpr):
    offs = tl.program_id(0) * BS + tl.arange(0, BS)
    m = offs < n
    v = tl.load(x_ptr + offs, m)
    tl.store(o_ptr + offs, v * tl.sigmoid(v), m)


# In[4]:


def silu(x, out):
    bs = 512
    silu_k[(triton.cdiv(x.numel(), bs),)](x, out, x.numel(), bs)
    return out


y = silu(x, torch.zeros_like(x))
expected = x * torch.sigmoid(x)
print((y - expected).abs().max().item())
if not torch.allclose(y, expected):
    raise SystemExit("wrong")


# In[5]:


times = {}
for p in range(10, 14):
    big = torch.randn(2**p, 2**p, device="cuda")
    res = torch.empty_like(big)
    times[p] = triton.testing.do_bench(lambda: silu(big, res))
del big, res
best = min(times, key=times.get)
print(f"best at 2**{best}: {times[best]:.3f} ms")
