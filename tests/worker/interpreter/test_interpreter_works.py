"""Kernels that a GPU accepts give a GPU's answers."""

from __future__ import annotations

from typing import Any

import pytest

Outcomes = dict[str, dict[str, Any]]

# Greatest absolute error against float64: a few roundings of fp32 at the size of the values, or of the fp16 result.
ERRORS = {
    "silu": 2e-5, "gemm": 1.6e-2, "reductions": 2e-5, "libdevice": 1e-5, "standard_library": 2e-6,
}  # fmt: skip

VALUES = {
    "silu_on_unaligned_view": None,
    "exponential_overflows_silently": [0.0, 1000.0],
    "logic": [
        [0, 0, 1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 0, 1, 1, 1], [1, 1, 1, 1, 1, 0, 0, 0], [1] * 8,
    ],
    "logic_without_flag": [[0] * 8, [1, 1, 1, 1, 1, 0, 0, 0]],
    "block_pointers": True, "host_descriptors": True, "device_descriptors": True,
    "atomics": [8, 8, 7, 7, 31],
    "maximum_passes_over_nan": 7.0,
    "loops": [6, 2, 36, 2, 57],
    "swizzle": [
        [0, 2, 4, 6, 8, 10], [1, 3, 5, 7, 9, 11], [12, 14, 16, 18, 20, 22], [13, 15, 17, 19, 21, 23],
    ],
    "scalars_are_typed_as_by_the_launcher": [0.0, 0.0, 3.0],
    "default_from_a_closure": 5.0,
    "source_that_is_in_memory_only": 2.0,
    "boolean_tensors": [False, True, False, False],
    "pointers_in_a_tensor": [3.0] * 8,
    "widened_offset": 24.0,
    "dead_branch_may_hold_anything": 2.0,
    "unrolled_loops_may_return_and_change_types": 40.0,
    "requests_for_a_gpu_are_met_with_the_cpu": ["cpu"] * 8,
    "a_tensor_that_is_there_is_not_moved": [True, True, True],
    "a_view_with_gaps_arrives_without_them": [[1, 1.0, 4.0], [1, 1.0, 4.0], [3, 1.0, 4.0], [3, 1.0, 4.0]],
    "streams_and_events_do_nothing": [True, True, 0.0, False],
}  # fmt: skip


def value(outcomes: Outcomes, case: str) -> Any:
    assert "value" in outcomes[case], outcomes[case]
    return outcomes[case]["value"]


@pytest.mark.parametrize("case", ERRORS)
def test_error_is_that_of_the_rounding(outcomes: Outcomes, case: str) -> None:
    assert value(outcomes, case) <= ERRORS[case]


@pytest.mark.parametrize("case", [case for case in VALUES if VALUES[case] is not None])
def test_value_is_exact(outcomes: Outcomes, case: str) -> None:
    assert value(outcomes, case) == VALUES[case]


def test_views_are_written_in_place_and_no_further(outcomes: Outcomes) -> None:
    error, rest_untouched = value(outcomes, "silu_on_unaligned_view")
    assert error <= 2e-5
    assert rest_untouched


def test_dot_of_fp32_loses_the_bits_that_tf32_has_not(outcomes: Outcomes) -> None:
    errors = value(outcomes, "tf32")
    assert errors["ieee"] < 1e-5 < 1e-4 < errors["tf32"] < 2e-2


def test_integers_that_wrap_on_purpose_are_no_fault(outcomes: Outcomes) -> None:
    *reached, below_half = value(outcomes, "hash_may_wrap")
    assert reached == [1, 1, 1, 1]
    assert 16 <= below_half <= 48
