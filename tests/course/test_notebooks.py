"""Which cells of a notebook become an assignment's file."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from grader.authoring import handout
from grader.course.notebooks import CODE_CHARACTERS, NotebookError, read_notebook
from grader.home import ROOT
from tests.classroom.intake.made import notebook
from tests.rows import each_row

KNOWN = {"silu": "silu.py", "transpose": "transpose.py", "rmsnorm_matrix": "rmsnorm_matrix.py"}
SILU = "def silu(x, out):\n    kernel[(1,)](x, out)"
KERNEL = "@triton.jit\ndef kernel(x, out):\n    tl.store(out, 1)"
IMPORTS = "import triton\nimport triton.language as tl"
STUB = "def silu(x, out):\n    raise NotImplementedError('silu: not written yet')"
VOID = "void silu(float *input, float *output, int n) {}"
# Cells, and the files that they are, each with its cells.
CELLS: dict[str, tuple[Sequence[str], dict[str, list[int]]]] = {
    "the cell of the magic, alone": ((IMPORTS, f"%%kernelmark silu --save\n{SILU}"), {"silu.py": [2]}),
    "the last that is filled": (
        (f"%%kernelmark silu\n{SILU}", f"\n%%kernelmark silu\n{SILU}  # better", f"%%kernelmark silu\n{STUB}", SILU),
        {"silu.py": [2]}),
    "a stub behind it": ((SILU, STUB), {"silu.py": [1]}),
    "another one's magic": ((f"%%kernelmark sillu\n{SILU}",), {}),
    "what a cell needs, and what that needs": (
        (IMPORTS, "x = out = 1", KERNEL, "print(3)", SILU, "silu(x, out)"), {"silu.py": [1, 3, 5]}),
    "a name that is bound again": (("BLOCK = 64", "BLOCK = 128", "def silu(x, out): BLOCK", "BLOCK = 1"),
                                   {"silu.py": [2, 3]}),
    "what is bound behind it": (("def silu(x, out): helper()", "def helper(): ..."), {"silu.py": [1, 2]}),
    "the last definition": ((SILU, KERNEL, SILU), {"silu.py": [2, 3]}),
    "no call, and no method": (("y = silu(x)", "class A:\n    def silu(self): ...", "silu = torch.nn.SiLU()"), {}),
    "names from everywhere": (("from math import *", "def silu(x, out): exp(x)"), {"silu.py": [1, 2]}),
    "builtins from nowhere": (("from math import *", "def silu(x, out): print(x)"), {"silu.py": [2]}),
    "cells in circles": (("def a(): silu()", "def silu(x, out): a()"), {"silu.py": [1, 2]}),
    "a cell that is no Python": ((IMPORTS, "This is silu", f"{SILU} ((("), {"silu.py": [3]}),
    "a cell that is no Python, behind one that is": ((SILU, f"{SILU} ((("), {"silu.py": [1]}),
    "a file that is written": ((f"%%writefile hw/silu.py\n{SILU}", SILU), {"silu.py": [1]}),
    "in two parts": ((f"%%writefile silu.py\n{IMPORTS}", f"%%writefile -a silu.py\n{SILU}"), {"silu.py": [1, 2]}),
    "written under another name": ((f'%%writefile "kernels.cu"\n{VOID}',), {"silu.cu": [1]}),
    "compiled by a magic": ((f"%%cuda --compile true\n{VOID}", f"%%bash\n{SILU}"), {"silu.cu": [1]}),
    "in two languages": ((SILU, f"%%writefile silu.cu\n{VOID}"), {"silu.py": [1], "silu.cu": [2]}),
    "the function's name there": (
        ("%%writefile a.cu\nvoid rms_norm_matrix(float *input) {}",), {"rms_norm_matrix.cu": [1]}),
}


@each_row("what", CELLS)
def test_which_cells_are_a_file(what: str) -> None:
    cells, expected = CELLS[what]
    found = read_notebook(notebook(*cells).encode(), KNOWN)
    assert {file: list(one.cells) for file, one in found.items()} == expected


TEXTS: dict[str, tuple[Sequence[str], str]] = {
    "lines keep their numbers in a cell of a magic": (
        (f"%%kernelmark silu\n\n{SILU}\n",), f"# code cell 1\n\n{SILU}\n"),
    "commands of the shell and magics": (
        ("!pip install triton\nif True:\n    %time print(1)\nfiles = !ls\ntriton?\nimport triton",
         "def silu(x, out): triton"),
        "# code cell 1\npass\nif True:\n    pass\npass\npass\nimport triton\n"
        "# code cell 2\ndef silu(x, out): triton\n"),
    "questions in comments, and what only begins a line as a magic does": (
        ('!pip install \\\n  triton\ndef silu(x, out):\n    a = x < 3  # or <= ?\n    b = 7 \\\n  % 4\n'
         '    print("x =%d"\n% 3, # (\n%x, "#")\n    """\n!ls (\n?"""\n    c, d = !ls\n    "\\"(" # why ?',),
        '# code cell 1\npass\n\ndef silu(x, out):\n    a = x < 3  # or <= ?\n    b = 7 \\\n  % 4\n'
        '    print("x =%d"\n% 3, # (\n%x, "#")\n    """\n!ls (\n?"""\n    pass\n    "\\"(" # why ?\n'),
    "a mistake beside a magic": (
        ("!pip install triton\ndef silu(x, out):\n    x = = 3  # ?",),
        "# code cell 1\npass\ndef silu(x, out):\n    x = = 3  # ?\n"),
    "a string that looks like a magic": (
        ('def silu(x, out):\n    """\n%time?\n"""',), '# code cell 1\ndef silu(x, out):\n    """\n%time?\n"""\n'),
    "what must come first": (
        ("x = 1", "from __future__ import annotations\ndef silu(y, out): x"),
        "from __future__ import annotations\n# code cell 1\nx = 1\n# code cell 2\n\ndef silu(y, out): x\n"),
    "text that no file can hold": (("def silu(x, out): '\ud800'",), "# code cell 1\ndef silu(x, out): '?'\n"),
}


@each_row("what", TEXTS)
def test_the_text_of_a_file(what: str) -> None:
    cells, text = TEXTS[what]
    assert read_notebook(notebook(*cells).encode(), KNOWN)["silu.py"].text == text


@each_row("path", sorted((ROOT / "reference").glob("*.py")), ids=lambda path: path.stem)
def test_a_magic_changes_no_other_line(path: Path) -> None:
    text = path.read_text()
    assert not text.startswith("from __future__")
    found = read_notebook(notebook(f"!pip install 'x\n{text}").encode(), {path.stem: path.name})
    assert found[path.name].text == f"# code cell 1\npass\n{text}"


def test_of_the_kits_notebook_the_cells_are_taken_that_are_filled() -> None:
    written = (ROOT / handout.NOTEBOOK).read_text()
    assert read_notebook(written.encode(), KNOWN) == {}
    filled = written.replace('raise NotImplementedError(\\"transpose: not written yet\\")', "kernel[(1,)](x, out)")
    found = read_notebook(filled.encode(), KNOWN)
    assert list(found) == ["transpose.py"]
    stub = (ROOT / "student_template" / "transpose.py").read_text().splitlines()
    assert found["transpose.py"].text.splitlines()[1:-1] == stub[:-1]


@each_row("content", [
    b"", b"{}", b"[]", b"\xff", b'{"cells": 3}', b'{"cells": [1]}', b'{"cells": [{"cell_type": "code"}]}',
    b'{"cells": [{"cell_type": "code", "source": [1]}]}', b"[" * 100_000, json.dumps({"worksheets": []}).encode()])
def test_what_is_no_notebook(content: bytes) -> None:
    with pytest.raises(NotebookError, match="cannot be read as a notebook"):
        read_notebook(content, KNOWN)


@pytest.mark.parametrize("cells", [["x" * (CODE_CHARACTERS + 1)], [""] * 2_001], ids=["long", "many"])
def test_more_than_anybody_writes(cells: Sequence[str]) -> None:
    with pytest.raises(NotebookError, match="holds more than"):
        read_notebook(notebook(*cells).encode(), KNOWN)
