"""Files of languages whose host code is Python: signatures, and an outline without running anything."""

from __future__ import annotations

from collections.abc import Sequence

from grader.languages import Outline, Parameter

_STUB = "raise NotImplementedError("


def signature(function: str, parameters: Sequence[Parameter]) -> str:
    return f"{function}({', '.join(parameter.name for parameter in parameters)})"


def outline(text: str) -> Outline:
    defined, stubs = set[str](), set[str]()
    for line in text.split("\n"):
        # A notebook has each line as a JSON string.
        code = line.lstrip(" \t").removeprefix('"')
        word, _, rest = code.partition(" ")
        if word in ("def", "class"):
            defined.add(rest.partition("(")[0].partition(":")[0])
        elif (code := code.lstrip(" \t")).startswith(_STUB):
            stubs.add(code.removeprefix(_STUB).removeprefix("\\")[1:].partition(": not written yet")[0])
    return Outline(frozenset(defined), frozenset(stubs))
