"""The planner of a student's function: its host code runs against a runtime that writes down what it asks for."""
