# The library call reaches the function through two assignments.
import torch

library = torch
multiply = library.matmul


def gemm(a, b, out):
    multiply(a, b, out=out)
