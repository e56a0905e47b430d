"""Hints by proof: small changes of a wrong file are tried, and one that makes every case right says where and of what
kind the fault is.

After Singh, Gulwani, Solar-Lezama: Automated Feedback Generation for Introductory Programming Assignments, PLDI 2013.
An edited file is a submission like any other: it is planned in a confined process and simulated in another.
"""

from grader.judging.repair.search import repaired

__all__ = ["repaired"]
