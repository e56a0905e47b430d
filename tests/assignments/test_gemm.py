"""What an accumulator in half precision leaves is wrong in every case of the matrix product but the smallest."""

import torch

from grader.course.cases import Case
from grader.course.catalogue import assignments, right_answer
from grader.judging.answers.compare import compare
from tests.rows import each_row

GEMM = assignments()["gemm"]
SEEDS = (11, 22, 33)
# So many times what is allowed, so that chance decides nothing.
RATIO = 3.0


@each_row("case", GEMM.cases_for("cpu"), ids=lambda case: case.name)
def test_a_running_sum_in_fp16_is_wrong(case: Case) -> None:
    assert GEMM.tolerance is not None
    for seed in SEEDS:
        inputs = GEMM.make_inputs(case, torch.Generator().manual_seed(seed))
        a, b = inputs["a"].float(), inputs["b"].float()
        expected = right_answer(GEMM, inputs)
        total = torch.zeros(expected.shape, dtype=torch.float16)
        for k in range(a.shape[1]):
            total = (total.float() + a[:, k : k + 1] * b[k : k + 1]).half()
        ratio = compare(total, expected, GEMM.tolerance(inputs, expected)).worst_ratio
        # One product is rounded once, whatever the accumulator.
        assert (ratio <= 1) if case.name == "1x1x1" else (ratio > RATIO)
