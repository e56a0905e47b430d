"""Blocks that tell each other by atomics and flags what they have stored."""

import numpy as np

from grader.plan.messages import NOWHERE, PROGRAMS, RunOptions
from grader.simulation.ptx.launch import LaunchSettings
from tests.languages.cuda.compiling import needs_nvcc
from tests.rows import beside, each_row
from tests.simulation.ptx.launching import compiled, run, tensor

pytestmark = needs_nvcc
CASES = beside(__file__)
KERNELS = CASES["kernels"]


@each_row("name", sorted(KERNELS))
def test_what_orders_blocks(name: str) -> None:
    text = compiled(CASES["head"] + "\n".join(f"KERNEL({one}, {row['body']})" for one, row in KERNELS.items()))
    found, answers = [], []
    for order in NOWHERE, PROGRAMS:
        out = tensor(np.zeros(256, "f4"))
        outcome = run(text, 4, 64, tensor(np.zeros(256, "f4"), "data"), tensor(np.zeros(8, "u4"), "flag"), out,
                      entry=name, cooperative=True, settings=LaunchSettings(".cu", options=RunOptions(order=order)))
        found.append([getattr(finding, "what", finding.kind) for finding in outcome.findings])
        answers.append(out.values("f4").tolist())
    assert found[0] == KERNELS[name]["found"]
    assert (answers[0] != answers[1]) == KERNELS[name].get("depends", False)
