"""Texts of kernels: how they are cut out of what the compiler makes, and what is refused in one."""

import base64
import re

import numpy as np
import pytest

from grader.languages import ForeignCode
from grader.languages.cuda.text import EntryText, argument_names, canonical, check_launch, read_kernel, split
from grader.plan.plan import Argument, Float, InnerPointer, Integer, Kernel, Launch, Malformed, Pointer, Structure
from tests.languages.cuda.compiling import kernel_of, needs_nvcc, ptx_of
from tests.rows import beside, each_row
from tests.simulation.ptx.launching import empty, run, tensor

DATA = beside(__file__)
SOURCE: str = DATA["source"]


@pytest.fixture(scope="module")
def entries() -> dict[str, EntryText]:
    return {entry.name: entry for entry in split(ptx_of(SOURCE), SOURCE)}


@needs_nvcc
def test_a_kernel_is_cut_out_with_what_it_reaches(entries: dict[str, EntryText]) -> None:
    entry = entries["reduce<32>"]
    assert (entry.line, entry.most_threads) == (9, 32)
    assert entry.signature == ("u64", "u64", "b8[16]@8", "u64", "u64")
    assert argument_names(kernel_of(entry)) == ["input", "out", "p", "scale", "counter"]
    assert [(variable.symbol, variable.contents) for variable in entry.variables] == [
        ("scale", b"\0\0\xc0\x3f\0\0\0\xc0"), ("counter", b"\0\0\0\0")]
    assert "_Z4slowfi" in entry.text and "__cudart_i2opi_f" in entry.text and "hits" not in entry.text
    assert ".const" not in entry.text and ".section" not in entry.text and "//" not in entry.text


@needs_nvcc
def test_an_entry_without_parameters_is_small(entries: dict[str, EntryText]) -> None:
    assert entries["plain"].signature == () and len(entries["plain"].text.splitlines()) < 10
    own = entries["own"]
    assert argument_names(kernel_of(own)) == ["parameter 1", "hits"] and own.line == 19


@needs_nvcc
def test_a_line_is_that_of_the_file_where_a_function_was_inlined(entries: dict[str, EntryText]) -> None:
    places = [line.split()[1:3] for line in entries["reduce<32>"].text.splitlines() if line.startswith("\t.loc ")]
    assert {file for file, _ in places} == {"1"}
    # The helper's own line, and for atomicAdd of a header the line that calls it.
    assert {"6", "14"} <= {line for _, line in places}


@needs_nvcc
def test_every_text_is_read_again_as_it_is(entries: dict[str, EntryText]) -> None:
    for entry in entries.values():
        assert read_kernel(kernel_of(entry)) == () and canonical(entry.text) == entry.text


@needs_nvcc
@pytest.mark.parametrize(("source", "said", "line"), DATA["unplanned"])
def test_a_kernel_that_no_plan_can_have_says_so_and_leaves_the_others(source: str, said: str, line: int) -> None:
    source += "\n__global__ void other(int *x) { x[0] = 2; }\n"
    entries = {entry.name: entry for entry in split(ptx_of(source), source)}
    assert re.search(said, entries["k"].unplanned) and not entries["k"].text
    assert entries["k"].line == line
    assert entries["other"].text and not entries["other"].unplanned


@needs_nvcc
def test_a_function_of_its_own_gets_the_variables_that_it_uses() -> None:
    source = """
__device__ int c = 3;
__constant__ int d[2] = {5, 7};
__device__ __noinline__ int f(int i) { return c++ + d[i]; }
__device__ __noinline__ void g(int *x) { x[0] = f(1); }
__device__ __noinline__ int h() { return c; }
__global__ void k(int *x) { g(x); x[1] = h(); }
"""
    (entry,) = split(ptx_of(source), source)
    assert not entry.unplanned and {variable.name for variable in entry.variables} == {"c", "d"}
    assert read_kernel(kernel_of(entry)) == () and canonical(entry.text) == entry.text
    x, hidden = empty(2), [tensor(np.frombuffer(one.contents, "i4").copy(), one.name) for one in entry.variables]
    assert run(entry.text, 1, 1, x, *hidden, entry=entry.symbol).findings == []
    assert x.values("i4").tolist() == [10, 4]


