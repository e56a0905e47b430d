"""Errors of Numba's compiler, which fill pages, as one sentence and a line."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.plan.tokens import split_at_commas

_MOST = 20_000
_NO_IMPLEMENTATION = re.compile(
    r"No implementation of function Function\((.{1,200}?)\) found for signature:\s*>>> (\w{1,80})\(([^\n]*)\)\n")
_NAMED = re.compile(r"<(?:built-in )?function ([\w.]+)|<class '(?:[\w.]+\.)?(\w+)'")
_ARRAY = re.compile(r"(?:readonly |unaligned )?array\((\w+), (\d)d, \w\)")
_LITERAL = re.compile(r"Literal\[(\w+)\]\([^()]*\)|class\((\w+)\)")
_UNIFORM = re.compile(r"UniTuple\((\w+) x (\d{1,2})\)")
_MODULE = re.compile(r"Module\(<module '([\w.]+)'[^>]*>\)")
_OPERATORS = {"add": "+", "iadd": "+=", "sub": "-", "isub": "-=", "mul": "*", "imul": "*=", "truediv": "/",
              "itruediv": "/=", "floordiv": "//", "mod": "%", "pow": "**", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
              "eq": "==", "ne": "!=", "and_": "&", "or_": "|", "xor": "^", "lshift": "<<", "rshift": ">>",
              "matmul": "@", "neg": "-", "not_": "not"}
_SENTENCES = (
    (r"Untyped global name '(\w+)':?\s*Cannot determine Numba type of <class 'function'>",
     "{0} is an ordinary function, which no kernel can call"),
    (r"Untyped global name '(\w+)':?\s*(?:Cannot determine Numba type of )?<class '(?:[\w.]+\.)?(\w+)'>",
     "{0} is a {1}, which no kernel can use"),
    (r"Unknown attribute '(\w+)' of type ([^\n]{1,200})", "{1} has no attribute {0}"),
    (r"NameError: name '(\w+)' is not defined", "NameError: name '{0}' is not defined"),
    (r"(?:Variable|variable) '(\w+)' is not defined|Variable (\w+) referenced before assignment",
     "NameError: name '{0}' is not defined"),
    (r"Cannot unify ([^\n]{1,200}?) and ([^\n]{1,200}?) for '(\w+)", "{2} is {0} in one place and {1} in another"),
    (r"No conversion from ([^\n]{1,100}) to none for '\$", "A kernel returns nothing, and this one returns {0}"),
    (r"failed to unpack ([^\n]{1,100})", "{0} cannot be unpacked into several names"),
    (r"No conversion from ([^\n]{1,100}) to ([^\n]{1,100}?) for", "{0} cannot become {1}"),
    (r"Use of unsupported opcode \((\w+)\)", "Kernels do not know what this line does ({0})"),
    (r"(?:UnsupportedError|UnsupportedBytecodeError|unsupported)[^\n]{0,200}", "{all}"),
)
_PATTERNS = tuple((re.compile(pattern), sentence) for pattern, sentence in _SENTENCES)
_NAME = re.compile(r"NameError: name '(\w+)'")


def line_and_sentence(error: str, file: str, lines: Sequence[str]) -> tuple[int, str]:
    """Return the line of the file that an error of Numba's compiler is about, 0 for none, and the error in a sentence.
    `lines` are the file's."""
    error = error[:_MOST]
    placed = re.findall(
        rf'File "[^"\n]*{re.escape(file)}", line (\d{{1,7}})|\bat [^\s(]*{re.escape(file)} \((\d{{1,7}})\)', error)
    line = max((int(quoted or plain) for quoted, plain in placed[-1:]), default=0)
    sentence = _sentence(error)
    if not line and (named := _NAME.match(sentence)):
        used = re.compile(rf"\b{named[1]}\b")
        line = next((number for number, text in enumerate(lines, 1) if used.search(text)), 0)
    return line, sentence


def _sentence(error: str) -> str:
    if missing := _NO_IMPLEMENTATION.search(error):
        return _no_implementation(missing[1], missing[2], _plain(missing[3]))
    for pattern, sentence in _PATTERNS:
        if match := pattern.search(error):
            groups = [_plain(group) for group in match.groups() if group is not None]
            return sentence.format(*groups, all=_plain(match[0]))
    kept = (text.strip() for text in error.split("\n"))
    first = next((text for text in kept if text and not text.startswith(("Failed in ", "File ", "During:"))), "")
    return _plain(first)[:300] or "Numba cannot compile this kernel"


def _no_implementation(function: str, short: str, given: str) -> str:
    match = _NAMED.search(function)
    name = (match[1] or match[2]) if match else short
    members = split_at_commas(given)
    if name.startswith("_"):
        return "A kernel makes no arrays, as NumPy's functions do"
    if name == "getitem" and len(members) == 2:
        return f"{members[0]} takes no index {members[1]}"
    if name == "setitem" and len(members) == 3:
        return f"{members[0]} takes no {members[2]} at an index {members[1]}"
    if name in _OPERATORS:
        return f"{_OPERATORS[name]} is not defined for {' and '.join(members)}"
    if name.startswith(("shared.", "local.", "const.")):
        return f"cuda.{name} does not take {given}"
    return f"{name} does not take {given}"


def _plain(text: str) -> str:
    """Return a text of Numba's with types as its signatures have them: float32[:, :], int64."""
    text = _MODULE.sub(r"module \1", text)
    text = _ARRAY.sub(lambda match: f"{match[1]}[{', '.join([':'] * int(match[2]))}]", text)
    text = _LITERAL.sub(lambda match: match[1] or match[2], text)
    text = _UNIFORM.sub(lambda match: f"({', '.join([match[1]] * int(match[2]))})", text)
    text = re.sub(r"\bTuple\(", "(", text).replace("<iv=None>", "")
    return " ".join(text.split())
