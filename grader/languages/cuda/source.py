"""Outline of a .cu file without compiling it: its functions, its stubs, and the names of its kernels' parameters. No
decision rests on it alone, as macros may make a file mean anything."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from grader.languages import Outline
from grader.languages.drafts import Change
from grader.plan.tokens import TO_THE_END

# No pattern may try a long match from each character of a run: that is quadratic, and a file may have any length.
_HIDDEN = re.compile(
    rf"//(?:[^\n\\]|\\.)*+|{TO_THE_END}|\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_]\w*+|::|[^\s\w]|\d[\w.]*+")
# Signs of several characters are one token.
_CODE = re.compile(
    r"[A-Za-z_]\w*+|\.?\d(?:[eE][+-]|[\w.])*+|<<<|>>>|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\+\+|--|->|::"
    r"|[^\s\w]")
_STUB = re.compile(r"//[ \t]*+(?:not written yet:[ \t]*+(\w{1,100}+)|(\w{1,100}+): not written yet)")
BREAKS = frozenset({";", "{", "}"})
# Words before brackets that are no function's name.
_NO_NAMES = frozenset({
    "if", "for", "while", "switch", "return", "sizeof", "catch", "alignof", "decltype", "defined", "__launch_bounds__",
    "__cluster_dims__", "__align__", "alignas", "noexcept", "static_assert", "else", "do", "__attribute__"})
_NO_PARAMETERS = frozenset({"const", "void", "float", "int", "char", "double", "bool", "half", "unsigned", "long",
                            "short", "signed", "__restrict__", "__restrict", "restrict", "volatile",
                            "__grid_constant__"})


@dataclass(frozen=True)
class KernelDeclaration:
    """Declaration or definition of a kernel: its name, the names of its parameters ("" for none), and its line."""

    name: str
    parameters: tuple[str, ...]
    line: int


def outline(text: str) -> Outline:
    """Return the functions that a .cu file defines, and the assignments whose stub it still has: a stub holds a line
    `// silu: not written yet`."""
    return Outline(frozenset(name for name, _, following in _functions(_words(text)) if following == "{"),
                   frozenset(_stubs(text)))


def stub_line(text: str, function: str) -> int:
    """Return the line of a function's stub comment, 0 for none."""
    at = _stubs(text).get(function)
    return 0 if at is None else text.count("\n", 0, at) + 1


def _stubs(text: str) -> dict[str, int]:
    """Return the functions that are not written yet, with the offset of the comment that says so."""
    return {match[1] or match[2]: match.start() for match in _STUB.finditer(text)}


def kernel_declarations(text: str) -> list[KernelDeclaration]:
    """Return the kernels that a file defines or declares, in its order."""
    words = _words(text)
    lines = [match.start() for match in re.finditer("\n", text)]
    declarations, marked = [], -1
    after = {at: (name, parameters) for name, (at, parameters), _ in _functions(words)}
    for at, (word, start) in enumerate(words):
        if word == "__global__":
            marked = start
        elif word in BREAKS:
            marked = -1
        elif marked >= 0 and at in after:
            name, parameters = after[at]
            declarations.append(KernelDeclaration(name, parameters, bisect_right(lines, marked) + 1))
            marked = -1
    return declarations


class CodeWord(NamedTuple):
    """Token of a file, a word or sign, with the offset of its first character and its line."""

    text: str
    start: int
    line: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def put(word: CodeWord, text: str) -> Change:
    """Return the change that replaces a token by a text."""
    return Change(word.start, word.end, text)


def insert(place: int, text: str) -> Change:
    """Return the change that inserts a text in front of a character."""
    return Change(place, place, text)


def tokens(text: str) -> list[str]:
    """Return the tokens of a piece of code without comments and strings."""
    return _CODE.findall(text)


def code_words(text: str) -> list[CodeWord]:
    """Return the tokens of a file, without comments, strings and lines of the preprocessor."""
    plain, line, at, words = hidden(text), 1, 0, []
    for match in _CODE.finditer(plain):
        line, at = line + plain.count("\n", at, match.start()), match.start()
        words.append(CodeWord(match[0], match.start(), line))
    return words


def statements(words: Sequence[CodeWord]) -> Iterator[Sequence[CodeWord]]:
    """Yield the tokens of each statement; the last one is the `;` or brace that ends it."""
    begin = 0
    for at, word in enumerate(words):
        if word.text in BREAKS:
            yield words[begin:at + 1]
            begin = at + 1


def hidden(text: str) -> str:
    """Return the file with spaces in place of comments, strings and lines of the preprocessor, so that offsets stay."""
    plain = _HIDDEN.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    return re.sub(r"^[ \t]*+#(?:[^\n\\]|\\.)*+", lambda match: re.sub(r"[^\n]", " ", match[0]), plain,
                  flags=re.MULTILINE | re.DOTALL)


def _words(text: str) -> list[tuple[str, int]]:
    """Return the tokens of a file with their offsets, without comments, strings and lines of the preprocessor."""
    return [(match[0], match.start()) for match in _WORD.finditer(hidden(text))]


def _functions(words: list[tuple[str, int]]) -> list[tuple[str, tuple[int, tuple[str, ...]], str]]:
    """Return each name with a list of parameters that `{` or `;` follows: the name, the index of its token with the
    parameters, and that sign."""
    functions = []
    # The indices of brackets that are still open.
    opened: list[int] = []
    for at, (word, _) in enumerate(words):
        if word == "(":
            opened.append(at)
        elif word in ("{", "}", ";"):
            opened.clear()
        elif word == ")" and opened:
            start = opened.pop()
            name = words[start - 1][0] if start else ""
            following = words[at + 1][0] if at + 1 < len(words) else ""
            # Only outermost brackets count, so that no token is read again for each level.
            if not opened and name.isidentifier() and name not in _NO_NAMES and following in ("{", ";"):
                functions.append((name, (start - 1, _parameters(words[start + 1 : at])), following))
    return functions


def _parameters(words: list[tuple[str, int]]) -> tuple[str, ...]:
    """Return the names in a list of parameters: the last word of each before its default and its brackets."""
    names, last, depth, done = [], "", 0, False
    before = ("", "")
    for word, _ in [*words, (",", 0)]:
        if word in ("<", "(", "["):
            done |= word == "[" and depth == 0
            depth += 1
        elif word in (">", ")", "]"):
            depth -= 1
        elif word == "," and depth == 0:
            names.append("" if last in _NO_PARAMETERS else last)
            last, done = "", False
        elif word == "=" and depth == 0:
            done = True
        elif word.isidentifier() and depth == 0 and not done:
            last = word
        elif word.isidentifier() and depth == 1 and before in (("(", "*"), ("(", "&")):
            # `int (&shape)[3]`, `float (*function)(float)`.
            last, done = word, True
        before = (before[1], word)
    return tuple(names) if words and [word for word, _ in words] != ["void"] else ()
