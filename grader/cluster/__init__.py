"""Lanes on other machines: dask.distributed carries jobs to them and results back, and nothing else.

The commands alone import this room, and nothing else of ours imports dask.distributed.
"""
