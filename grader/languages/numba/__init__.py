"""Numba-CUDA: host code and kernels in Python. Numba lowers the kernels to PTX, which is handled as CUDA C++'s is."""

from __future__ import annotations

import re

from grader.languages import FrontEnd
from grader.languages.cuda import FRONT_END as CUDA
from grader.languages.cuda.toolkit import homes
from grader.languages.numba.packages import installed, problem
from grader.languages.numba.phrases import PHRASES
from grader.languages.python import outline, signature

_IMPORT = (r"(?:^\ufeff?|[;:])[ \t]*+(?:from[ \t]++{0}\b[\w.]*+[ \t]++import\b"
           r"|import[ \t]++(?:[\w.]++(?:[ \t]++as[ \t]++\w++)?+[ \t]*+,[ \t]*+)*{0}\b)")
_IMPORTS, _OTHER = (re.compile(_IMPORT.format(name), re.MULTILINE) for name in ("numba", "triton"))


def _claims(text: str) -> bool:
    return _IMPORTS.search(text) is not None and _OTHER.search(text) is None


FRONT_END = FrontEnd(
    name="numba", title="Numba-CUDA", jplag="python3", suffix=".py", claims=_claims, signature=signature,
    outline=outline, phrases=PHRASES, read_kernel=CUDA.read_kernel, check_launch=CUDA.check_launch,
    argument_names=CUDA.argument_names, traits=CUDA.traits, blocks=CUDA.blocks, problem=problem, tools=homes,
    installed=installed, lacks=frozenset({"tensor_cores"}),
    launch_options={"cooperative": "grid.sync()"})
