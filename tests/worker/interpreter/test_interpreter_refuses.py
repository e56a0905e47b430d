"""What the compiler or a GPU refuses is refused, at the student's line and in words meant for the student."""

from __future__ import annotations

import re
from typing import Any

import pytest

Outcomes = dict[str, dict[str, Any]]

FAULTS = {
    "chained_comparison": ("Unsupported", r"`0 <= i < 5`: comparisons cannot be chained"),
    "block_condition": ("Unsupported", "this tensor has many"),
    "global_variable": ("NameError", r"`WIDTH` is a global variable.*tl.constexpr"),
    "torch_call": ("Unsupported", r"exp\(\) cannot be called on a tensor"),
    "torch_function_by_name": ("Unsupported", "`exp` of torch"),
    "numpy_call": ("Unsupported", r"exp\(\) cannot be called on a tensor"),
    "math_call": ("Unsupported", r"math.sqrt\(\) cannot be called on a tensor"),
    "plain_function": ("Unsupported", "`plain` is a plain Python function"),
    "python_builtin": ("NameError", "sum is not defined in a kernel"),
    "float_of_tensor": ("Unsupported", r"x.to\(tl.float32\)"),
    "break": ("Unsupported", "does not accept break"),
    "return_in_a_loop": ("Unsupported", "return from inside a loop"),
    "return_in_a_loop_that_is_not_reached": ("Unsupported", "return from inside a loop"),
    "shape_that_changes_in_a_loop": ("Unsupported", r"`total` is fp32 before the loop and <.*8.*fp32> in it"),
    "dtype_that_changes_in_a_loop": ("Unsupported", "`total` is int32 before the loop and fp32 in it"),
    "import": ("Unsupported", "does not accept import"),
    "range_not_a_power_of_two": ("ValueError", "power of 2"),
    "shape_not_a_power_of_two": ("ValueError", "power of 2"),
    "range_known_at_run_time_only": ("ValueError", "constexpr"),
    "shape_known_at_run_time_only": ("TypeError", "Shape element 0 must have type"),
    "small_dot": ("AssertionError", "K >= 16"),
    "device_assert": ("DeviceAssertion", "8 of 8 lanes: too large"),
    "static_assert": ("DeviceAssertion", "B is too small"),
    "overflow_of_an_offset": ("IntegerOverflow", r"int32 overflow in `\*`.*tl.int64"),
    "overflow_in_a_loop": ("IntegerOverflow", "4,900,000,000 does not fit"),
    "cast_to_bfloat16": ("Unsupported", "bf16.*only fp16 and fp32"),
    "zeros_of_bfloat16": ("Unsupported", "bf16.*only fp16 and fp32"),
    "inline_assembly": ("Unsupported", "inline assembly"),
    "libdevice_without_body": ("Unsupported", "__nv_j0f"),
    "error_of_the_student": ("IndexError", "out of range"),
    "waiting_for_another_program": ("Unsupported", "waits for another one"),
    "fault_in_a_helper": ("OutOfBounds", "64 of 128 active lanes reach up to 64 elements past the end of `x`"),
    "load_past_the_end": ("OutOfBounds", "load.*6 of 8 active lanes reach up to 6 elements past the end of `x`"),
    "store_before_the_start": ("OutOfBounds", "store.*4 of 6 active lanes.*4 elements before the start of `out`"),
    "store_far_away": ("OutOfBounds", "past the end of `x`"),
    "neighbour_is_not_ours": ("OutOfBounds", "1 of 1 active lanes"),
    "atomic_past_the_end": ("OutOfBounds", "atomic.*3 of 8 active lanes"),
    "block_pointer_past_the_end": ("OutOfBounds", "store.*3 of 8 active lanes reach up to 3 elements past"),
}

LAUNCHES = {
    "bfloat16_argument": ("Unsupported", "parameter `x` is torch.bfloat16"),
    "grid_of_floats": ("TypeError", "triton.cdiv"),
    "grid_not_a_tuple": ("TypeError", "must be a tuple"),
    "grid_beyond_cuda": ("ValueError", "outside what CUDA can start"),
    "too_many_programs": ("TooManyPrograms", "1,001 programs.*at most 1,000"),
    "forgotten_grid": ("RuntimeError", r"kernel\[grid\]"),
    "unknown_keyword": ("KeyError", "BLOK was specified but unrecognised"),
    "odd_number_of_warps": ("ValueError", "power of 2"),
    "missing_constexpr": ("TypeError", "missing.*'BLOCK'"),
    "numpy_argument": ("TypeError", "numpy.ndarray"),
    "argument_on_another_device": ("ValueError", "on meta"),
    "warmup_gives_nothing_to_ask": ("Unsupported", "n_regs"),
    "autotune_conflict": ("ValueError", "BLOCK"),
    "timing_is_refused": ("Unsupported", "needs a GPU"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_fault_of_a_kernel(outcomes: Outcomes, case: str) -> None:
    found = outcomes[case]
    name, message = FAULTS[case]
    assert (found.get("error"), found.get("text", "")[-7:]) == (name, "# fault"), found
    assert re.search(message, found["message"])


@pytest.mark.parametrize("case", LAUNCHES)
def test_fault_of_a_launch(outcomes: Outcomes, case: str) -> None:
    found = outcomes[case]
    name, message = LAUNCHES[case]
    assert found.get("error") == name, found
    assert re.search(message, found["message"])
    assert found["line"] > 0
