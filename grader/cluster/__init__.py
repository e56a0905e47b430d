"""Lanes on other machines: dask.distributed sends jobs to them and brings results back.

Only the commands import this package, and only this package imports dask.distributed.
"""