ENTRY: str = DATA["entry"]
SIGNATURE = ["u64", "u32", "f32", "b8[16]@8"]
STRING = ".global .align 1 .b8 $str[3] = {104, 105, 0};\n"
PRINTF = ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
CALL = ("\t{\n\t.param .b64 param0;\n\tst.param.b64 [param0], %rd1;\n\t.param .b64 param1;\n\t.param .b32 r0;\n"
        "\tcall.uni (r0), vprintf, (param0, param1);\n\t}\n")


def _kernel(body: str = "", module: str = "", **changed: object) -> Kernel:
    text = ENTRY.format(body=body, module=module)
    return Kernel.model_validate({"language": "cuda", "name": "k", "symbol": "k", "text": text,
                                  "signature": SIGNATURE, **changed})


@each_row(("body", "module"), [
    ("", ""),
    ("\tmov.u64 %rd1, $str;\n\tcvta.global.u64 %rd1, %rd1;\n" + CALL, STRING + PRINTF),
    ("\tmov.u64 %rd1, $str;\n\tld.global.u8 %rd2, [%rd1+1];\n", STRING),
    ("$L__1:\n\t@!%p1 bra $L__1;\n\tmov.b64 {%r1, %r2}, %rd1;\n\tatom.global.add.f32 %f1, [%rd1], 0f3F800000;\n", ""),
    ("\t.pragma \"nounroll\";\n\t.loc 1 2 3\n"
     "\tld.global.L1::no_allocate.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+-16];\n", ""),
    ("", ".extern .shared .align 4096 .b8 tile[];\n.shared .align 4 .b8 part[128];\n"),
])
def test_what_a_builder_makes_is_read(body: str, module: str) -> None:
    kernel = _kernel(body, module)
    assert read_kernel(kernel) == () and canonical(kernel.text)
    assert argument_names(kernel) == ["x", "n", "parameter 3", "p"]


@each_row(("body", "module", "said"), [
    ("\ttex.2d.v4.f32.s32 {%f1}, [t, {%r1}];\n", "", "an instruction that no kernel has: tex.2d"),
    ("\t.pragma \"enable_smem_spilling\";\n", "", "asks the assembler for something"),
    ("\t.section .debug_x;\n", "", "a directive that the compiler does not write: .section"),
    ("\tld.const.u32 %r1, [%rd1];\n", "", "constant memory"),
    ("\t}\n\t.visible .entry other() {\n", "", "a kernel of 2 entries"),
    ("\t}\n", "", "a directive that the compiler does not write: ret"),
    ("\tmov.u64 %rd1, `;\n", "", "whose text the compiler does not write"),
    ("\tadd.s32 %r1, 12ab, 1;\n", "", "whose text the compiler does not write"),
    ("{" * 70 + "}" * 70, "", "nested too deeply"),
    ("", ".global .align 4 .u32 counter;\n", "a variable that no kernel's text has"),
    ("", ".global .align 4 .b8 big[8192] = {1};\n", "a variable that no kernel's text has"),
    ("", ".global .align 8 .u64 p = generic(x);\n", "a variable that no kernel's text has"),
    ("", ".const .align 4 .u32 c = 1;\n", "a variable that no kernel's text has"),
    ("", ".shared .align 4 .u32 c = 1;\n", "shared memory that begins with values"),
    ("", ".extern .func (.param .b64 r) malloc(.param .b64 a);\n", "calls malloc"),
    ("", ".alias a, b;\n", "a directive that no kernel's text has: .alias"),
    ("", ".section .debug_str {\n.b8 1\n}\n", "a directive that no kernel's text has: .section"),
    ("", ".global .texref t;\n", "a type that is not known"),
    ("", ".visible .func f(.param .b32 a) .attribute(.unified(1, 2)) {\n ret;\n }\n", "attribute"),
    # A string that is written keeps a value from one launch to the next.
    ("\tmov.u64 %rd1, $str;\n\tst.global.u8 [%rd1], 7;\n", STRING, "keeps values"),
    ("\tmov.u64 %rd1, $str;\n\tadd.s64 %rd2, %rd1, 1;\n\tatom.global.add.u32 %r1, [%rd2], 1;\n", STRING,
     "keeps values"),
    ("\tst.global.u64 [%rd3], $str;\n", STRING, "keeps values"),
    ("\tmov.u64 %rd1, $str;\n\tmov.b64 {%r1, %r2}, %rd1;\n", STRING, "keeps values"),
    ("\tmov.u64 %rd1, $str;\n\t.param .b64 q;\n\tst.param.b64 [q], %rd1;\n\tld.param.b64 %rd2, [q];\n"
     "\tst.global.u8 [%rd2], 7;\n", STRING, "keeps values"),
    ("\tcall.uni (r0), f, ();\n\tld.param.b64 %rd2, [r0];\n\tst.global.u8 [%rd2], 7;\n", STRING + ".func (.param .b64 "
     "r) f() {\n mov.u64 %rd1, $str;\n st.param.b64 [r], %rd1;\n ret;\n }\n", "keeps values"),
    ("\tmov.u64 %rd1, $str;\n\tsetp.lt.u64 %p1, %rd1, 4096;\n", STRING, "keeps values"),
    ("\tmov.u64 %rd1, $str;\n" + CALL.replace("vprintf", "f"), STRING + ".func (.param .b32 r) f(.param .b64 a, .param "
     ".b64 b) {\n ret;\n }\n", "keeps values"),
])
def test_what_no_builder_makes_is_refused(body: str, module: str, said: str) -> None:
    kernel = _kernel(body, module)
    with pytest.raises(Malformed, match=said):
        read_kernel(kernel)
    assert canonical(kernel.text) == ""


