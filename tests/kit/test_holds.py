"""The kernel that looks for a pattern of bits in many tensors at once, in Triton's interpreter."""

import json
import os
import subprocess
import sys

import pytest

from grader.home import ROOT
from grader.judging.answers.compare import POISON

# A process that imports torch and triton, where others do as much.
SECONDS = 240
PROGRAM = """
import json, sys
import torch
from grader.kit.holds import BLOCK, holds

for name, bits in json.loads(sys.argv[1]):
    # The last block of each is shorter than the others.
    tensors = [torch.zeros(2 * BLOCK + 11, dtype=getattr(torch, name)) for _ in range(3)]
    found = [holds(tensors, bits).tolist()]
    for tensor, place in (1, -1), (0, 0), (2, BLOCK):
        tensors[tensor][place] = bits
        found.append(holds(tensors, bits).tolist())
    print(json.dumps(found))
"""
FOUND = [[False, False, False], [False, True, False], [True, True, False], [True, True, True]]


@pytest.fixture(scope="module")
def found() -> dict[tuple[str, int], list[list[bool]]]:
    asked = [(str(dtype).removeprefix("torch."), bits) for dtype, bits in POISON.values()]
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(asked)], check=False, capture_output=True, text=True,
        env=os.environ | {"TRITON_INTERPRET": "1", "PYTHONPATH": str(ROOT)}, timeout=SECONDS)
    assert ran.returncode == 0, ran.stderr
    return dict(zip(asked, map(json.loads, ran.stdout.splitlines()), strict=True))


def test_every_poison_is_found_in_the_tensor_that_holds_it(found: dict[tuple[str, int], list[list[bool]]]) -> None:
    assert found == dict.fromkeys(found, FOUND)
