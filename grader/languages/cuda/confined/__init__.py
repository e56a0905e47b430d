"""CUDA C++'s side that runs beside hostile files: it imports nothing trusted."""
