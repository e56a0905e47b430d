"""Search for NVIDIA's compilers: nvcc on the PATH, a toolkit at its usual place, or the wheels of `kernelmark[cuda]`.

The search runs no program, as each lane makes it when it starts.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from grader.home import with_extra

MAJOR = 13
"""The major version of CUDA that files are compiled with: nvcc 12 has no wheels, and compiles launches differently."""

_USUAL = ("/usr/local/cuda", f"/usr/local/cuda-{MAJOR}.0", "/opt/cuda")
_INSTALL = with_extra("cuda")
_SCRIPT_BYTES = 1 << 14
_HEADER_BYTES = 1 << 16
_NVCC = re.compile(r"/[^\s\"'$;]*/nvcc(?=[\s\"';]|$)")
_VERSION = re.compile(r"^#define\s+CUDART_VERSION\s+(\d{1,6})\b", re.MULTILINE)
# The programs and headers that a file with cuda_runtime.h and cuda_fp16.h needs; several wheels hold them.
_PROGRAMS = ("bin/nvcc", "bin/ptxas", "bin/cudafe++", "bin/fatbinary", "nvvm/bin/cicc")
_HEADERS = ("cuda_runtime.h", "crt/host_config.h")


@dataclass(frozen=True)
class Toolkit:
    """CUDA's compilers, and the machine's C++ compiler `host`, which they call. `home` is the toolkit's folder,
    `include` the folder of its headers, `version` that of CUDA, such as "13.0"."""

    home: str
    nvcc: str
    include: str
    version: str
    host: str


@cache
def toolkit() -> Toolkit | None:
    """Return the first toolkit of CUDA 13 that is whole; None if there is none, or no g++ (see `problem`)."""
    host, whole = shutil.which("g++"), _find_toolkit()
    if host is None or whole is None:
        return None
    include = _include(whole)
    assert include is not None
    return Toolkit(
        home=str(whole), nvcc=str(whole / "bin" / "nvcc"), include=str(include),
        version=_version(include), host=host)


@cache
def assembler() -> str:
    """Return the path of ptxas, which needs no g++; "" if there is none."""
    whole = _find_toolkit()
    return "" if whole is None else str(whole / "bin" / "ptxas")


def problem() -> str:
    """Return why .cu files cannot be compiled here, and after a semicolon what to do; "" if they can."""
    troubles = [(home, _trouble(home)) for home in _homes()]
    if troubles and all(trouble for _, trouble in troubles):
        home, trouble = troubles[0]
        return f"{home}: {trouble}; {_INSTALL}"
    if not troubles:
        return f"no nvcc of CUDA {MAJOR}; {_INSTALL}, or put the bin folder of a CUDA toolkit {MAJOR} on the PATH"
    if shutil.which("g++") is None:
        return "no g++, which nvcc calls; apt install g++"
    return ""


def installed() -> str:
    """Return what .cu files are compiled with, in one line; "" if nothing is there."""
    tools = toolkit()
    return "" if tools is None else f".cu files are compiled with {tools.nvcc} ({tools.version}) and {tools.host}"


def homes() -> tuple[str, ...]:
    """Return the toolkit's folder, which confined processes have to see; nothing if there is no toolkit."""
    whole = _find_toolkit()
    return () if whole is None else (str(whole),)


def _find_toolkit() -> Path | None:
    """Return the folder of the first toolkit of CUDA 13 that is whole; None if there is none."""
    return next((home for home in _homes() if not _trouble(home)), None)


def _homes() -> Iterator[Path]:
    """Yield the folders of toolkits that have an nvcc, each once."""
    paths = set()
    for home in _candidates():
        if home not in paths and (home / "bin" / "nvcc").is_file():
            paths.add(home)
            yield home


def _candidates() -> Iterator[Path]:
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        if folder and (home := _home_of(Path(folder) / "nvcc")):
            yield home
    for usual in _USUAL:
        yield Path(usual).resolve()
    # A namespace package may have several folders.
    spec = find_spec("nvidia")
    for folder in (spec.submodule_search_locations or () if spec else ()):
        yield Path(folder) / f"cu{MAJOR}"


def _home_of(nvcc: Path) -> Path | None:
    """Return the folder of the toolkit that an nvcc belongs to. Links are followed, and so are scripts that call
    another nvcc."""
    try:
        real = nvcc.resolve(strict=True)
        with real.open("rb") as file:
            start = file.read(_SCRIPT_BYTES)
    except OSError:
        return None
    if start.startswith(b"#!"):
        called = _NVCC.search(start.decode(errors="replace"))
        if called is None:
            return None
        real = Path(called[0]).resolve()
    return real.parent.parent


def _include(home: Path) -> Path | None:
    for folder in (home / "include", home / "targets" / "x86_64-linux" / "include"):
        if (folder / _HEADERS[0]).is_file():
            return folder
    return None


def _version(include: Path) -> str:
    """Return the version of CUDA's headers, such as "13.0"; "" if they do not say."""
    try:
        with (include / "cuda_runtime_api.h").open(encoding="utf-8", errors="replace") as file:
            match = _VERSION.search(file.read(_HEADER_BYTES))
    except OSError:
        return ""
    return f"{int(match[1]) // 1000}.{int(match[1]) % 1000 // 10}" if match else ""


def _trouble(home: Path) -> str:
    """Return what is wrong with a toolkit; "" if nothing is."""
    include = _include(home)
    if include is None:
        return f"no {_HEADERS[0]}"
    version = _version(include)
    if version.partition(".")[0] != str(MAJOR):
        return f"CUDA {version or 'of an unknown version'}, where {MAJOR} is expected"
    missing = [name for name in _PROGRAMS if not (home / name).is_file()]
    missing += [name for name in _HEADERS if not (include / name).is_file()]
    # Some toolkits have these headers in a folder of their own.
    if not any((include / folder / "nv" / "target").is_file() for folder in ("", "cccl")):
        missing.append("nv/target")
    return f"no {missing[0]}" if missing else ""
