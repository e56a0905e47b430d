"""Machine code of texts, by NVIDIA's assembler, and what is said of a text that has none."""

import base64
import re
import time
from pathlib import Path

import pytest

from grader.judging.plans.compilation import canonical_texts, compile_kernels
from grader.judging.running import lane
from grader.languages.cuda.confined.compiler.main import MOST_STATIC, compile_kernel, fit_kernel
from grader.plan import wire
from grader.plan.compiled import Binary, Fits, PlainArgument, Problem, Width
from grader.plan.plan import Kernel
from grader.sandbox.forkserver.conversation import Conversation
from tests.languages.cuda.compiling import kernels_of, needs_nvcc

pytestmark = needs_nvcc


@pytest.fixture(scope="module")
def kernels() -> dict[str, Kernel]:
    return kernels_of(Path(__file__).with_name("kernels.cu").read_text(encoding="utf-8"))


def _compiled(kernel: Kernel, *, seconds: int = 40, left: float = 60.0, text: bool = False) -> Binary | Problem:
    return compile_kernel(kernel, "sm_90", seconds, time.monotonic() + left, text=text)


@pytest.mark.parametrize(("name", "shared", "copies", "cores", "lines"), [
    ("wide", 0, "none", "none", [(6, "load", 128, 1), (6, "store", 128, 1)]),
    ("tile", 32 * 33 * 4, "none", "none", [(11, "load", 32, 1), (13, "store", 32, 1)]),
    ("fetch", 1024, "cp.async", "none", [(17, "load", 128, 1), (21, "store", 128, 1)]),
    ("product", 0, "none", "mma", []),
])
def test_facts_are_those_of_the_code(
    name: str, shared: int, copies: str, cores: str, lines: list[tuple[int, str, int, int]], kernels: dict[str, Kernel],
) -> None:
    found = _compiled(kernels[name], text=True)
    assert isinstance(found, Binary)
    assert base64.b64decode(found.cubin).startswith(b"\x7fELF") and found.ptx == kernels[name].text
    facts = found.facts
    assert 0 < facts.registers < 128 and facts.spills == 0
    assert (facts.shared, facts.copies, facts.tensor_cores) == (shared, copies, cores)
    assert facts.lines == [Width.model_validate({"line": line, "access": access, "bits": bits, "count": count})
                           for line, access, bits, count in lines]


def test_a_launcher_adds_nothing_to_the_arguments(kernels: dict[str, Kernel]) -> None:
    kernel = kernels["wide"]
    found = _compiled(kernel)
    assert isinstance(found, Binary)
    assert found.metadata.name == kernel.symbol and found.metadata.shared == 0
    assert found.metadata.operands == [PlainArgument(argument=0), PlainArgument(argument=1), PlainArgument(argument=2)]


def test_the_code_names_no_file(kernels: dict[str, Kernel]) -> None:
    found = _compiled(kernels["tile"])
    assert isinstance(found, Binary) and b"submission.cu" not in base64.b64decode(found.cubin)


def test_shared_memory_that_no_kernel_may_declare(kernels: dict[str, Kernel]) -> None:
    for found in (_compiled(kernels["much"]), fit_kernel(kernels["much"])):
        assert isinstance(found, Problem) and (found.why, found.shared) == ("shared_memory", 65536)
        assert f"65,536 bytes of shared memory; {MOST_STATIC:,} at most" in found.message
    assert fit_kernel(kernels["tile"]) == Fits(shared=32 * 33 * 4)


@pytest.mark.parametrize(("old", "new", "why", "said"), [
    ("ld.global", "ld.globl", "assembler", "Unknown modifier|Parsing error|not a valid|Illegal"),
    ("ret;", "bra $L__nowhere;", "assembler", "nowhere"),
    (".address_size 64", ".address_size 32", "malformed", "a machine that is not known"),
    ("sm_90", "sm_120", "assembler", "SM version"),
])
def test_a_text_without_code_says_why(old: str, new: str, why: str, said: str, kernels: dict[str, Kernel]) -> None:
    kernel = kernels["wide"].model_copy(update={"text": kernels["wide"].text.replace(old, new)})
    found = _compiled(kernel)
    assert isinstance(found, Problem) and found.why == why
    assert re.search(said, found.message) and ".ptx" not in found.message


def test_the_clock_and_the_processor_have_limits(kernels: dict[str, Kernel]) -> None:
    gone = _compiled(kernels["wide"], left=-1.0)
    assert isinstance(gone, Problem) and gone.why == "out_of_time"
    # Each of these divisions becomes a hundred instructions.
    body = "".join(f"\trem.s64 %rd{1 + n % 4}, %rd{1 + n * 3 % 4}, %rd{1 + n * 7 % 4};\n" for n in range(20_000))
    text = kernels["wide"].text.replace("\tret;", body + "\tst.global.u64 [%rd1], %rd2;\n\tret;")
    slow = _compiled(kernels["wide"].model_copy(update={"text": text}), seconds=1)
    assert isinstance(slow, Problem) and slow.why == "too_slow"


def test_a_confined_process_compiles(kernels: dict[str, Kernel]) -> None:
    limits = wire.Limits(memory_mb=4096, file_mb=64, processes=64, cpu_seconds=60)
    some = [kernels["wide"], kernels["much"]]

    def start() -> Conversation:
        return lane.LANE.fork_server.fork("cuda/compiler", limits)

    try:
        texts = canonical_texts(start, [*(kernel.text for kernel in some), ".version 9.0"], "sm_90", seconds=60)
        assert texts == [*(kernel.text for kernel in some), ""]
        found = compile_kernels(start, some, "sm_90", seconds=60, fitting=[kernels["tile"]])
        assert isinstance(found, list)
        assert [type(one) for one in found] == [Binary, Problem, Fits]
    finally:
        lane.LANE.end_workers()
