"""Builder: compiles a student's file for a planner, and splits its PTX into a text for each kernel.

nvcc reads whatever a file includes, so the process can read the toolkit, the system's headers and the file alone.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path, PurePath

from grader.languages.cuda import toolkit as toolkits
from grader.languages.cuda.confined.builder import functions, lines, objects
from grader.languages.cuda.confined.builder.programs import TooSlow, spent
from grader.languages.cuda.confined.built import (
    MOST_ENTRIES,
    MOST_SAID,
    BuiltEntry,
    BuiltVariable,
    Contents,
    HostLines,
    write_built,
)
from grader.languages.cuda.text import EntryText, split
from grader.plan import serving
from grader.plan.messages import BUILDER_REQUEST, BUILT_BYTES, Build, Built, Failed, MakeShared, Texts
from grader.plan.plan import MOST_ARGUMENTS, Malformed

STARTS_PROGRAMS = True
SECONDS = 50.0
"""The processor time that compiling a file may take, in seconds; the judge waits a little longer."""
SOURCE_BYTES = 4 << 20
# The most characters of a name in a plan.
_MOST_SYMBOL = 200
_FILE = re.compile(r"(?<=_)[0-9a-f]{8}(?=_\d+_[A-Za-z0-9_]{1,100}?_cu_)")
_MANAGED = re.compile(r"^\.(?:visible |extern |weak )*\.?global \.attribute\(\.managed\)", re.MULTILINE)


def _answer(request: MakeShared | Build, files: Sequence[int]) -> Built | Failed:
    if isinstance(request, MakeShared):
        toolkit = toolkits.toolkit()
        if toolkit is None:
            return _no_toolkit(request.seq)
        compiled = objects.compile_runtime(toolkit, spent() + SECONDS)
        return Built(seq=request.seq, bytes=os.pwrite(files[0], compiled, 0))
    source, runtime = serving.contents(files[0]), objects.Runtime.model_validate_json(serving.contents(files[1]))
    make = build_edited if request.edited else build
    if len(source) > SOURCE_BYTES:
        return Failed(seq=request.seq, failure="unreadable_source",
                      message=f"a file of {len(source):,} bytes; {SOURCE_BYTES:,} at most")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            built = make(request, source, runtime, Path(folder).resolve())
        except TooSlow:
            return Failed(seq=request.seq, failure="time_out",
                          message=f"Compiling the file takes more than {SECONDS:.0f} seconds of a processor.")
    if isinstance(built, Failed):
        return built
    if len(built) > BUILT_BYTES:
        return Failed(seq=request.seq, failure="too_large",
                      message=f"the file compiles to {len(built):,} bytes; {BUILT_BYTES:,} at most")
    return Built(seq=request.seq, bytes=os.pwrite(files[2], built, 0))


def _no_toolkit(seq: int) -> Failed:
    return Failed(seq=seq, failure="unsupported", message=f"No CUDA compiler: {toolkits.problem()}")


def build(request: Build, source: bytes, runtime: objects.Runtime, folder: Path) -> bytes | Failed:
    """Return a file's build in the form that `built.py` describes, or the failure. `folder` is empty. Raises
    TooSlow."""
    toolkit = toolkits.toolkit()
    if toolkit is None:
        return _no_toolkit(request.seq)
    until = spent() + SECONDS
    file = PurePath(request.file).name
    compiled = objects.compile_file(folder, file, source, request.device, toolkit, request.seq, until)
    if isinstance(compiled, Failed):
        return compiled
    text = source.decode(errors="replace")
    if _MANAGED.search(compiled.ptx):
        return Failed(seq=request.seq, failure="compile_error", line=text[: text.find("__managed__")].count("\n") + 1,
                      message="The grader takes no __managed__ variable, as host code could read what a kernel writes "
                              "there: declare it __device__")
    try:
        entries = split(compiled.ptx, text)
    except Malformed as error:
        return Failed(seq=request.seq, failure="unsupported", message=f"its kernels cannot be read: {error}"[:2000])
    kernels = {entry.symbol for entry in entries}
    found_functions = functions.candidates(folder, compiled.objects, request.function, until)
    function = functions.find(found_functions, request.function, request.given, text, kernels)
    if isinstance(function, functions.NotFound):
        return Failed(seq=request.seq, failure="missing_function" if function.missing else "wrong_signature",
                      message=function.message[:2000], line=function.line)
    failed = objects.link(folder, file, source, compiled, runtime, toolkit, request.seq, until)
    if failed is not None:
        return failed
    if (problem := _too_many(entries)) is not None:
        return Failed(seq=request.seq, failure="too_large", message=problem)
    contents = Contents(symbol=function.symbol, parameters=function.parameters, entries=list(map(built_entry, entries)))
    table = lines.host_lines(folder, objects.LIBRARY, file, until)
    return write_built(objects.stripped(folder, until), table, contents)


def build_edited(request: Build, source: bytes, runtime: objects.Runtime, folder: Path) -> bytes | Failed:
    """Return the build of edited copies of a file, compiled together, without the lines of their host code. A copy that
    cannot be built or called has no contents. `folder` is empty. Raises TooSlow."""
    toolkit = toolkits.toolkit()
    if toolkit is None:
        return _no_toolkit(request.seq)
    until = spent() + SECONDS
    file, texts = PurePath(request.file).name, Texts.model_validate_json(source).texts
    compiled, built = objects.compile_edited(folder, file, dict(enumerate(texts)), request.device, toolkit, until)
    try:
        if compiled is None or _MANAGED.search(compiled.ptx):
            raise Malformed("no copy of the file compiles beside others")
        entries = split(compiled.ptx, texts[0])
    except Malformed as error:
        return Failed(seq=request.seq, failure="unsupported", message=str(error)[:2000])
    candidates = functions.candidates(folder, compiled.objects, request.function, until)
    failed = objects.link(folder, file, source, compiled, runtime, toolkit, request.seq, until)
    if failed is not None:
        return failed
    kernels, files = {entry.symbol for entry in entries}, list[Contents | None]()
    for number, text in enumerate(texts):
        space = f"{functions.SPACE}{number}"
        function = functions.find(candidates, request.function, request.given, text, kernels, space)
        # A kernel of a header is in no copy's namespace.
        own = [entry for entry in entries
               if f"{len(space)}{space}" in entry.symbol or functions.SPACE not in entry.symbol]
        files.append(None if number not in built or isinstance(function, functions.NotFound) or _too_many(own) else
                     Contents(symbol=function.symbol, parameters=function.parameters,
                              entries=list(map(built_entry, own))))
    return write_built(objects.stripped(folder, until), HostLines.of(()), *files)


def _too_many(entries: Sequence[EntryText]) -> str | None:
    """Return a message if there are too many kernels, or a kernel has too many parameters; None otherwise."""
    if len(entries) > MOST_ENTRIES:
        return f"{len(entries):,} kernels; {MOST_ENTRIES:,} at most"
    for entry in entries:
        if len(entry.signature) > MOST_ARGUMENTS:
            return (f"{entry.name} has {len(entry.signature)} parameters and variables of the file; {MOST_ARGUMENTS} "
                    "at most: put them into a structure")
    return None


def built_entry(entry: EntryText) -> BuiltEntry:
    """Return a kernel in the form that planners read."""
    symbol, text = _without_hash(entry.symbol), _without_hash(entry.text)
    if len(symbol) > _MOST_SYMBOL:
        short = f"{symbol[:100]}_{hashlib.sha256(symbol.encode()).hexdigest()[:16]}"
        symbol, text = short, text.replace(symbol, short)
    return BuiltEntry(
        registered=entry.symbol, symbol=symbol, name=entry.name, line=entry.line,
        text=text, signature=list(entry.signature), shared=entry.shared,
        most_threads=entry.most_threads, unplanned=entry.unplanned[:MOST_SAID],
        variables=[
            BuiltVariable(
                symbol=variable.symbol, name=variable.name, bytes=len(variable.contents),
                initial=base64.b64encode(variable.contents).decode() if any(variable.contents) else "")
            for variable in entry.variables])


def _without_hash(text: str) -> str:
    """Return a text with zeros for the hash in nvcc's names for internal linkage: the hash depends on the folder, and a
    kernel is identified by its text."""
    return _FILE.sub("00000000", text)


serve = partial(serving.serve, requests=BUILDER_REQUEST, answer=_answer)
