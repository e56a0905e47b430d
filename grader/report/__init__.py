"""The pages: `result.json` in, one self-contained HTML file out. Same JSON, same bytes."""