@each_row(("changed", "said"), [
    ({"symbol": "other"}, "the kernel's entry is k, not other"),
    ({"signature": ["u64", "u32", "f32"]}, "other arguments than its signature says"),
    ({"signature": ["u64", "u32", "f32", "b8[24]@8"]}, "other arguments than its signature says"),
    ({"options": {"num": 4}}, "a kernel with options"),
    ({"text": ""}, "a machine that is not known"),
    ({"text": ENTRY.replace("sm_90", "sm_90, texmode_independent").format(body="", module="")}, "a machine"),
    ({"text": ENTRY.replace("param_1_n", "param_7_n").format(body="", module="")}, "a parameter that no kernel's text"),
])
def test_a_kernel_is_what_its_fields_say(changed: dict[str, object], said: str) -> None:
    with pytest.raises(Malformed, match=said):
        read_kernel(Kernel.model_validate(_kernel().model_dump() | changed))


@pytest.mark.parametrize("text", ["/*" * 300_000, "\"" * 500_000, "{" * 500_000, "a" * 1_000_000, ".loc 1" * 100_000,
                                  ".file 1 \"" * 100_000, "0x" * 400_000, "// \n" * 250_000 + "%", "@!" * 400_000,
                                  ".func a;" * 120_000, "(" * 900_000])
