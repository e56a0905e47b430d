"""The error model of CUDA C++: changes of a student's file that may mend it, those first that are made most often.

Each edited file is compiled, which takes a second, so there are few kinds, and evidence decides which come first.
Files are read as words: a change that makes no sense there does not compile, and costs a try.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice, pairwise
from typing import NamedTuple

from grader.frontends.cuda.source import hidden
from grader.plan.edits import MOST_EDITS, MOST_SPANS, Edit, EditKind, Edits, Span, edited

_WORDS = re.compile(
    r"[A-Za-z_]\w*+|\.?\d(?:[\w.]|(?<=[eE])[+-])*+|<<<|>>>|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\+\+|--|->|::"
    r"|[^\s\w]")
_INTEGER = re.compile(r"\d{1,6}[uUlL]*")
_AXES = ("x", "y")
_PLACES = frozenset({"threadIdx", "blockIdx", "blockDim", "gridDim"})
_WHOLE = frozenset({"int", "unsigned", "long", "size_t", "uint32_t", "int32_t"})
_NARROW = {"short": "int", "char": "int", "half": "float", "__half": "float"}
_COMPARISONS: Mapping[str, Sequence[tuple[str, float]]] = {
    "<": (("<=", 2.0),), "<=": (("<", 0.6),), ">": ((">=", 2.2), ("<", 1.8)), ">=": ((">", 1.4), ("<", 1.6)),
    "==": (("!=", 2.2),), "!=": (("==", 2.2),), "&&": (("||", 2.4),), "||": (("&&", 1.2),),
}  # fmt: skip
_OPERATORS: Mapping[str, Sequence[tuple[str, float]]] = {
    "+": (("-", 1.9), ("*", 2.4)), "-": (("+", 1.4),), "*": (("/", 2.0), ("+", 2.2)), "/": (("*", 1.5), ("%", 1.7)),
    "%": (("/", 1.6),), "+=": (("=", 2.2), ("*=", 2.6)), "*=": (("+=", 2.0),), "-=": (("+=", 1.4),),
}  # fmt: skip
_FUNCTIONS: Mapping[str, Sequence[str]] = {
    "expf": ("exp2f",), "exp2f": ("expf",), "__expf": ("exp2f",), "logf": ("log2f",), "log2f": ("logf",),
    "sqrtf": ("rsqrtf",), "rsqrtf": ("sqrtf",), "fmaxf": ("fminf",), "fminf": ("fmaxf",), "max": ("min",),
    "min": ("max",), "sinf": ("cosf",), "tanhf": ("tanf",), "erff": ("erfcf",), "__shfl_up_sync": ("__shfl_down_sync",),
    "__shfl_down_sync": ("__shfl_xor_sync",), "cudaMemcpyDeviceToHost": ("cudaMemcpyHostToDevice",),
    "cudaMemcpyHostToDevice": ("cudaMemcpyDeviceToDevice", "cudaMemcpyDefault"),
    "cudaMemcpyHostToHost": ("cudaMemcpyDefault",), "__int2float_rd": ("__int2float_rn",),
    "__float2int_rz": ("__float2int_rn",), "__float2half_rz": ("__float2half_rn",),
}  # fmt: skip
# Behind these a sign has one operand.
_BEFORE_ONE = frozenset({"return", "float", "half", "__half", "int", "char", "void", "double", "unsigned"})
_OPERAND = re.compile(r"\w|[)\]]")
LARGEST = 1 << 16
"""Characters of a file that is edited: a larger one takes the compiler too long."""
_TURN = 0.02
"""What an edit weighs more than the one of its kind and weight before it."""
_NAMED, _BINDS, _ELSEWHERE = 0.8, 0.5, 0.6
"""What an edit weighs less in a line that evidence names, and in one that sets what is used there; what it weighs more
outside of the function that holds such a line."""
_LEAST = 0.3


class _Word(NamedTuple):
    text: str
    start: int
    line: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


class _Draft(NamedTuple):
    kind: EditKind
    weight: float
    spans: tuple[tuple[int, int, str], ...]
    workaround: bool = False


def edits_of(text: str, most: int = MOST_EDITS, lines: Sequence[int] = ()) -> Edits:
    """At most so many edits of the file, of a larger one than LARGEST none. `lines` are those that evidence names."""
    if len(text) > LARGEST:
        return Edits(edits=[])
    words, breaks = _read(text), [match.start() for match in re.finditer("\n", text)]
    near = _nearness(words, lines)
    weighed = []
    for draft in islice(_drafts(words, text), 4 * MOST_EDITS):
        if len(draft.spans) > MOST_SPANS:
            continue
        line = bisect_left(breaks, draft.spans[0][0]) + 1
        weighed.append((max(_LEAST, draft.weight - near.get(line, -_ELSEWHERE if near else 0)), line, draft))
    weighed.sort(key=lambda one: (one[0], one[2].spans))
    before = Counter[tuple[str, float]]()
    ordered = []
    for weight, line, draft in weighed:
        alike = draft.kind, draft.weight
        weight, before[alike] = weight + _TURN * before[alike], before[alike] + 1
        spans = [Span(start=start, end=end, text=new) for start, end, new in draft.spans]
        ordered.append(Edit(kind=draft.kind, line=line, spans=spans, weight=weight, workaround=draft.workaround))
    ordered.sort(key=lambda edit: edit.weight)
    return Edits(edits=list(islice(_once(text, ordered), min(most, MOST_EDITS))))


def _once(text: str, edits: Sequence[Edit]) -> Iterator[Edit]:
    """The edits that make another program, each once: spaces are none."""
    seen = {_mark(text)}
    for edit in edits:
        if (mark := _mark(edited(text, edit))) not in seen:
            seen.add(mark)
            yield edit


def _mark(text: str) -> bytes:
    return hashlib.blake2b("".join(text.split()).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _read(text: str) -> list[_Word]:
    """The words of a file, without comments, strings and lines of the preprocessor."""
    plain, line, at, found = hidden(text), 1, 0, []
    for match in _WORDS.finditer(plain):
        line, at = line + plain.count("\n", at, match.start()), match.start()
        found.append(_Word(match[0], match.start(), line))
    return found


def _nearness(words: Sequence[_Word], lines: Sequence[int]) -> dict[int, float]:
    """By their numbers, what edits of lines weigh less: those that evidence names, those that set what is used there,
    and the others of the function around them."""
    found: dict[int, float] = {}
    for first, last in _bodies(words):
        here = [line for line in lines if words[first].line <= line <= words[last].line]
        if not here:
            continue
        used = {word.text for word in words[first:last] if word.line in here and word.text.isidentifier()}
        for word, after in pairwise(words[first:last]):
            sets = word.text in used and after.text in ("=", "+=", "[", ";")
            found[word.line] = max(found.get(word.line, 0), _BINDS if sets else 0)
        found |= dict.fromkeys(here, _NAMED)
    return found


def _bodies(words: Sequence[_Word]) -> Iterator[tuple[int, int]]:
    """The first and the last word of each definition at the outermost level: its head and its braces."""
    depth, begin = 0, 0
    for at, word in enumerate(words):
        if word.text == "{":
            depth += 1
        elif word.text == "}" and depth:
            depth -= 1
            if not depth:
                yield begin, at
                begin = at + 1
        elif word.text == ";" and not depth:
            begin = at + 1


def _drafts(words: Sequence[_Word], text: str) -> Iterator[_Draft]:
    for first, last in _bodies(words):
        body = words[first : last + 1]
        kernel = any(word.text in ("__global__", "__device__") for word in body[:8])
        # More blocks, or larger ones, may only keep a kernel's fault from showing.
        yield from (draft._replace(workaround=not kernel) for draft in chain(_signs(body), _numbers(body)))
        yield from _axes(body)
        yield from _names(body)
        yield from _functions(body)
        yield from (_kernel(body) if kernel else _host(body, text))


def _instead(kind: EditKind, weight: float, word: _Word, text: str) -> _Draft:
    return _Draft(kind, weight, ((word.start, word.end, text),))


def _signs(body: Sequence[_Word]) -> Iterator[_Draft]:
    """Comparisons and operators."""
    templates = _templates(body)
    for at in range(1, len(body) - 1):
        word, between = body[at], _OPERAND.match(body[at - 1].text[-1:])
        if word.text in _COMPARISONS and at not in templates:
            for other, weight in _COMPARISONS[word.text]:
                yield _instead("comparison", weight, word, other)
        # A sign behind an operand has two: `*input` and `-x` have one.
        elif word.text in _OPERATORS and between and body[at - 1].text not in _BEFORE_ONE:
            for other, weight in _OPERATORS[word.text]:
                yield _instead("operator", weight, word, other)


def _templates(body: Sequence[_Word]) -> set[int]:
    """The places of `<` and `>` that enclose arguments of a template."""
    found: set[int] = set()
    for at, word in enumerate(body):
        if word.text != "<" or not body[at - 1].text.isidentifier():
            continue
        for end in range(at + 1, min(at + 16, len(body))):
            if body[end].text in (";", "{", "&&", "||", ")"):
                break
            if body[end].text == ">":
                # `a < b > c` is never meant.
                found |= {at, end}
                break
    return found


def _axes(body: Sequence[_Word]) -> Iterator[_Draft]:
    """`.x` and `.y`: one, all of a statement, and all of a name."""
    seen = [at for at in range(2, len(body)) if body[at].text in _AXES and body[at - 1].text == "."
            and body[at - 2].text in _PLACES]
    if len({body[at].text for at in seen}) < len(_AXES):
        return
    swapped = {at: _AXES[1 - _AXES.index(body[at].text)] for at in seen}
    for at in seen:
        yield _instead("axis", 1.5, body[at], swapped[at])
    groups: dict[object, list[int]] = {None: seen}
    ends = [at for at, word in enumerate(body) if word.text == ";"]
    for at in seen:
        groups.setdefault(bisect_right(ends, at), []).append(at)
        groups.setdefault(body[at - 2].text, []).append(at)
    for group in groups.values():
        if len(group) > 1:
            yield _Draft("axis", 1.2, tuple((body[at].start, body[at].end, swapped[at]) for at in group))


def _names(body: Sequence[_Word]) -> Iterator[_Draft]:
    """A size in another's place, and two exchanged in a statement; arguments that stand side by side exchanged."""
    head = next((at for at, word in enumerate(body) if word.text == "{"), 0)
    sizes = [name.text for type_, name in pairwise(body[:head])
             if type_.text in _WHOLE and name.text.isidentifier() and name.text not in _WHOLE]
    if len(sizes) > 1:
        for at in range(head, len(body)):
            if body[at].text in sizes:
                for size in [size for size in sizes if size != body[at].text][:2]:
                    yield _instead("name", 1.4, body[at], size)
        yield from _exchanged(body[head:], sizes)
    for at in range(head, len(body) - 3):
        one, comma, other = body[at : at + 3]
        if comma.text == "," and one.text.isidentifier() and other.text.isidentifier() and one.text != other.text and (
            body[at - 1].text in ("(", ",") and body[at + 3].text in (")", ",")
        ):
            yield _Draft("order", 1.7, ((one.start, one.end, other.text), (other.start, other.end, one.text)))


