"""Launches without a GPU: what passes, what is told of them, and how the interpreter is put in place."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

Outcomes = dict[str, dict[str, Any]]

ROOT = Path(__file__).parents[3]
SECONDS = 60

VALUES = {
    "grid_as_list": 16.0, "grid_of_numpy_integers": 16.0, "grid_from_meta": 16.0, "grid_of_zero_starts_nothing": 0.0,
    "launch_options_pass": 16.0, "warmup_is_harmless": 16.0,
    "names_of_the_module_are_left_alone": [],
    "launches_are_told": [["add_one", 0, 2]],
    "no_operator_is_dispatched": [[], 16.0, False],
    "autotune_takes_the_first": [[4.0] * 16, {"BLOCK": 4}],
    "autotune_prunes_and_resets": [8.0] * 16,
    "autotune_hooks": [16.0, [True, 8]],
    "autotune_by_deprecated_arguments": [4.0] * 16,
    "persistent_grid": [100.0, 1, "cuda", False],
    "masked_lanes_are_not_judged": [2.0] * 10 + [0.0] * 10,
    "empty_tensor": "nothing touched",
    "same_storage_is_one_region": [1.0] + [0.0] * 7 + [1.0] * 8,
}  # fmt: skip


@pytest.mark.parametrize("case", VALUES)
def test_launch(outcomes: Outcomes, case: str) -> None:
    assert outcomes[case].get("value") == VALUES[case], outcomes[case]


def test_every_case_is_looked_at(outcomes: Outcomes) -> None:
    works, refuses = (importlib.import_module(f"test_interpreter_{name}") for name in ("works", "refuses"))
    named = {"tf32", "hash_may_wrap", *VALUES, *works.ERRORS, *works.VALUES, *refuses.FAULTS, *refuses.LAUNCHES}
    assert set(outcomes) == named


def installed_after(code: str) -> subprocess.CompletedProcess[str]:
    program = f"{code}\nfrom grader.worker.interpreter import install\ninstall()"
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"} | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", program]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS)


def test_importing_triton_first_is_an_error() -> None:
    done = installed_after("import triton")
    assert done.returncode != 0
    assert "triton was imported before" in done.stderr


def test_a_missing_patch_point_is_an_error() -> None:
    done = installed_after(
        "import os; os.environ['TRITON_INTERPRET'] = '1'\n"
        "from triton.runtime.interpreter import InterpreterBuilder\n"
        "del InterpreterBuilder.create_addptr"
    )
    assert done.returncode != 0
    assert "create_addptr: the interpreter cannot be mended" in done.stderr
