"""What the compiler makes of a kernel's text: the same as Triton makes of its source, and facts that fit it."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import triton

from grader.languages.triton.confined.compiler.machine_code import to_ptx
from grader.languages.triton.confined.compiler.main import compile_kernel
from grader.plan.compiled import Binary, Facts, Problem, TensorMap
from grader.plan.plan import Kernel
from tests.languages.triton import kernels
from tests.languages.triton.kernels import TARGET, lower, source_of

pytestmark = pytest.mark.newest

SIZES = {"M": "i32", "N": "i32", "K": "i32"}
PRODUCT = {"a_ptr": "*fp16", "b_ptr": "*fp16", "out_ptr": "*fp16", **SIZES}
TILES = {"x_desc": "tensordesc<fp16[64, 64]>", "out_desc": "tensordesc<fp16[64, 64]>"}
POINTERS = {"x_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32"}


def instructions(ptx: str) -> list[str]:
    """The lines of a PTX text without line tables, labels that only these use, and comments."""
    lines = [line.strip() for line in ptx.split(".section", maxsplit=1)[0].splitlines()]
    kept = [line for line in lines if line and not re.match(r"//|\.loc|\.file|\$L__(tmp|func_\w+)\d+:", line)]
    return [re.sub(r"\s*//.*", "", line) for line in kept]


@pytest.mark.parametrize(
    ("function", "signature", "constants", "aligned", "options"),
    [
        (kernels.copy_kernel, POINTERS, {"BLOCK": 1024}, ("x_ptr", "out_ptr", "n"), {}),
        (kernels.copy_kernel, POINTERS, {"BLOCK": 256}, (), {"num_warps": 1, "enable_fp_fusion": False}),
        (kernels.norm_kernel, POINTERS, {"BLOCK": 4096}, ("x_ptr",), {"num_warps": 8}),
        (kernels.product_kernel, PRODUCT, {"TILE": 64, "STEP": 32}, tuple(PRODUCT), {"num_stages": 4}),
        (kernels.tile_kernel, TILES, {"TILE": 64}, (), {}),
        (kernels.odd_kernel, POINTERS, {"BLOCK": 128}, (), {"maxnreg": 64}),
    ],
)
def test_a_text_gives_the_instructions_that_its_source_gives(
    function: Any, signature: dict[str, str], constants: dict[str, Any], aligned: tuple[str, ...],
    options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    source = source_of(function, signature, constants, aligned)
    expected = instructions(triton.compile(source, target=TARGET, options=options).asm["ptx"])
    text, _ = to_ptx(lower(function, signature, constants, aligned=aligned, **options), 90)
    assert len(expected) > 20
    assert instructions(text) == expected


def facts(kernel: Kernel, target: str = "sm_90") -> Facts:
    outcome = compile_kernel(kernel, target)
    assert isinstance(outcome, Binary), outcome
    return outcome.facts


def widths(found: Facts) -> dict[str, Counter[int]]:
    """How many instructions there are of each width, by what they do."""
    counts: dict[str, Counter[int]] = {}
    for line in found.lines:
        counts.setdefault(line.access, Counter())[line.bits] += line.count
    return counts


def test_loads_and_stores_are_as_wide_as_the_alignment_allows() -> None:
    assert widths(facts(kernels.copy())) == {"load": {128: 2}, "store": {128: 2}}
    # A number of elements that is no multiple of 16.
    narrow = facts(kernels.copy(aligned=("x_ptr", "out_ptr")))
    assert widths(narrow) == {"load": {32: 8}, "store": {32: 8}}


def test_a_block_that_no_program_can_hold_in_registers_spills() -> None:
    assert facts(kernels.norm(block=1024)).spills == 0
    spilling = facts(kernels.norm(block=32768, num_warps=4))
    assert spilling.spills > 0 and spilling.registers > 200


def test_a_product_takes_tensor_cores_and_asynchronous_copies() -> None:
    found = facts(kernels.product())
    assert (found.tensor_cores, found.copies, found.shared > 0) == ("wgmma", "cp.async", True)
    assert set(widths(found)["load"]) == {128}
    assert facts(kernels.product(), "sm_80").tensor_cores == "mma"
    # A tile with too few rows for a warp group.
    assert facts(kernels.product(tile=32)).tensor_cores == "mma"
    assert facts(kernels.copy()).tensor_cores == "none" and facts(kernels.copy()).copies == "none"


def test_descriptors_are_copied_by_the_copy_engine() -> None:
    assert facts(kernels.tile()).copies == "tma"
    older = facts(kernels.tile(), "sm_80")
    assert older.copies == "none" and widths(older)["load"]


def test_a_launcher_is_told_of_descriptors_and_shared_memory() -> None:
    outcome = compile_kernel(kernels.tile(), "sm_90")
    assert isinstance(outcome, Binary)
    maps = [operand for operand in outcome.metadata.operands if isinstance(operand, TensorMap)]
    assert outcome.metadata.name == "tile_kernel" and [one.block_size for one in maps] == [[64, 64]] * len(maps) != []


@pytest.mark.parametrize(
    ("kernel", "why", "says"),
    [
        (kernels.product(tile=256, step=128, num_stages=4, num_warps=8), "shared_memory", "232,448"),
        (kernels.product(tile=128, maxnreg=64), "assembler", "Insufficient registers"),
        (kernels.copy().model_copy(update={"symbol": "other"}), "malformed", "copy_kernel"),
        (kernels.copy().model_copy(update={"text": kernels.copy().text.replace("end = 1024", "end = 1000")}),
         "malformed", "does not take"),
    ],
    ids=["shared memory", "registers", "another symbol", "a text that does not verify"],
)  # fmt: skip
def test_what_cannot_be_compiled_is_a_problem_with_its_reason(kernel: Kernel, why: str, says: str) -> None:
    outcome = compile_kernel(kernel, "sm_90")
    assert isinstance(outcome, Problem), outcome
    assert outcome.why == why and says in outcome.message
