"""A page of Numba's compiler becomes a sentence and a line for a student."""

import re
from importlib.metadata import PackageNotFoundError
from typing import Any

import pytest

from grader.languages.numba import packages
from grader.languages.numba.confined.error_messages import line_and_sentence
from tests.rows import each_row

BEGIN = "Failed in cuda mode pipeline (step: nopython frontend)\n"
PLACE = '\nFile "silu.py", line 9:\ndef silu_kernel(x, out):\n    <source elided>\n        out[i] = x\n        ^\n'
NONE = "No implementation of function Function({}) found for signature:\n \n >>> {}\n \nThere are 18 candidates:\n"
LINES = ["import math", "def silu_kernel(x, out):", "    out[0] = X"]


@each_row(("error", "line", "sentence"), [
    (BEGIN + "Unknown attribute 'numel' of type array(float32, 1d, C)\n" + PLACE, 9,
     "float32[:] has no attribute numel"),
    (BEGIN + NONE.format("<built-in function getitem>", "getitem(array(float32, 2d, A), UniTuple(int64 x 3))") + PLACE,
     9, "float32[:, :] takes no index (int64, int64, int64)"),
    (BEGIN + NONE.format("<built-in function setitem>", "setitem(array(uint8, 1d, C), int64, unicode_type)") + PLACE, 9,
     "uint8[:] takes no unicode_type at an index int64"),
    (NONE.format("<built-in function truediv>", "truediv(array(float32, 1d, C), Literal[int](2))") + PLACE, 9,
     "/ is not defined for float32[:] and int"),
    (NONE.format("<function shared.array>", "array(Tuple(int32, Literal[int](16)), dtype=class(float32))") + PLACE, 9,
     "cuda.shared.array does not take (int32, int), dtype=float32"),
    (NONE.format("<built-in function exp>", "exp(array(float32, 1d, C))") + PLACE, 9, "exp does not take float32[:]"),
    (BEGIN + "Untyped global name 'sigmoid': Cannot determine Numba type of <class 'function'>\n" + PLACE, 9,
     "sigmoid is an ordinary function, which no kernel can call"),
    (BEGIN + "Cannot unify Literal[int](1) and Literal[str](one) for 'one.2', defined at silu.py (14)\n", 14,
     "one is int in one place and str in another"),
    (BEGIN + "NameError: name 'X' is not defined\nDuring: Pass nopython_type_inference\n", 3,
     "NameError: name 'X' is not defined"),
    (BEGIN + "No conversion from float32 to none for '$192return_value.17', defined at None\n" + PLACE, 9,
     "A kernel returns nothing, and this one returns float32"),
    (BEGIN + "Unknown attribute 'sigmoid' of type Module(<module 'torch' from '/lib/torch/__init__.py'>)\n" + PLACE, 9,
     "module torch has no attribute sigmoid"),
    (BEGIN + "\nsomething else  is wrong\n" + PLACE, 9, "something else is wrong"),
    ("", 0, "Numba cannot compile this kernel"),
])
def test_an_error_is_a_sentence(error: str, line: int, sentence: str) -> None:
    assert line_and_sentence(error, "silu.py", LINES) == (line, sentence)


@each_row(("statement", "sentence"), [
    ("out[0] = x", "float32[:] takes no float32[:] at an index int"),
    ("cuda.shared.array((TILE, TILE + 1), float32)", "cuda.shared.array does not take (int, int64), float32"),
])
def test_an_error_that_does_not_say_where_has_the_line_of_its_statement(statement: str, sentence: str) -> None:
    """This version of Numba gives no line for some statements."""
    text = f"from numba import cuda, float32\n\nTILE = 32\n\ndef kernel(x, out):\n    {statement}\n"
    # Late, since an environment for Triton alone has no Numba.
    pytest.importorskip("numba")
    from grader.languages.numba.confined import api

    names: dict[str, Any] = {}
    exec(compile(text, "silu.py", "exec"), names)
    # As the planner imports Numba, with settings that are read at its first import.
    numba: Any = api
    vector = numba.float32[::1]
    with pytest.raises(numba.CoreError) as raised:
        numba.cuda.compile(names["kernel"], (vector, vector), device=False, cc=(9, 0), output="ptx", abi="numba")
    assert line_and_sentence(str(raised.value), "silu.py", text.split("\n"))[1] == sentence
    assert api.line_of(raised.value, "silu.py") == 6 and api.line_of(raised.value, "other.py") == 0


@pytest.mark.parametrize(("found", "said"), [
    ({}, r"^no numba; .*pip install -e '\.\[numba\]'$"),
    ({"numba": "0.68.1"}, r"^no numba-cuda; .*pip install"),
    ({"numba": "0.68.1", "numba-cuda": "0.31.0"}, r"^numba-cuda 0\.31\.0, where 0\.30 is expected; .*pip install"),
    ({"numba": "0.6.8", "numba-cuda": "0.30.4"}, r"^numba 0\.6\.8, where 0\.68 is expected; "),
])
def test_what_is_missing_is_told_in_a_line(
    found: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch,
) -> None:
    def version(name: str) -> str:
        if name not in found:
            raise PackageNotFoundError(name)
        return found[name]

    monkeypatch.setattr(packages, "version", version)
    packages.problem.cache_clear()
    try:
        assert re.search(said, packages.problem()) and "\n" not in packages.problem()
        assert packages.installed() == ""
    finally:
        packages.problem.cache_clear()
