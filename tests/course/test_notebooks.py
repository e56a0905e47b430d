"""Which cells of a notebook become an assignment's file."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from grader.authoring import handout
from grader.course.notebooks import CODE_CHARACTERS, NotebookError, read_notebook
from grader.home import ROOT
from tests.classroom.intake.made import notebook
from tests.rows import beside, each_row

KNOWN = {"silu": "silu.py", "transpose": "transpose.py", "rmsnorm_matrix": "rmsnorm_matrix.py"}
SILU = "def silu(x, out):\n    kernel[(1,)](x, out)"
KERNEL = "@triton.jit\ndef kernel(x, out):\n    tl.store(out, 1)"
IMPORTS = "import triton\nimport triton.language as tl"
STUB = "def silu(x, out):\n    raise NotImplementedError('silu: not written yet')"
VOID = "void silu(float *input, float *output, int n) {}"


DATA = beside(__file__)


def filled(text: str) -> str:
    """A text with those above in it."""
    for name, whole in (("SILU", SILU), ("KERNEL", KERNEL), ("IMPORTS", IMPORTS), ("STUB", STUB), ("VOID", VOID)):
        text = text.replace(f"{{{name}}}", whole)
    return text


@each_row("cells, expected", DATA["cells"].values(), ids=DATA["cells"])
def test_which_cells_are_a_file(cells: list[str], expected: dict[str, list[int]]) -> None:
    found = read_notebook(notebook(*map(filled, cells)).encode(), KNOWN)
    assert {file: list(notebook_file.cells) for file, notebook_file in found.items()} == expected


# And text that no file can hold.
@each_row("cells, text", [*DATA["texts"].values(),
                          (["def silu(x, out): '\ud800'"], "# code cell 1\ndef silu(x, out): '?'\n")])
def test_the_text_of_a_file(cells: list[str], text: str) -> None:
    assert read_notebook(notebook(*map(filled, cells)).encode(), KNOWN)["silu.py"].text == filled(text)


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
