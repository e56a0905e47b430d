"""Planner: runs a student's host code with a runtime that records what the code asks of CUDA."""
