"""Gradings: of one submission and of a class, their lanes, the checks before them, and calibration."""
