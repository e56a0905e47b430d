"""What a launch becomes: arguments, specialisation, options, tuners, and what a compiled kernel is said to take."""

import pytest

from grader.course.cases import Case
from grader.languages.triton.options import options_of
from grader.plan.messages import Answers, Failed, Refused, Resources, kernel_key
from grader.plan.plan import Descriptor, Float, Integer, Launch, Plan, Pointer
from tests.languages.triton.planner.harness import CASE, EVEN, SILU, answer, plan_file
from tests.languages.triton.planner.test_idioms import KERNEL
from tests.rows import beside, each_row

DATA = beside(__file__)


def planned(rest: str, case: Case = CASE, *, answers: Answers | None = None) -> Plan:
    return answer(Plan, KERNEL + rest, case, answers=answers)


def launches(plan: Plan) -> list[Launch]:
    return [operation for operation in plan.first if isinstance(operation, Launch)]


def test_arguments_are_buffers_with_offsets_and_numbers_with_types(text: str) -> None:
    plan = planned(text)
    (launch,) = launches(plan)
    assert launch.grid == (3, 2, 1)
    assert launch.arguments == [
        Pointer(buffer=0, offset=36), Pointer(buffer=1), Integer(type="i32", value=7),
        Integer(type="i64", value=1 << 40), Float(value=2.5), Integer(type="u1", value=1),
        Pointer(buffer=0), Pointer(buffer=1)]
    kernel = plan.kernels[launch.kernel]
    assert kernel.signature == ["*fp32", "*fp32", "i32", "i64", "fp32", "u1", "*fp32", "*fp32"]
    assert (kernel.name, kernel.symbol, kernel.line) == ("mixed", "mixed", 17)
    assert 'loc("silu.py":18' in kernel.text
    assert [(buffer.given, buffer.bytes) for buffer in plan.buffers] == [("x", 180), ("out", 180)]


def test_addresses_and_sizes_are_specialised_as_triton_does() -> None:
    texts = [planned("def silu(x, out): launch(x, out)", case).kernels[0].text for case in (EVEN, CASE)]
    assert [text.count("tt.divisibility = 16") for text in texts] == [3, 2]
    plan = planned("def silu(x, out): launch(x.view(-1)[1:], out.view(-1)[4:])")
    assert plan.kernels[0].text.count("tt.divisibility = 16") == 1


def test_what_must_not_be_specialised_is_not(text: str) -> None:
    plan = planned(text)
    assert len(plan.kernels) == 1
    assert [one.arguments[1] for one in launches(plan)] == [Integer(type="i32", value=1), Integer(type="i32", value=16)]


def test_checks_are_in_each_kernel_and_host_code_sees_none_of_them(text: str) -> None:
    kernel = planned(text).kernels[0]
    assert "n is small" in kernel.text and "overflow" in kernel.text
    assert not kernel.options["debug"]
    asked = text.replace("triton.jit", "triton.jit(debug=True)").replace("assert not", "_ =")
    assert planned(asked).kernels[0].options["debug"]


def test_options_of_a_launch_are_kept() -> None:
    plan = planned("def silu(x, out): kernel[(1,)](x, out, 4, BLOCK=64, num_warps=8, num_stages=2, maxnreg=64, "
                   "enable_fp_fusion=False, launch_cooperative_grid=True, launch_pdl=True)")
    options = options_of(plan.kernels[0])
    assert (options.num_warps, options.num_stages, options.maxnreg) == (8, 2, 64)
    assert (options.enable_fp_fusion, options.launch_cooperative_grid, options.launch_pdl) == (False, True, True)


@pytest.mark.parametrize(
    "option", ["ptx_options='-O0'", "ir_override='a.ptx'", "ptx_version=80"])
def test_options_that_reach_files_or_the_assembler_are_refused(option: str) -> None:
    refused = answer(Refused, f"{KERNEL}def silu(x, out): kernel[(1,)](x, out, 4, BLOCK=64, {option})")
    assert (refused.why, refused.operator, refused.line) == ("option", option.split("=")[0], 15)


TUNED: str = DATA["tuned"]


@each_row(("answers", "chosen"), [
    (Answers(), 0), (Answers(candidate=1), 1), (Answers(candidate=5), 2), (Answers(winners=[2]), 2),
    (Answers(candidate=1, winners=[-1]), 1), (Answers(winners=[7]), 0)])
