"""Compilation of a student's file: an object that records CUDA's calls, and the PTX of its kernels."""

from __future__ import annotations

import base64
import hashlib
import re
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel

from grader.languages.cuda.confined.builder.compiler_messages import compile_failure, link_failure
from grader.languages.cuda.confined.builder.functions import SPACE
from grader.languages.cuda.confined.builder.programs import ProgramEnd, output, run
from grader.languages.cuda.toolkit import Toolkit
from grader.plan.device import Device, with_features
from grader.plan.messages import Failed

# Read when the module is imported: a confined process does not see the grader's own files.
_RUNTIME = {path.name: path.read_bytes() for path in sorted((Path(__file__).resolve().parent / "runtime").iterdir())}
# The sources on which results depend: `made_by` is a hash of them.
_BUILDER = [path.read_text(encoding="utf-8") for path in sorted(Path(__file__).resolve().parents[2].rglob("*.py"))]
LIBRARY = "built.so"
# The header of all functions, which some courses give out; others give one for each function. Files include them,
# though their declarations are not needed: `_HEADER` stands in for all.
_OF_ALL = "kernels.h"
_HEADER = "#pragma once\n#include <cuda_fp16.h>\n"
# This macro makes libstdc++ skip the Bessel functions and their like in C++17's <cmath>. Reading them takes a third of
# nvcc's time for a short file, as the compilers of host and device each read them.
_LEAN = "-D_GLIBCXX_BITS_SPECFUN_H"
_OBJECT = "file.o"
_STUBS = "stubs"
_OURS = "runtime"
# A tail call stays a call, as a jump would lose the caller's line. Lines, which `-g1` adds, are all that is needed of
# host code's debug information.
_HOST_FLAGS = ("-fPIC", "-fno-optimize-sibling-calls")
# The runtime's C files need gcc, as g++ reads them as C++; nvcc calls gcc, too.
_C = "gcc"
_RUNTIME_FLAGS = ("-c", "-fPIC", "-fvisibility=hidden", "-w")
# Names of CUDA's calls, and of those of NVIDIA's libraries for the host.
_THEIRS = re.compile(r"_*(?:cuda|cu[A-Z]|cublas|cudnn|curand|cufft|cusparse|cusolver|cutensor|nccl|nvtx|nvrtc|nvml|"
                     r"nvjpeg|npp|nvshmem|nvPTX|nvJit)\w*")
_ALL = "all.c"
_DEFINED = re.compile(r" [A-Z] (\S+)$", re.MULTILINE)
_UNDEFINED = re.compile(r"^\s+U (\S+)$", re.MULTILINE)
_INCLUDE = re.compile(r"^[ \t]*+#[ \t]*+include\b[^\n]*+", re.MULTILINE)
_EXTERN_C, _EXTERN = re.compile(r'\bextern\s++"C"'), 'extern "C++"'
# An error in an edited copy, by the name that `#line` gives it.
_WRONG = re.compile(rf"^{SPACE}(\d{{1,4}})\.cu[(:]\d++[):].*\berror\b", re.MULTILINE)
_OPENMP = re.compile(rb"#\s*pragma\s+omp|<omp\.h>")


@dataclass(frozen=True)
class CompiledObjects:
    """nvcc's output: `ptx` is the text of all kernels, without the folder's path. `objects` are the names of the file's
    objects in that folder."""

    ptx: str
    objects: list[str]


def compile_file(
    folder: Path, file: str, source: bytes, device: Device, toolkit: Toolkit, seq: int, until: float
) -> CompiledObjects | Failed:
    """Compile a file with nvcc, and return its objects and PTX, or the compiler's failure. Raises TooSlow."""
    compiled = _compiled(folder, file, source, device, toolkit, (*_HOST_FLAGS, "-g1"), ("-lineinfo", _LEAN), until)
    if isinstance(compiled, ProgramEnd):
        # A file may need the functions that _LEAN leaves out.
        compiled = _compiled(folder, file, source, device, toolkit, (*_HOST_FLAGS, "-g1"), ("-lineinfo",), until)
    if isinstance(compiled, ProgramEnd):
        return compile_failure(compiled.printed, compiled.status, folder, file, seq)
    return compiled


def compile_edited(
    folder: Path, file: str, texts: Mapping[int, str], device: Device, toolkit: Toolkit, until: float
) -> tuple[CompiledObjects | None, Collection[int]]:
    """Compile edited copies of a file, by number, as one file, so that headers are read once. Return its objects and
    PTX, None if it does not compile, and the numbers of the copies in it. Copies in which the compiler finds an error
    are left out. Raises TooSlow."""
    left = dict(texts)
    while left:
        compiled = _compiled(folder, file, together(left).encode(), device, toolkit, _HOST_FLAGS, (_LEAN,), until)
        if isinstance(compiled, CompiledObjects):
            return compiled, left.keys()
        wrong = set(map(int, _WRONG.findall(compiled.printed))) & left.keys()
        if not wrong:
            break
        left = {number: text for number, text in left.items() if number not in wrong}
    return None, ()


def together(texts: Mapping[int, str]) -> str:
    """Return a file that holds edited copies of another, by number: each in a namespace of its own, behind the headers
    that they include."""
    included = dict.fromkeys(line for text in texts.values() for line in _INCLUDE.findall(text))
    # Symbols of C know no namespaces.
    return "".join((*(f"{line}\n" for line in included), *(
        f'namespace {SPACE}{number} {{\n#line 1 "{SPACE}{number}.cu"\n'
        f'{_EXTERN_C.sub(_EXTERN, _INCLUDE.sub("", text))}\n}}\n' for number, text in texts.items())))


