"""PTX, the instructions of NVIDIA's GPUs as text: reading it, and running it on NumPy with findings.

A kernel's text may be hostile: it is read in linear time, and whatever runs does so under a budget. Only
`grader.plan` and NumPy are imported here.
"""
