"""The sizes of a sweep: from what a call of microseconds touches up to the largest timed case, for every assignment."""

import shutil
from pathlib import Path

import pytest

from grader.course.cases import Case, shape_of
from grader.course.catalogue import assignments
from grader.grading import gpus
from grader.grading.sweep import LEAST_BYTES, MOST_POINTS, amount, cases, short
from grader.home import ROOT
from grader.judging.speed.pool import slot_bytes
from tests.command import kernelmark
from tests.rows import each_row


@each_row("name", assignments())
def test_an_assignment_is_swept_up_to_its_largest_timed_case(name: str) -> None:
    assignment = assignments()[name]
    found = cases(assignment)
    assert 8 <= len(found) <= MOST_POINTS
    much = [amount(assignment, case).much for case in found]
    assert much == sorted(set(much))
    assert much[-1] == max(amount(assignment, case).much for case in assignment.timed)
    assert found[-1].name in {case.name for case in assignment.timed}
    assert all(slot_bytes(assignment, case) >= LEAST_BYTES for case in found)
    # What is drawn and called has these shapes.
    assert all(min(shape_of(assignment.output, case)) >= 1 for case in found)
    # A power of two and what is between it and the next, by turns.
    for case, half in zip(found[2:], found, strict=False):
        assert case.sizes == {key: 2 * size for key, size in half.sizes.items()}


def test_an_assignment_that_is_not_timed_has_no_sweep() -> None:
    silu = assignments()["silu"]
    assert cases(silu.model_copy(update={"timed": ()})) == [] == cases(silu.model_copy(update={"work": None}))


def test_what_bounds_the_work_is_what_a_rate_counts() -> None:
    def of(name: str, **sizes: int) -> tuple[float, str]:
        return amount(assignments()[name], Case(name="case", sizes=sizes))

    assert of("gemm", M=2, N=3, K=5) == (60, "TFLOP/s")
    assert of("silu", M=4, N=8) == (256, "GB/s")
    # A first column is read from the host: it, and not the whole matrix.
    assert of("copy_first_column", rows=16, cols=8) == (64, "GB/s")


@pytest.mark.parametrize(("name", "told"), [
    ("void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace)::silu_kernel(at::Iterator&)"
     "::{lambda()#1}, std::array<char*, 2ul> >(int, std::array<char*, 2ul>)",
     "at::native::vectorized_elementwise_kernel"),
    ("nvjet_sm90_hsh_320x128_64x3_1x2_h_bz_coopB_NNT", "nvjet_sm90_hsh_320x128_64x3_1x2_h_bz_coopB_NNT"),
    ("triton_poi_fused_silu_0", "triton_poi_fused_silu_0"),
    ("Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD"),
])
def test_kernels_are_named_without_their_templates(name: str, told: str) -> None:
    assert short(name) == told


@pytest.mark.skipif(bool(gpus.present()), reason="a GPU")
def test_bench_without_a_gpu_is_one_line(tmp_path: Path) -> None:
    shutil.copy(ROOT / "reference/silu.py", tmp_path)
    result = kernelmark("bench", tmp_path / "silu.py", "--out", tmp_path / "out")
    assert result.returncode == 2 and result.stderr.count("\n") == 1
    assert "bench: torch sees no CUDA device: there is no GPU, or torch is no CUDA build; run it on a " in result.stderr
    assert not (tmp_path / "out").exists()
