# Has tracebacks and inspect print the grader's source: the lines that called it, and more.
# verdict: runtime_error
# expect: refused
import linecache
import sys
from pathlib import Path

import torch
import triton
import triton.language as tl

WORDS = ("def oracle", "right_answer(", "make_inputs(", "def tolerance")


def attack():
    root = Path(torch.__file__).parents[5]
    names = [root / "reference/silu.py", root / "grader/judging/judge.py", root / "assignments/silu/assignment.py"]
    names += [Path(one.__file__) for one in list(sys.modules.values()) if getattr(one, "__file__", None)
              and one.__name__.startswith(("grader", "reference", "assignments"))]
    text = "".join("".join(linecache.getlines(str(name))) for name in names)
    text += "".join("".join(entry[2]) for entry in linecache.cache.values() if len(entry) == 4 and entry[2][:1] != [""]
                    and "WORDS" not in "".join(entry[2]))
    found = [word for word in WORDS if word in text]
    if not found:
        raise RuntimeError(f"refused: nothing in {len(text)} characters")
    print(found)
# shared: attacks
