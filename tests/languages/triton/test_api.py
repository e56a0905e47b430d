"""Triton's private interfaces are used in one file: what a version changes of them is mended there."""

import ast
from collections.abc import Iterator

from grader.home import ROOT
from tests.rows import each_row

API = ROOT / "grader" / "languages" / "triton" / "confined" / "api.py"
# What a student writes, too.
PUBLIC = frozenset({"triton", "triton.language", "triton.jit", "triton.cdiv", "triton.__version__"})


def private(text: str) -> Iterator[str]:
    """What a file takes of Triton beside the language itself."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            names = [f"{node.value.id}.{node.attr}" + "=" * isinstance(node.ctx, ast.Store)]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            # getattr(triton, name), import_module("triton.runtime")
            names = ["triton.?" for one in node.args if isinstance(one, ast.Name) and one.id == "triton"]
            if getattr(node.func, "attr", getattr(node.func, "id", "")) in ("import_module", "__import__"):
                names += [str(one.value) for one in node.args if isinstance(one, ast.Constant)]
        else:
            continue
        yield from (name for name in names if name.partition(".")[0] == "triton" and name not in PUBLIC)


@each_row("line", [
    "from triton.runtime import driver", "import triton.compiler", "from triton import knobs", "triton.compile = mine",
    "triton.runtime.driver.set_active(x)", "triton.jit = mine", "getattr(triton, name)",
    "importlib.import_module('triton.runtime.jit')", "from triton._C.libtriton import ir"])
def test_a_private_interface_is_seen(line: str) -> None:
    assert list(private(line))


@each_row("line", ["import triton", "import triton.language as tl", "@triton.jit\ndef k(x): ...",
                                  "n = triton.cdiv(a, b)", "launch.triton", 'said("triton>=3.6")'])
def test_the_language_is_not(line: str) -> None:
    assert not list(private(line))


def test_one_file_uses_them() -> None:
    used = {path for path in (ROOT / "grader").rglob("*.py") if list(private(path.read_text(encoding="utf-8")))}
    assert used == {API}
