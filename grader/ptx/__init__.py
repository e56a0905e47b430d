"""PTX, NVIDIA's assembly language for GPUs, read and run on NumPy's arrays."""
