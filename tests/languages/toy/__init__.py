"""Toy: a language for the test alone, of one elementwise operation: `silu(x, out): x x sigmoid *` is a file."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from grader.languages import FrontEnd
from grader.languages.phrases import Phrases, catalogue, needed
from grader.plan.plan import Kernel, Launch, Malformed

TWO = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}
ONE: dict[str, Callable[[Any], Any]] = {"exp": np.exp, "sigmoid": lambda x: 1 / (1 + np.exp(-x))}


def read(text: str) -> tuple[str, list[str], str]:
    """Name, parameters and formula of a file. Raises Malformed."""
    match = re.fullmatch(r"(\w+)\(([\w, ]*)\): (.+)", text.strip())
    if match is None:
        raise Malformed("name(parameters): formula expected")
    return match[1], match[2].split(", "), match[3]


def value(formula: str, known: Mapping[str, Any]) -> Any:
    """What a formula comes to. Raises ValueError, IndexError."""
    stack: list[Any] = []
    for word in formula.split():
        if word in TWO:
            stack[-2:] = [TWO[word](stack[-2], stack[-1])]
        elif word in ONE:
            stack[-1] = ONE[word](stack[-1])
        else:
            stack.append(known[word] if word in known else float(word))
    (answer,) = stack
    return answer


def _check_launch(launch: Launch, kernel: Kernel) -> None:
    if [argument.kind for argument in launch.arguments] != kernel.signature:
        raise Malformed("arguments of other kinds than the signature's")


FRONT_END = FrontEnd(
    name="toy", suffix=".toy", read_kernel=lambda kernel: read(kernel.text)[3:], check_launch=_check_launch,
    signature=lambda function, parameters: f"{function}({', '.join(parameter.name for parameter in parameters)}): …",
    argument_names=lambda kernel: read(kernel.text)[1], traits=lambda kernel: frozenset(), launch_options={},
    phrases=Phrases(catalogue(own=dict.fromkeys(needed(), "Compare it with the handout's."))))
