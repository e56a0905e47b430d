"""Hints by proof: small changes of a wrong file are tried. One that makes every case right shows the place and the kind
of the fault.

After Singh, Gulwani, Solar-Lezama: Automated Feedback Generation for Introductory Programming Assignments, PLDI 2013.
An edited file is a submission like any other: it is planned in a confined process and simulated in another.
"""

from grader.judging.repair.search import repaired

__all__ = ["repaired"]
