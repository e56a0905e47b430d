# Looks for other students' files wherever the grader, the course or a home may keep them.
# verdict: runtime_error
# expect: refused
import os
from pathlib import Path

import torch
import triton
import triton.language as tl

MOST = 20_000


def attack():
    root = Path(torch.__file__).parents[5]
    tops = (root / "student_template", root / "examples", root / "tests", root / "results", root.parent, Path("/tmp"),
            Path("/home"), Path("/root"), Path("/srv"), Path("/mnt"), Path("/var/tmp"), *list(Path.cwd().parents)[1:-1])
    seen = 0
    for top in tops:
        for folder, _, names in os.walk(top):
            seen += 1 + len(names)
            if "site-packages" in folder or seen > MOST:
                break
            for name in {"silu.py", "gemm.py", "result.json", "gradebook.csv"} & {*names}:
                try:
                    text = Path(folder, name).read_text()
                except OSError:
                    continue
                print(len(text), "bytes of", folder, name)
                return
    raise RuntimeError(f"refused: none among {seen} names")
# shared: attacks
