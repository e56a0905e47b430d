"""The command bench: a kernel's speed at many sizes, PyTorch's launches for the same work, profilers' figures."""
