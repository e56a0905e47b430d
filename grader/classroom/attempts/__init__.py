"""Attempts of a class: what was graded when, which attempt counts, marks that people give, deadlines."""