def test_a_hostile_text_is_read_in_little_time(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    # The suite's own limit ends a reader that tries a text again and again.
    assert canonical(text) == ""
    assert canonical(ENTRY.format(body=text, module="")) == ""


@pytest.mark.parametrize(("file", "found"), [
    ("/usr/local/cuda-13.0/include/cccl/cub/device/dispatch/kernels/transform.cuh", "cub"),
    ("/usr/local/cuda-12.8/include/thrust/system/cuda/detail/core/util.h", "thrust"),
    ("silu.cu", ""), ("kernels.h", ""),
])
def test_a_kernel_is_of_the_library_whose_header_defines_it(file: str, found: str) -> None:
    text = ENTRY.format(body="\t.loc 1 9 0\n\t.loc 2 4 1\n", module=f'.file 1 "{file}"\n.file 2 "silu.cu"\n')
    (entry,) = split(text.replace("entry k", "entry _ZN4mine1kEv"), "")
    kernel = Kernel(language="cuda", name=entry.name, symbol=entry.symbol, text=entry.text,
                    signature=list(entry.signature))
    assert canonical(kernel.text) == kernel.text
    assert read_kernel(kernel) == ((ForeignCode("library", found),) if found else ())


POINTER = Pointer(buffer=0)
PAIR = base64.b64encode(bytes(16)).decode()
GOOD: list[Argument] = [POINTER, Integer(type="u32", value=5), Float(type="fp32", value=1.0), Structure(
    contents=PAIR, pointers=[InnerPointer(at=8, buffer=0)])]


def _launch(arguments: list[Argument], **changed: object) -> Launch:
    return Launch.model_validate(
        {"kernel": 0, "grid": (1, 1, 1), "block": (32, 1, 1), "arguments": arguments, **changed})


@pytest.mark.parametrize(("at", "argument"), [
    (0, POINTER), (0, Integer(type="u64", value=2**63)), (0, Integer(type="i64", value=-1)),
    (1, Integer(type="i32", value=-5)), (3, Structure(contents=PAIR)),
])
def test_a_launch_that_fits_passes(at: int, argument: Argument) -> None:
    check_launch(_launch([*GOOD[:at], argument, *GOOD[at + 1 :]]), _kernel())


@each_row(("at", "argument"), [
    (0, Float(type="fp64", value=1.0)), (1, POINTER), (1, Integer(type="u64", value=1)),
    (1, Integer(type="u32", value=2**32)), (1, Integer(type="i32", value=2**31)), (2, Integer(type="u32", value=1)),
    (2, Float(type="fp64", value=1.0)), (3, POINTER), (3, Structure(contents=base64.b64encode(bytes(8)).decode())),
    (3, Structure(contents=PAIR, pointers=[InnerPointer(at=4, buffer=0)])),
    (3, Structure(contents=PAIR, pointers=[InnerPointer(at=16, buffer=0)])),
    (3, Structure(contents=PAIR, pointers=[InnerPointer(at=8, buffer=0), InnerPointer(at=8, buffer=0)])),
    (3, Structure(contents=base64.b64encode(b"\1" * 16).decode(), pointers=[InnerPointer(at=8, buffer=0)])),
])
def test_a_launch_that_does_not_fit_is_refused(at: int, argument: Argument) -> None:
    with pytest.raises(Malformed, match="does not fit its kernel's signature"):
        check_launch(_launch([*GOOD[:at], argument, *GOOD[at + 1 :]]), _kernel())


@each_row("changed", [
    {"block": (1025, 1, 1)}, {"block": (0, 1, 1)}, {"block": (64, 32, 1)}, {"block": (1, 1, 65)}, {"cluster": 2},
    {"programmatic": True},
])
def test_a_block_has_1_to_1024_threads(changed: dict[str, object]) -> None:
    with pytest.raises(Malformed, match="a launch"):
        check_launch(_launch(GOOD, **changed), _kernel())


def test_clusters_are_none_of_a_plan() -> None:
    text = ENTRY.replace("[16])", "[16])\n.explicitcluster\n.reqnctapercluster 2, 1, 1").format(body="", module="")
    with pytest.raises(Malformed, match="clusters of blocks"):
        read_kernel(_kernel(text=text))


def test_a_kernel_says_how_many_threads_it_takes() -> None:
    kernel = _kernel(text=ENTRY.replace("[16])", "[16])\n.maxntid 64, 2, 1").format(body="", module=""))
    check_launch(_launch(GOOD, block=(128, 1, 1)), kernel)
    with pytest.raises(Malformed, match="more threads than a block may have"):
        check_launch(_launch(GOOD, block=(129, 1, 1)), kernel)


@pytest.mark.parametrize("count", ["1.5", "0x10", "10U", "9" * 5_000], ids=lambda one: one[:4])
def test_a_number_of_threads_that_is_none_is_refused(count: str) -> None:
    kernel = _kernel(text=ENTRY.replace("[16])", f"[16])\n.maxntid {count}").format(body="", module=""))
    with pytest.raises(Malformed, match="a small number expected"):
        check_launch(_launch(GOOD), kernel)


def test_registers_may_be_declared_as_headers_declare_them_in_assembly() -> None:
    text = ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n{.reg.b16 hu, ho;}\nret;\n}\n"
    assert "\t.reg .b16 hu, ho;\n" in canonical(text)
