"""The judge, which is trusted: `judge.py` is the timeline of one task. It holds every answer and clock, and runs no
student's code."""
