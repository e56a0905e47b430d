"""The executor: a process of ours on the GPU, which runs plans and the kernels of submissions in them."""
