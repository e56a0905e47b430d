# Scratch memory from the CUDA runtime, as a C++ program takes it.
# expect: libcudart.so is not there for host code: allocate with torch.empty
# never: print the shapes
import ctypes

# shared: triton
# shared: sigmoid_kernel
class Scratch:
    def __init__(self, size, dtype):
        self.dtype, self.pointer = dtype, ctypes.c_void_p()
        runtime = ctypes.CDLL("libcudart.so")
        runtime.cudaMalloc(ctypes.byref(self.pointer), size)

    def data_ptr(self):
        return self.pointer.value


def silu(x, out):
    n = x.numel()
    scratch = Scratch(4 * n, x.dtype)
    silu_kernel[(triton.cdiv(n, 1024),)](x, scratch, n, BLOCK=1024)
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
