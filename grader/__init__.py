"""Grader of GPU-kernel courses.

`commands` is the surface and `judging` decides. `sandbox` and `device` hold what is hostile, `languages/*/confined`
runs beside it, and `plan` is the contract between them.
"""
