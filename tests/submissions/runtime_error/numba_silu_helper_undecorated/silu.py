# A helper that is not compiled for the device.
# expect: sigmoid is an ordinary function
# base: accepted/numba_silu_strides_of_the_grid
#-@cuda.jit(device=True)
