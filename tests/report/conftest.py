"""Puts the repository's root on the path, so that these tests share `tests.report.samples`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
