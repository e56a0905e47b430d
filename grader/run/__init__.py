"""Gradings: one submission, a class, the lanes that they run in, and what is looked at before."""
