"""The course server: students send kernels from anywhere, and this machine's lanes grade them."""
