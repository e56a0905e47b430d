"""The text of a kernel: what Triton's front end writes is read whole, what it never writes is refused."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.languages import ForeignCode
from grader.languages.triton.text import read_kernel, read_text
from grader.plan.plan import Kernel, Malformed
from tests.languages.triton import kernels
from tests.rows import each_row

pytestmark = pytest.mark.newest

COPY = kernels.copy()
TILE = kernels.tile()
ODD = kernels.odd()

_FIRST = "    %offsets = tt.get_program_id x : i32"
FORGED = {
    "assembly of another dialect": '    llvm.inline_asm "exit;", "" : () -> ()\n',
    "the same in the generic form": '    "llvm.inline_asm"() <{asm_string = "exit;", constraints = ""}> : () -> ()\n',
    "the same with a comment between": '    "llvm.inline_asm" // {}\n () <{asm_string = "exit;"}> : () -> ()\n',
    "the same with its point escaped": '    "llvm\\2Einline_asm"() <{asm_string = "exit;"}> : () -> ()\n',
    "an operation of the GPU's": "    nvvm.barrier0\n",
    "one of the lower dialects": "    ttg.async_wait\n",
    "assembly in the generic form": '    "tt.elementwise_inline_asm"() <{asm_string = "exit;"}> : () -> ()\n',
    "assembly without its text": "    tt.elementwise_inline_asm #text {}\n",
    "a type of another dialect": "    %p = ub.poison : !llvm.ptr\n",
    "a type in the old spelling": "    %p = ub.poison : !llvm<ptr>\n",
    "an attribute of another dialect": "    %p = ub.poison {llvm.x = 1 : i32} : i32\n",
    "a quoted attribute of another dialect": '    %p = ub.poison {"nvvm.x" = 1 : i32} : i32\n',
    "a library's file": '    %p = tt.extern_elementwise {libpath = "/x.bc", symbol = "__nv_x"} : () -> i32\n',
    "the same with a letter escaped": '    %p = tt.extern_elementwise {"lib\\70ath" = "/x.bc"} : () -> i32\n',
    "a path behind an alias": "    %p = tt.extern_elementwise {libpath = #path} : () -> i32\n",
    "a function with assembly in its name": '    %p = tt.extern_elementwise {symbol = "x;exit"} : () -> i32\n',
    "a symbol with assembly in it": '    tt.call @"x(); exit"() : () -> ()\n',
    "resources": "    {-# dialect_resources: {} #-}\n",
    "a blob": '    %p = arith.constant dense_resource<x> : tensor<4xi32>\n',
    "a cast of the builtin dialect": "    %p = unrealized_conversion_cast %q : i32 to f32\n",
    "a line end of another kind": "    // comment\r    nvvm.barrier0\n",
    "a string without end": '    tt.assert %p, "x\n',
    "depth": "    " + "[" * 200 + "\n",
    "a second entry": "  tt.func public @other() {\n",
}  # fmt: skip


@pytest.mark.parametrize("kernel", [COPY, TILE, kernels.product(), kernels.norm(block=1024, debug=True)])
def test_a_kernel_of_triton_alone_has_nothing_foreign(kernel: Kernel) -> None:
    assert read_kernel(kernel) == ()


def test_assembly_is_found_and_libdevice_is_none() -> None:
    assert read_kernel(ODD) == (ForeignCode("assembly", 'neg.f32 $0, $1; // "0"\n'),)


def test_a_foreign_function_is_found() -> None:
    text = ODD.text.replace("__nv_tanhf", "vprintf")
    assert ForeignCode("function", "vprintf") in read_kernel(ODD.model_copy(update={"text": text}))


def test_assembly_of_tritons_own_library_is_none() -> None:
    text = ODD.text.replace(r"neg.f32 $0, $1; // \220\22\0A", "mov.u32 $0, %smid;")
    assert text != ODD.text and read_text(text).foreign == ()


@each_row("line", FORGED.values(), ids=FORGED)
def test_what_the_front_end_never_writes_is_refused(line: str) -> None:
    assert _FIRST in COPY.text
    with pytest.raises(Malformed):
        read_text(COPY.text.replace(_FIRST, line + _FIRST, 1))


@each_row(
    "signature",
    [["*fp32", "*fp32"], ["*fp32", "*fp32", "i64"], ["*fp16", "*fp32", "i32"], ["*fp32", "*fp32", "i32", "i32"],
     ["*fp32", "*fp32", "int; exit()"], ["*fp8e4nv", "fp8e4nv", "i32"], ["tensordesc<fp32[64]>", "*fp32", "i32"]],
)  # fmt: skip
def test_a_signature_of_other_arguments_is_refused(signature: list[str]) -> None:
    with pytest.raises(Malformed):
        read_kernel(COPY.model_copy(update={"signature": signature}))


def test_another_symbol_is_refused() -> None:
    with pytest.raises(Malformed):
        read_kernel(COPY.model_copy(update={"symbol": "other"}))


@each_row("dtype", ["fp32", "bf16", "i8", "u8", "i64", "u16", "fp8e5", "fp8e4nv"])
def test_descriptors_of_each_type_fit_their_entry(dtype: str) -> None:
    assert read_kernel(kernels.tile(dtype, side=32)) == ()


@pytest.mark.parametrize(
    ("pointer", "number"), [("*kfp16", "u64"), ("*u1", "i64"), ("*fp8e4nv", "fp64"), ("*i16", "fp16")])
def test_pointers_and_numbers_of_each_type_fit_their_entry(pointer: str, number: str) -> None:
    assert read_kernel(kernels.lower(kernels.idle_kernel, {"x_ptr": pointer, "n": number}, {})) == ()


@settings(max_examples=150)
@given(st.data())
def test_any_text_is_read_or_malformed(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([COPY.text, TILE.text, ODD.text]))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        end = at + data.draw(st.integers(0, 40))
        piece = data.draw(st.text(max_size=8) | st.sampled_from(['"', "{", "(", "loc(", "%", "tt."]))
        text = text[:at] + piece + text[end:]
    try:
        read_text(text)
    except Malformed as error:
        assert len(str(error)) < 300
