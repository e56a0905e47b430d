"""The pages: `result.json` in, one self-contained HTML file out. Same JSON, same bytes."""

from grader.report.load import Entry, Failure, Loaded, load_results
from grader.report.pages import write_all, write_class, write_student

__all__ = ["Entry", "Failure", "Loaded", "load_results", "write_all", "write_class", "write_student"]
