# @triton.jit is forgotten above the kernel.
# expect: transpose_kernel is an ordinary function
# expect: put @triton.jit above it
# never: the same name
# base: transpose
#-@triton.jit
