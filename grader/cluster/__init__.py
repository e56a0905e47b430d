"""Lanes on other machines: dask.distributed carries jobs to them and results back.

Only the commands import this room, and only this room imports dask.distributed.
"""
