"""Runs every `case_*` function of the files named on its command line in the mended interpreter; prints JSON.

A process of its own, because Triton has to be imported with the interpreter switched on, and once.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

from grader.worker import interpreter


def outcome(function: Any, file: str) -> dict[str, Any]:
    interpreter.configure(max_programs=1000, on_launch=None)
    try:
        return {"value": function()}
    except Exception as error:
        line = interpreter.student_line(error, file)
        text = Path(file).read_text().splitlines()[line - 1] if line else ""
        return {"error": type(error).__name__, "message": str(error), "line": line, "text": text.strip()}


def main(files: list[str]) -> None:
    interpreter.install()
    results = {}
    for file in files:
        spec = importlib.util.spec_from_file_location(Path(file).stem, file)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        for name, member in vars(module).items():
            if name.startswith("case_"):
                results[name.removeprefix("case_")] = outcome(member, file)
    print(json.dumps(results))


if __name__ == "__main__":
    main(sys.argv[1:])