def _exchanged(body: Sequence[_Word], sizes: Sequence[str]) -> Iterator[_Draft]:
    """In a statement, and in a line: that of a condition may hold another statement."""
    groups: dict[tuple[str, int], list[_Word]] = {}
    number = 0
    for word in body:
        number += word.text in (";", "{", "}")
        if word.text in sizes:
            for group in (("statement", number), ("line", word.line)):
                groups.setdefault(group, []).append(word)
    for found in groups.values():
        names = sorted({word.text for word in found})
        if len(names) == len(_AXES):
            other = {names[0]: names[1], names[1]: names[0]}
            yield _Draft("exchanged", 1.3, tuple((word.start, word.end, other[word.text]) for word in found))


def _numbers(body: Sequence[_Word]) -> Iterator[_Draft]:
    """Whole numbers, and quotients of them that lose their fraction."""
    for at in range(1, len(body) - 1):
        word = body[at]
        if not _INTEGER.fullmatch(word.text):
            continue
        value = int(re.sub(r"\D", "", word.text))
        if body[at + 1].text == "/":
            yield _instead("type", 1.2, word, f"{value}.0f")
        others = {0: (1,), 1: (0, 2)}.get(value, (value - 1, value + 1))
        if value > 1 and value & (value - 1) == 0:
            others = (2 * value, value // 2, value - 1, value + 1)
        for other in others:
            yield _instead("constant", 1.8 if value < 2 else 1.6, word, str(other))


def _functions(body: Sequence[_Word]) -> Iterator[_Draft]:
    for word in body:
        for other in _FUNCTIONS.get(word.text, ()):
            yield _instead("function", 1.1, word, other)
        if word.text in _NARROW:
            yield _instead("type", 1.6, word, _NARROW[word.text])


def _kernel(body: Sequence[_Word]) -> Iterator[_Draft]:
    """Barriers, values to start from, and sums of several threads."""
    shared = {body[at + 2].text for at in range(len(body) - 2) if body[at].text == "__shared__"}
    begin = 0
    for at, word in enumerate(body):
        if word.text not in (";", "{", "}"):
            continue
        statement, begin = body[begin:at], at + 1
        if word.text == "}" and shared:
            # Before the next round of a loop.
            yield _Draft("barrier", 1.6, ((word.start, word.start, "__syncthreads(); "),))
        if word.text != ";" or not statement:
            continue
        texts = [one.text for one in statement]
        if texts == ["__syncthreads", "(", ")"]:
            yield _Draft("barrier", 2.2, ((statement[0].start, word.start, ""),))
        sign = next((at for at, one in enumerate(texts) if one in ("=", "+=", "-=")), 0)
        if shared.intersection(texts[:sign]) and texts[0] != "__shared__":
            yield _Draft("barrier", 1.0, ((word.end, word.end, " __syncthreads();"),))
        if texts[-1] == "return" and shared:
            yield _Draft("extra", 1.8, ((statement[-1].start, statement[-1].end, ""),))
        if texts[0] in ("float", "half", "int", "double") and len(texts) > 1 and "=" not in texts:
            yield _Draft("start", 1.0, ((word.start, word.start, " = {}" if "[" in texts else " = 0"),))
        if "+=" in texts and texts[0].isidentifier():
            yield _Draft("function", 1.8, (
                (statement[0].start, statement[0].start, "atomicAdd(&"),
                (statement[sign].start, statement[sign].end, ","),
                (word.start, word.start, ")")))


def _host(body: Sequence[_Word], text: str) -> Iterator[_Draft]:
    """Grids rounded up, and arguments of `dim3` exchanged."""
    for at in range(1, len(body) - 2):
        above, sign, below = body[at : at + 3]
        if sign.text == "/" and _OPERAND.match(below.text) and above.text.isidentifier():
            yield _Draft("rounding", 0.9, (
                (above.start, above.start, "("), (above.end, above.end, f" + {below.text} - 1)")))
    for at, word in enumerate(body):
        # `dim3 grid(a, b)` and `dim3(a, b)`.
        if word.text == "dim3" and (start := next((n for n in range(at, min(at + 3, len(body)))
                                                   if body[n].text == "("), 0)):
            yield from _first_two(body, start, text)


def _first_two(body: Sequence[_Word], start: int, text: str) -> Iterator[_Draft]:
    """The first two arguments of a call exchanged."""
    depth, commas = 0, []
    for at in range(start, len(body)):
        depth += (body[at].text == "(") - (body[at].text == ")")
        if depth == 1 and body[at].text == ",":
            commas.append(at)
        if not depth:
            ends = [*commas, at][:2]
            if len(ends) == len(_AXES) and ends[0] > start + 1 and ends[1] > ends[0] + 1:
                first = slice(body[start + 1].start, body[ends[0] - 1].end)
                second = slice(body[ends[0] + 1].start, body[ends[1] - 1].end)
                yield _Draft("grid", 1.0, (
                    (first.start, first.stop, text[second]), (second.start, second.stop, text[first])))
            return
