# A tensor of the host in a launch.
# expect: this one lies in the host's
# base: accepted/numba_copy_first_column_to_device
#-    column = cuda.to_device(matrix[:, 0].contiguous())
#-    copy_kernel[(out.numel() + 255) // 256, 256](column, out)
#+    copy_kernel[(out.numel() + 255) // 256, 256](matrix[:, 0], out)
