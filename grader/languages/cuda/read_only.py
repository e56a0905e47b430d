"""Variables of a module that may stay in the text of a kernel.

A variable of a module keeps its values from launch to launch, where the judge does not see them. So only variables that
nothing writes stay: printed strings, and NVIDIA's own small tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.simulation.ptx.reader import TextFunction, TextStatement, TextVariable

MOST_BYTES = 4096
"""The largest variable that may stay: a format, or a name that an assertion prints."""
MOST_VARIABLES = 64

CALLED = frozenset({"vprintf", "__assertfail"})
"""The functions of the driver that kernels may call; they only read their arguments."""

_MOST_ROUNDS = 16
# Instructions that derive an address from another.
_PASSED_ON = ("mov", "cvta", "add", "sub", "selp", "ld")


def read_only(functions: Iterable[TextFunction], names: Mapping[str, TextVariable]) -> frozenset[str]:
    """Return the variables of `names` that all functions only load from, or pass to functions of the driver."""
    written: set[str] = set()
    for function in functions:
        written |= _written_variables(function.body or (), names)
    return frozenset(names) - written


def _written_variables(body: Sequence[TextStatement], names: Mapping[str, TextVariable]) -> set[str]:
    """Return the variables that a body may write: those whose address reaches anything but a load or a function of
    CALLED."""
    if not any(word in names for statement in body for word in statement.words):
        return set()
    followed = [_Step.of(statement, words) for statement, words in _scoped(body)]
    # The variables whose addresses each register, and each parameter of a call, may hold.
    holds: dict[str, set[str]] = {}
    written: set[str] = set()
    for _ in range(_MOST_ROUNDS):
        before = sum(map(len, holds.values())) + len(written)
        for step in followed:
            step.follow(names, holds, written)
        if sum(map(len, holds.values())) + len(written) == before:
            return written
    # The addresses have not settled: any variable may be written.
    return set(names)


def _scoped(body: Sequence[TextStatement]) -> Iterator[tuple[TextStatement, tuple[str, ...]]]:
    """Yield each instruction with its operands, in which the parameters of each call have unique names: the compiler
    declares the same names in the braces of every call."""
    scopes: list[dict[str, str]] = [{}]
    for number, statement in enumerate(body):
        if statement.words == ("{",):
            scopes.append({})
        elif statement.words == ("}",):
            scopes.pop()
        elif statement.opcode == ".param":
            name = next((word for word in reversed(statement.operands) if word[0] in "_$%" or word[0].isalpha()), "")
            scopes[-1][name] = f"{name}@{number}"
        elif not statement.label and not statement.opcode.startswith("."):
            yield statement, tuple(_named(word, scopes) for word in statement.operands)


def _named(word: str, scopes: Sequence[Mapping[str, str]]) -> str:
    for scope in reversed(scopes):
        if word in scope:
            return scope[word]
    # `%v.x` is a part of `%v`.
    return word.partition(".")[0] if word.startswith("%") else word


@dataclass(frozen=True)
class _Step:
    """Instruction: `kinds` are the parts of its opcode, `callee` is the function that a call names, "" otherwise."""

    kinds: tuple[str, ...]
    operands: tuple[str, ...]
    callee: str

    @classmethod
    def of(cls, statement: TextStatement, operands: tuple[str, ...]) -> _Step:
        kinds = tuple(statement.opcode.split("."))
        return cls(kinds, operands, called(statement) if kinds[0] == "call" else "")

    def follow(self, names: Mapping[str, TextVariable], holds: dict[str, set[str]], written: set[str]) -> None:
        reached = set[str]()
        for word in self.operands:
            if word in names:
                reached.add(word)
            elif word in holds:
                reached |= holds[word]
        if not reached:
            return
        name, operands = self.kinds[0], self.operands
        if name == "st" and "param" in self.kinds and operands[0] == "[" and "@" in operands[1]:
            # A parameter of a call: names declared in the body hold `@`. A return value is declared outside of the
            # body.
            holds.setdefault(operands[1], set()).update(reached)
        elif name == "ld" and "param" not in self.kinds:
            # A value loaded through an address is no address of the variable.
            pass
        elif name in _PASSED_ON and operands[0] not in ("{", "["):
            holds.setdefault(operands[0], set()).update(reached)
        elif not (name == "call" and self.callee in CALLED):
            written |= reached


def called(statement: TextStatement) -> str:
    """Return the name of the function that is called, "" for a register: `call.uni (retval0), f, (param0)`."""
    words = statement.operands
    if words[:1] == ("(",) and ")" in words:
        words = words[words.index(")") + 1 :]
        words = words[1:] if words[:1] == (",",) else words
    return words[0] if words and not words[0].startswith("%") else ""