def test_a_tuner_takes_the_configuration_that_the_judge_names(answers: Answers, chosen: int) -> None:
    plan = planned(TUNED, answers=answers)
    (tuner,) = plan.tuners
    assert (tuner.kernel, tuner.candidates, tuner.chosen, tuner.line) == ("tuned", 3, chosen, 20)
    assert f"BLOCK: {(32, 64, 128)[chosen]}" in tuner.configuration
    (launch,) = launches(plan)
    assert launch.threads == 32 * (1, 2, 4)[chosen]
    assert launch.grid[0] == -(-45 // (32, 64, 128)[chosen])
    assert plan.steady is None


@pytest.mark.parametrize(("old", "new", "resets"), [
    ("", "", False), ('key=["n"]', 'key=["n"], reset_to_zero=["out_ptr"]', True),
    ('key=["n"]', 'key=["n"], restore_value=["out_ptr"]', True),
    ('key=["n"]', 'key=["n"], pre_hook=lambda arguments, reset_only=False: None', True),
    ("num_warps=w", "num_warps=w, pre_hook=lambda arguments: None", True)])
def test_whether_a_tuner_puts_tensors_back_between_its_configurations(old: str, new: str, resets: bool) -> None:
    assert [tuner.resets for tuner in planned(TUNED.replace(old, new)).tuners] == [resets]


@pytest.mark.parametrize(("was", "made"), [
    ("    offsets", "    tl.static_assert(BLOCK != 64)\n    offsets"), ("(64, 2)", "(64, 64)")])
def test_a_configuration_that_cannot_start_gives_way_to_the_next(was: str, made: str) -> None:
    picky = TUNED.replace(was, made)
    assert picky != TUNED
    plan = planned(picky, answers=Answers(candidate=1))
    assert plan.tuners[0].chosen == 2
    assert launches(plan)[0].threads == 128


def test_a_tuner_that_sets_to_zero_does_so_in_the_first_call_alone() -> None:
    plan = planned(TUNED.replace('key=["n"]', 'key=["n"], reset_to_zero=["out_ptr"]'))
    assert [operation.op for operation in plan.first] == ["fill", "launch"]
    assert plan.steady is not None
    assert [operation.op for operation in plan.steady] == ["launch"]


ASKING = """
def silu(x, out):
    k = kernel.warmup(x, out, x.numel(), BLOCK=64, grid=(1,))
    kernel[(k.n_regs, k.n_spills + 1, k.metadata.shared + 1)](x, out, x.numel(), BLOCK=64)
"""


def test_what_a_kernel_takes_is_asked_for_and_answered() -> None:
    plan = planned(ASKING)
    assert plan.resource_queries == [0]
    resources = {kernel_key(plan.kernels[0]): Resources(registers=40, spills=3, shared=1000)}
    plan = planned(ASKING, answers=Answers(resources=resources))
    assert plan.resource_queries == []
    assert launches(plan)[0].grid == (40, 4, 1001)


def test_a_launch_with_more_shared_memory_than_there_is_fails() -> None:
    plan = planned(ASKING)
    resources = {kernel_key(plan.kernels[0]): Resources(registers=40, spills=3, shared=1 << 20)}
    failed = answer(Failed, KERNEL + ASKING, answers=Answers(resources=resources))
    assert "OutOfResources" in failed.message


def test_descriptors_of_the_host_are_views_with_a_block(text: str) -> None:
    plan = planned(text, EVEN, answers=Answers(candidate=1))
    descriptor = launches(plan)[0].arguments[0]
    assert isinstance(descriptor, Descriptor)
    assert descriptor.block == [16, 64]
    assert (descriptor.view.offset, descriptor.view.shape, descriptor.view.strides) == (8 * 64 * 4, [56, 64], [64, 1])
    assert plan.kernels[0].signature == ["tensordesc<fp32[16, 64]>", "*fp32"]


DEVICE_DESCRIPTOR = """
@triton.jit
def described(x_ptr, out_ptr, M, N):
    desc = tl.make_tensor_descriptor(x_ptr, shape=[M, N], strides=[N, 1], block_shape=[16, 16])
    tl.store(out_ptr + tl.arange(0, 16), tl.sum(desc.load([0, 0]), axis=1))
"""


def test_a_descriptor_made_on_the_device_needs_an_allocator() -> None:
    call = "\ndef silu(x, out):\n    described[(1,)](x, out, *x.shape)\n"
    failed = answer(Failed, KERNEL + DEVICE_DESCRIPTOR + call, EVEN)
    assert "no allocator was set" in failed.message
    allocator = "\ntriton.set_allocator(lambda size, align, stream: torch.empty(size, device='cuda', dtype=torch.int8))"
    assert len(planned(DEVICE_DESCRIPTOR + allocator + call, EVEN).buffers) == 2


@pytest.mark.parametrize(("launch", "operator"), [
    ("from triton.language.standard import zeros_like as k", "zeros_like"),
    ("from triton.language.extra.cuda.utils import convert_fp8e4b15_to_float16 as k", ""),
])
def test_a_kernel_of_a_library_is_refused(launch: str, operator: str) -> None:
    refused = plan_file(f"{KERNEL}{launch}\ndef silu(x, out): k[(1,)](x)", SILU, CASE)
    if operator:
        assert isinstance(refused, Refused)
        assert (refused.why, refused.operator, refused.line) == ("library", operator, 16)
    else:
        assert not isinstance(refused, Plan)


def test_an_address_is_no_number() -> None:
    for call in ("kernel[(1,)](x, out, x.data_ptr(), BLOCK=64)", "torch.tensor([x.data_ptr()], device='cuda')"):
        refused = answer(Refused, f"{KERNEL}def silu(x, out): {call}")
        assert (refused.why, refused.line) == ("address", 15)


def test_a_tensor_on_the_host_cannot_be_reached() -> None:
    failed = answer(Failed, f"{KERNEL}def silu(x, out): launch(torch.zeros(4), out)")
    assert "cannot be accessed from Triton" in failed.message
    plan = planned("def silu(x, out): launch(torch.zeros(4, pin_memory=True), out)")
    assert [buffer.place for buffer in plan.buffers] == ["device", "device", "pinned"]


def test_a_grid_is_made_of_whole_numbers() -> None:
    failed = answer(Failed, f"{KERNEL}def silu(x, out): kernel[(x.numel() / 64,)](x, out, 4, BLOCK=64)")
    assert "TypeError" in failed.message
    assert launches(planned("def silu(x, out): kernel[(0,)](x, out, 4, BLOCK=64)"))[0].grid == (0, 1, 1)


@pytest.mark.parametrize(("kernel", "said", "line"), [
    ("    tl.store(x_ptr, y)", "y is not defined", 18),
    # What MLIR objects to, it writes to standard error.
    ("    x = tl.load(x_ptr + tl.arange(0, 8))\n    x = 1.0 if x > 0 else 0.0\n    tl.store(x_ptr, x)",
     "must be 1-bit signless integer, but got 'tensor<8xi1>'", 19),
    ("    lanes = tl.arange(0, 8)\n    tl.store(x_ptr, tl.sum(tl.load(x_ptr + lanes, mask=lanes)))",
     "but got 'tensor<8xi32>'", 19),
    ("    x = tl.load(x_ptr)\n    tl.store(x_ptr, helper(x))", "rms", 21),
])
def test_an_error_of_the_front_end_is_told_with_its_line(kernel: str, said: str, line: int) -> None:
    failed = answer(Failed, f"""{KERNEL}
@triton.jit
def broken(x_ptr):
{kernel}
@triton.jit
def helper(x): return tl.rms(x)
def silu(x, out): broken[(1,)](out)
""")
    assert failed.failure == "compile_error"
    assert said in failed.message
    assert failed.line == line


def test_a_kernel_that_does_not_compile_is_told_with_its_constants() -> None:
    failed = answer(Failed, f"""{KERNEL}
@triton.jit
def broken(x_ptr, n, one, B: tl.constexpr, kind: tl.constexpr): tl.arange(0, B)
def silu(x, out): broken[(1,)](out, 5, 1, 33, "sum")
""")
    assert (failed.failure, failed.constants) == ("compile_error", {"one": "1", "B": "33"})


@pytest.mark.parametrize(("host", "said"), [
    ("torch.empty(4)", "(cpu tensor?), which is allocated in host memory in line 17"),
    ("torch.empty_like(out, device='cpu')", "(cpu tensor?), which is allocated in host memory in line 17"),
])
def test_a_tensor_of_ones_own_on_the_host_is_told_with_its_line(host: str, said: str) -> None:
    failed = answer(Failed, f"""{KERNEL}
def silu(x, out):
    y = {host}
    kernel[(1,)](x, y, 4, BLOCK=64)
""")
    assert failed.message.endswith(said), failed
