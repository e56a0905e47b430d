"""PTX's pure instructions against a GPU: the same bits for any sources, but for functions that it approximates."""

import ctypes
from typing import Any

import numpy as np
import pytest
import torch

from grader.device.driver import checked
from grader.simulation.ptx.lanes import DTYPES
from grader.simulation.ptx.values import PURE
from tests.simulation.ptx.exact import FORMATS, awkward, evaluate
from tests.simulation.ptx.test_any_values import INSTRUCTIONS, anything

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(120)]

COUNT = 4096
REGISTERS = {1: "h", 2: "h", 4: "r", 8: "d"}
LOADS = {1: "u8", 2: "b16", 4: "b32", 8: "b64"}
MOST_SOURCES = 5
# The fast functions, and a NaN that tf32 has in another form.
UNLIKE = ("approx", "full", "tf32")
HEAD = ".version 8.1\n.target sm_90\n.address_size 64\n"


def known(instruction: str) -> bool:
    """Whether it is compared: carries have no register, tables are no operand, -2**31 has no n-th bit."""
    name, *words = instruction.split(".")
    sources, results, _ = PURE[name](tuple(words))
    return not ({"cc"} & {*sources, *results} or set(UNLIKE) & set(words) or name in ("lop3", "fns"))


COMPARED = [instruction for instruction in INSTRUCTIONS if known(instruction)]


def entry(number: int, instruction: str) -> str:
    """A kernel that makes an instruction of what lies at p0, p1, … and leaves its results at p5 and p6."""
    name, *words = instruction.split(".")
    sources, results, _ = PURE[name](tuple(words))
    if name == "setp" and words[-1] in ("f16", "bf16"):
        results = results[:1]
    lines = [
        f".visible .entry k{number}({', '.join(f'.param .u64 p{n}' for n in range(MOST_SOURCES + 2))}) {{",
        ".reg .b16 %h<20>; .reg .b32 %r<20>; .reg .b64 %d<20>; .reg .b64 %a<9>; .reg .pred %p<20>;",
        "mov.u32 %r18, %ctaid.x; mov.u32 %r19, %tid.x; mad.lo.u32 %r19, %r18, 256, %r19; cvt.u64.u32 %a8, %r19;",
    ]  # fmt: skip

    def register(kind: str, number: int) -> str:
        return f"%p{number}" if kind == "pred" else f"%{REGISTERS[DTYPES[kind].itemsize]}{number}"

    for n, kind in enumerate(sources):
        size = DTYPES[kind].itemsize
        lines.append(f"ld.param.u64 %a{n}, [p{n}]; mad.lo.u64 %a{n}, %a8, {size}, %a{n};")
        lines.append(f"ld.global.{LOADS[size]} %{REGISTERS[size]}{n}, [%a{n}];")
        if kind == "pred":
            lines.append(f"setp.ne.u16 %p{n}, %h{n}, 0;")
    targets = "|".join(register(kind, 10 + n) for n, kind in enumerate(results))
    lines.append(f"{instruction} {targets}, {', '.join(register(kind, n) for n, kind in enumerate(sources))};")
    for n, kind in enumerate(results):
        size = DTYPES[kind].itemsize
        if kind == "pred":
            lines.append(f"selp.b16 %h{10 + n}, 1, 0, %p{10 + n};")
        lines.append(f"ld.param.u64 %a7, [p{MOST_SOURCES + n}]; mad.lo.u64 %a7, %a8, {size}, %a7;")
        lines.append(f"st.global.{LOADS[size]} [%a7], %{REGISTERS[size]}{10 + n};")
    return "\n".join([*lines, "ret; }"])


def source(kind: str, seed: int) -> Any:
    """Of integers also small ones, of floats those in which roundings differ, and everything else."""
    random = np.random.default_rng(seed)
    if kind in FORMATS:
        return awkward(kind, COUNT, seed)
    values = anything(kind, (COUNT,), random)
    if DTYPES[kind].kind in "iu":
        values[: COUNT // 2] %= 70
    return values


def agree(kind: str, ours: Any, theirs: Any) -> bool:
    """The same bits; any NaN is as good as another."""
    if kind in ("f16x2", "bf16x2"):
        ours, theirs = (np.ascontiguousarray(each).view(np.uint16) for each in (ours, theirs))
        kind = kind[:-2]
    if kind == "f16":
        ours, theirs = ours.view(np.float16), theirs.view(np.float16)
    same = ours.view(f"u{ours.itemsize}") == theirs.view(f"u{theirs.itemsize}")
    if kind == "bf16":
        return bool((same | ((ours & 0x7FFF) > 0x7F80) & ((theirs & 0x7FFF) > 0x7F80)).all())
    return bool((same | np.isnan(ours) & np.isnan(theirs) if kind in FORMATS else same).all())


@pytest.fixture(scope="module")
def module() -> Any:
    # Only machines with a GPU have it.
    from cuda.bindings import driver

    torch.zeros(1, device="cuda")
    text = HEAD + "\n".join(entry(number, one) for number, one in enumerate(COMPARED))
    return driver, checked(driver.cuModuleLoadData(text.encode() + b"\0"))


@pytest.mark.parametrize("number", range(len(COMPARED)), ids=COMPARED)
def test_the_same_bits(number: int, module: Any) -> None:
    driver, loaded = module
    name, *words = COMPARED[number].split(".")
    kinds, results, function_here = PURE[name](tuple(words))
    given = [source(kind, seed) for seed, kind in enumerate(kinds)]
    there = [torch.from_numpy(each.view(np.uint8)).cuda() for each in given]
    room = [torch.zeros(COUNT * 8, dtype=torch.uint8, device="cuda") for _ in range(MOST_SOURCES + 2)]
    pointers = [tensor.data_ptr() for tensor in [*there, *room[len(there) : MOST_SOURCES], *room[MOST_SOURCES:]]]
    function = checked(driver.cuModuleGetFunction(loaded, f"k{number}".encode()))
    arguments = tuple(pointers), (ctypes.c_void_p,) * len(pointers)
    stream = torch.cuda.current_stream().cuda_stream
    checked(driver.cuLaunchKernel(function, COUNT // 256, 1, 1, 256, 1, 1, 0, stream, arguments, 0))
    found = evaluate(function_here, given)
    for n, (kind, ours) in enumerate(zip(results, found, strict=True)):
        if n and name == "setp" and words[-1] in ("f16", "bf16"):
            continue
        raw = room[MOST_SOURCES + n].cpu().numpy()[: COUNT * DTYPES[kind].itemsize]
        assert agree(kind, np.broadcast_to(ours, COUNT), raw.view(DTYPES[kind])), COMPARED[number]
