"""The compiler's process: one outcome for each kernel, whatever a text does to it, and the same inside the sandbox."""

import threading
from collections.abc import Iterator

import pytest
from pydantic import TypeAdapter

from grader.judging.plans.compilation import compile_kernels
from grader.languages.triton.confined.compiler import machine_code, main
from grader.languages.triton.text import read_text
from grader.plan import wire
from grader.plan.compiled import Binary, Fits, Problem
from grader.plan.plan import Kernel
from grader.sandbox.forkserver import isolation
from grader.sandbox.forkserver.conversation import Conversation
from grader.sandbox.forkserver.handle import ForkServer
from tests.languages.triton import kernels
from tests.rows import beside

DATA = beside(__file__)
LIMITS = wire.Limits(memory_mb=4096, file_mb=64, processes=64, cpu_seconds=120)
COPY = kernels.copy()
OUTCOME: TypeAdapter[Binary | Fits | Problem] = TypeAdapter(Binary | Fits | Problem)


def changed(old: str, new: str, kernel: Kernel = COPY) -> Kernel:
    assert old in kernel.text
    return kernel.model_copy(update={"text": kernel.text.replace(old, new)})


# An assertion of LLVM's ends the process.
CRASHES = changed("%x_ptr: !tt.ptr<f32> {tt.divisibility = 16", "%x_ptr: !tt.ptr<f32> {tt.nv_tma_desc = 1")
# Each thread of a program has thousands of loads.
ENDLESS = changed("1024", "1048576")


def outcomes(
    of: list[Kernel], seconds: int = 60, at_once: int = 1, in_all: float = 300.0
) -> list[Binary | Fits | Problem]:
    return [OUTCOME.validate_json(one)
            for one in main.compile_kernels(of, "sm_90", seconds, at_once, in_all=in_all)]


@pytest.mark.parametrize("at_once", [1, 2, 5])
def test_a_kernel_that_ends_the_compiler_leaves_the_others_compiled(at_once: int) -> None:
    first, second, third = outcomes([COPY, CRASHES, COPY], at_once=at_once)
    assert isinstance(first, Binary) and first == third
    assert isinstance(second, Problem) and second.why == "crash" and "SIGABRT" in second.message


def test_a_kernel_that_takes_too_long_leaves_the_others_compiled() -> None:
    slow, other = outcomes([ENDLESS, COPY], seconds=3)
    assert isinstance(slow, Problem) and slow.why == "too_slow"
    assert isinstance(other, Binary)


@pytest.mark.parametrize("at_once", [1, 2])
def test_kernels_that_take_too_long_are_too_slow_in_all(at_once: int) -> None:
    # Each by itself would have a minute of processor time, and all of them more than a test has.
    found = outcomes([COPY, *[ENDLESS] * 8, COPY], at_once=at_once, in_all=8.0)
    assert isinstance(found[0], Binary)
    assert [one.why for one in found[1:9] if isinstance(one, Problem)] == ["out_of_time"] * 8


def test_whether_a_kernel_fits_is_known_without_its_machine_code() -> None:
    product = kernels.product()
    wide = product.model_copy(update={"options": {**product.options, "num_stages": 64}})
    binary, fits, slow = (OUTCOME.validate_json(one) for one in main.compile_kernels(
        [product], "sm_90", 3, in_all=60, fitting=[product, ENDLESS]))
    assert isinstance(binary, Binary) and fits == Fits(shared=binary.facts.shared) and binary.facts.shared
    # Of so much work for each thread nothing is known before it is compiled.
    assert isinstance(slow, Problem) and slow.why == "too_slow"
    (large,) = (OUTCOME.validate_json(one) for one in main.compile_kernels(
        [], "sm_90", 60, in_all=60, fitting=[wide]))
    assert isinstance(large, Problem) and large.why == "shared_memory"


HIDDEN: str = DATA["hidden"]


def test_a_canonical_text_shows_what_a_dictionary_of_attributes_hides() -> None:
    """MLIR lets the dictionary override what stands at an attribute's own place: a text was read as one program and
    compiled as another."""
    assert not read_text(HIDDEN).foreign
    text, nothing = machine_code.canonical([HIDDEN, "none"], 90)
    assert "tt.get_program_id y" in text and "axis" not in text
    assert [code.text for code in read_text(text).foreign] == ["trap;"]
    assert machine_code.canonical([text], 90) == [text] and not nothing


def test_the_checks_of_a_text_leave_no_trace_in_its_machine_code() -> None:
    checked, plain = kernels.norm(block=1024, debug=True), kernels.norm(block=1024)
    assert "tt.assert" in checked.text and "tt.assert" not in plain.text
    ours, its = outcomes([checked, plain])
    assert isinstance(ours, Binary) and isinstance(its, Binary) and ours.cubin == its.cubin
    options = {**checked.options, "debug": True}
    (kept,) = outcomes([checked.model_copy(update={"options": options})])
    assert isinstance(kept, Binary) and kept.cubin != its.cubin


@pytest.mark.parametrize(("kernel", "clusters", "why"), [(COPY, 3, "compiler"), (CRASHES, 2, "crash")])
def test_clusters_are_named_where_the_compiler_fails(kernel: Kernel, clusters: int, why: str) -> None:
    (found,) = outcomes([kernel.model_copy(update={"options": {**kernel.options, "num_ctas": clusters}})])
    assert isinstance(found, Problem) and found.why == why and found.message.startswith(f"with num_ctas={clusters}: ")


def test_what_triton_says_has_its_line() -> None:
    # A function that calls itself cannot be inlined.
    call = "tt.call @copy_kernel(%x_ptr, %out_ptr, %n) : (!tt.ptr<f32>, !tt.ptr<f32>, i32) -> ()\n"
    (found,) = outcomes([changed("tt.return", f"{call} tt.return")])
    assert isinstance(found, Problem) and found.why == "compiler" and found.line > 0


@pytest.fixture(scope="module")
def compiler_fork_server() -> Iterator[ForkServer]:
    fork_server = ForkServer(["triton/compiler"], layers=isolation.measure().layers)
    yield fork_server
    fork_server.close()


def test_in_the_sandbox_it_compiles_the_same(compiler_fork_server: ForkServer) -> None:
    asked = [COPY, kernels.tile(), CRASHES, kernels.product()]
    found = compile_kernels(
        lambda: Conversation(compiler_fork_server, "triton/compiler", LIMITS), asked, "sm_90", seconds=120)
    assert isinstance(found, list)
    *binaries, crash = (found[number] for number in (0, 1, 3, 2))
    assert binaries == outcomes([kernel for kernel in asked if kernel is not CRASHES])
    # There abort(3) ends by another signal, since a worker's child may send itself none.
    assert isinstance(crash, Problem) and crash.why == "crash"


def test_the_warm_up_starts_no_thread() -> None:
    before = threading.active_count()
    main.prepare()
    assert threading.active_count() == before
