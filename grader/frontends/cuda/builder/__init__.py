"""Builds a student's file: an object that plans instead of running, and the kernels as texts."""
