"""PTX, the instructions of NVIDIA's GPUs as text: a reader, and a simulator on NumPy that reports findings.

A kernel's text may be hostile: it is read in linear time, and runs under a budget. Only `grader.plan`, NumPy and
PyTorch are imported here.
"""
