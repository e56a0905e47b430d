"""How fast a kernel is at every size, what PyTorch launches in its place, and what profilers say of it."""
