"""Where CUDA's compilers are found, and what is said where they are not."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.languages.cuda import toolkit as places
from grader.languages.cuda.toolkit import homes, problem, toolkit

PROGRAMS = ("bin/nvcc", "bin/ptxas", "bin/cudafe++", "bin/fatbinary", "nvvm/bin/cicc")
HEADERS = ("cuda_runtime.h", "crt/host_config.h", "nv/target")


@pytest.fixture(autouse=True)
def anew(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No toolkit of this machine."""
    monkeypatch.setattr(places, "_USUAL", ())
    monkeypatch.setattr(places, "find_spec", lambda name: None)
    toolkit.cache_clear()
    yield
    toolkit.cache_clear()


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Makes a toolkit of empty files, and puts its programs and a g++ on the path."""
    def make(version: int = 13000, missing: str = "", include: str = "include", host: bool = True) -> Path:
        home = tmp_path / "cuda"
        for name in (*PROGRAMS, *(f"{include}/{header}" for header in HEADERS)):
            path = home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if not missing or not name.endswith(missing):
                path.touch(mode=0o755)
        (home / include / "cuda_runtime_api.h").write_text(f"/* … */\n#define CUDART_VERSION  {version}\n")
        other = tmp_path / "bin"
        other.mkdir(exist_ok=True)
        if host:
            (other / "g++").touch(mode=0o755)
        monkeypatch.setenv("PATH", f"{other}:{home}/bin")
        return home

    return make


@pytest.mark.parametrize(("version", "include"), [(13000, "include"), (13010, "targets/x86_64-linux/include")])
def test_a_whole_toolkit_is_found(version: int, include: str, machine: Callable[..., Path]) -> None:
    home = machine(version, include=include)
    found = toolkit()
    assert found is not None and problem() == "" and homes() == (str(home),)
    assert (found.home, found.include) == (str(home), str(home / include))
    assert found.version == {13000: "13.0", 13010: "13.1"}[version] and found.host.endswith("/g++")


@pytest.mark.parametrize(("settings", "said"), [
    ({"version": 12080}, r"/cuda: CUDA 12\.8, where 13 is expected; .*pip install -e '\.\[cuda\]'$"),
    ({"version": 0}, r"CUDA 0\.0, where 13"),
    ({"missing": "cuda_runtime.h"}, r"/cuda: no cuda_runtime\.h; .*pip install"),
    ({"missing": "cicc"}, r"/cuda: no nvvm/bin/cicc; .*pip install"),
    ({"missing": "host_config.h"}, r"/cuda: no crt/host_config\.h; .*pip install"),
    ({"missing": "target"}, r"/cuda: no nv/target; .*pip install"),
    ({"missing": "nvcc"}, r"^no nvcc of CUDA 13; .*pip install -e '\.\[cuda\]', or put the bin folder of"),
    ({"host": False}, r"^no g\+\+, which nvcc calls; apt install g\+\+$"),
])
def test_what_is_missing_is_told_in_a_line(
    settings: dict[str, object], said: str, machine: Callable[..., Path],
) -> None:
    home = machine(**settings)
    # The assembler needs no g++.
    assert toolkit() is None and homes() == (() if "host" not in settings else (str(home),))
    assert re.search(said, problem()) and "\n" not in problem()


def test_scripts_and_links_lead_to_a_toolkit(
    machine: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    home = machine()
    script, link = tmp_path / "script", tmp_path / "link"
    script.mkdir()
    link.mkdir()
    (script / "nvcc").write_text(f'#!/bin/sh\nexec {home}/bin/nvcc "$@"\n')
    (link / "nvcc").symlink_to(home / "bin" / "nvcc")
    for folder in (script, link):
        toolkit.cache_clear()
        monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{folder}")
        found = toolkit()
        assert found is not None and found.home == str(home)


def test_a_script_that_calls_nothing_is_passed_over(
    machine: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine()
    (tmp_path / "bin" / "nvcc").write_text("#!/bin/sh\necho no\n")
    found = toolkit()
    assert found is not None and found.nvcc == str(tmp_path / "cuda" / "bin" / "nvcc")
