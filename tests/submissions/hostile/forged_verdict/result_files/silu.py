# Writes results where a grader may look for them: in its own folder, above it, and in shared ones.
# verdict: wrong_answer
import json
import pathlib

import torch
# shared: triton
# shared: silu_kernel
RESULT = {"schema": "kernelmark/result/v1", "student": "hostile", "score": 600.0, "verdict": "accepted"}


def silu(x, out):
    silu_kernel[(1,)](x, out, 1, BLOCK=16)
    for name in ("result.json", "report.html", "checks.log", "../kernelmark-hostile-result.json",
                 "/tmp/kernelmark-hostile-result.json", "/var/tmp/kernelmark-hostile-result.json"):
        try:
            pathlib.Path(name).write_text(json.dumps(RESULT))
        except OSError:
            pass
