"""Lanes on other machines: dask.distributed carries jobs to them and results back.

Only the commands import this package, and only this package imports dask.distributed.
"""
