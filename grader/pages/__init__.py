"""Renderers of results: each page is one self-contained HTML file. The same `result.json` gives the same bytes."""
