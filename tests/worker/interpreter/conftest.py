from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
FILES = ("interpreter_works.py", "interpreter_refuses.py", "interpreter_launches.py")
SECONDS = 120


@pytest.fixture(scope="session")
def outcomes() -> dict[str, dict[str, Any]]:
    """What became of each `case_*` function of the kernel files, run in one process of its own."""
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    environment |= {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(HERE / "interpreter_child.py"), *(str(HERE / f) for f in FILES)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    assert "RuntimeWarning" not in done.stderr, done.stderr
    found: dict[str, dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return found