def _compiled(
    folder: Path, file: str, source: bytes, device: Device, toolkit: Toolkit, host: Sequence[str],
    flags: Sequence[str], until: float,
) -> CompiledObjects | ProgramEnd:
    """Return a file's objects and PTX, or how nvcc ended without them. Raises TooSlow."""
    (folder / file).write_bytes(source)
    for header in (f"{Path(file).stem}.h", f"{Path(file).stem}.cuh", _OF_ALL):
        (folder / header).write_text(_HEADER)
    parallel = ["-Xcompiler=-fopenmp"] if _OPENMP.search(source) else []
    virtual = with_features(device.target).replace("sm", "compute")
    ended = run([
        toolkit.nvcc, f"-gencode=arch={virtual},code={virtual}", *flags, "-O2", "-std=c++17",
        f"-Xcompiler={','.join(host)}", *parallel, "--keep", "--keep-dir", ".", f"-I{folder}", "-w", "-c", file,
        "-o", _OBJECT], folder, until)
    if ended.status:
        return ended
    # `--keep` leaves `x.ptx` for `x.cu`.
    ptx = (folder / file).with_suffix(".ptx").read_text(encoding="utf-8", errors="replace")
    return CompiledObjects(ptx.replace(f"{folder}/", ""), [_OBJECT])


class Runtime(BaseModel):
    """Recording runtime: its `objects` in base64 by file name, and the sorted names that they define. `made_by` is a
    hash of the compilers' versions and the front end's sources, so that builds with another runtime have other keys."""

    objects: dict[str, str]
    defined: list[str]
    made_by: str


def compile_runtime(toolkit: Toolkit, until: float) -> bytes:
    """Compile the recording runtime, and return a `Runtime` as JSON. Raises RuntimeError if it does not compile,
    TooSlow."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as made:
        folder = Path(made)
        for name, contents in _RUNTIME.items():
            (folder / name).write_bytes(contents)
        c, cpp = ([name for name in _RUNTIME if name.endswith(suffix)] for suffix in (".c", ".cpp"))
        # One file includes all others, as reading CUDA's headers takes most of the time.
        (folder / _ALL).write_text("".join(f'#include "{name}"\n' for name in c))
        for command in ([_C, *_RUNTIME_FLAGS, "-std=gnu11", f"-I{toolkit.include}", _ALL],
                        [toolkit.host, *_RUNTIME_FLAGS, "-std=c++17", *cpp]):
            if (ended := run(command, folder, until)).status:
                raise RuntimeError(f"the recording runtime does not compile: {ended.printed[:500]}")
        objects = {path.name: base64.b64encode(path.read_bytes()).decode() for path in sorted(folder.glob("*.o"))}
        defined = sorted(set(_DEFINED.findall(output(["nm", "--defined-only", *objects], folder, until))))
        compilers = [output([program, "--version"], folder, until) for program in (toolkit.nvcc, toolkit.host)]
        made_by = hashlib.sha256("".join((*compilers, *_BUILDER)).encode()).hexdigest()
        return Runtime(objects=objects, defined=defined, made_by=made_by).model_dump_json().encode()


def link(
    folder: Path, file: str, source: bytes, compiled: CompiledObjects, runtime: Runtime, toolkit: Toolkit, seq: int,
    until: float,
) -> Failed | None:
    """Link LIBRARY; return the linker's failure, if any. A CUDA function that the runtime lacks becomes a stub that
    refuses when it is called, as code that is never called is harmless. Raises TooSlow."""
    (folder / _OURS).mkdir()
    for name, contents in runtime.objects.items():
        (folder / _OURS / name).write_bytes(base64.b64decode(contents))
    # The runtime's objects come first, so its constructors run before a submission's of the same priority.
    linked = [*(f"{_OURS}/{name}" for name in runtime.objects), *compiled.objects]
    wanted = set(_UNDEFINED.findall(output(["nm", "-u", *compiled.objects], folder, until)))
    missing = sorted(name for name in wanted.difference(runtime.defined) if _THEIRS.fullmatch(name))
    if missing:
        stubs = "".join(f'int {name}(void) {{ rec_unknown("{name}"); return 1; }}\n' for name in missing)
        (folder / f"{_STUBS}.c").write_text(f"void rec_unknown(const char *name);\n{stubs}")
        end = run([_C, *_RUNTIME_FLAGS, f"{_STUBS}.c"], folder, until)
        assert not end.status, end.printed
        linked.append(f"{_STUBS}.o")
    parallel = ["-fopenmp"] if _OPENMP.search(source) else []
    ended = run(
        [toolkit.host, "-shared", "-Wl,-Bsymbolic", "-Wl,-z,defs", "-Wl,--build-id=none", *parallel,
         *linked, "-o", LIBRARY, "-lm", "-lpthread", "-ldl"],
        folder, until)
    return link_failure(ended.printed, folder, file, seq) if ended.status else None


def stripped(folder: Path, until: float) -> bytes:
    """Return LIBRARY without symbols: they hold the names of temporary files, which differ each time. Raises
    TooSlow."""
    output(["strip", "--strip-all", LIBRARY], folder, until)
    return (folder / LIBRARY).read_bytes()
