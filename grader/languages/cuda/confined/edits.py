"""The error model of CUDA C++: edits of a student's file that may correct it, the most frequent ones first.

Each edited file is compiled, which takes a second: so there are few kinds of edit, and evidence decides their order.
Edits change tokens: one that makes no sense does not compile, and costs a try.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, pairwise

from grader.languages.cuda.confined.counting import constants_of, counting
from grader.languages.cuda.confined.passed import passed, turned
from grader.languages.cuda.confined.ranges import counts, ends, sides, sizes_of, tails, vectors, widths
from grader.languages.cuda.confined.resets import again, resets, updated_early
from grader.languages.cuda.confined.warps import halving, powers_of_two, reducing, warps, whole_warps
from grader.languages.cuda.shared import indices, shared_arrays, stage_uses
from grader.languages.cuda.source import BREAKS, CodeWord, arguments, code_words, insert, put, statements, swap
from grader.languages.drafts import Change, Draft, edits_in_order
from grader.plan.edits import MOST_EDITS, EditKind, Edits

_INTEGER = re.compile(r"\d{1,6}[uUlL]*")
_AXES = ("x", "y")
_PLACES = frozenset({"threadIdx", "blockIdx", "blockDim", "gridDim"})
_MEMBERS = ("x", "y", "z", "w")
_FLOATS = frozenset({"float", "double", "half", "__half", "auto"})
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
_LAYOUTS: Mapping[str, str] = {
    "row_major": "col_major", "col_major": "row_major", "mem_row_major": "mem_col_major",
    "mem_col_major": "mem_row_major",
}  # fmt: skip
_INFINITE = frozenset({"INFINITY", "CUDART_INF_F", "HUGE_VALF"})
# A sign after one of these has one operand.
_BEFORE_ONE = frozenset({"return", "float", "half", "__half", "int", "char", "void", "double", "unsigned"})
_OPERAND = re.compile(r"\w|[)\]]")
LARGEST = 1 << 16
"""The most characters of a file that is edited: a larger one takes the compiler too long."""
_NAMED, _BINDS, _ELSEWHERE = 0.8, 0.5, 0.6
"""The discount on an edit's weight in a line that evidence names, the discount in a line that sets a name used there,
and the surcharge outside of the functions that hold such lines."""
_LEAST = 0.3
_FEW = 8
_LONGEST = 16
"""The most tokens from one size of a condition to the other, and the most members in a statement."""


def edits_of(text: str, most: int = MOST_EDITS, lines: Sequence[int] = ()) -> Edits:
    """Return at most `most` edits of a file, none of a file larger than LARGEST. `lines` are those that evidence
    names."""
    if len(text) > LARGEST:
        return Edits(edits=[])
    words, breaks = code_words(text), [match.start() for match in re.finditer("\n", text)]

    def line_of(place: int) -> int:
        return bisect_left(breaks, place) + 1

    near = _nearness(words, lines)
    drafts = (
        draft._replace(weight=max(_LEAST, draft.weight - near.get(line_of(draft.start), -_ELSEWHERE if near else 0)))
        for draft in _drafts(words, text))
    # Edits that differ in spaces alone make the same program.
    return edits_in_order(text, drafts, most, line_of, lambda changed: "".join(changed.split()))


def _nearness(words: Sequence[CodeWord], lines: Sequence[int]) -> dict[int, float]:
    """Return the discount on edits' weights by line number: for lines that evidence names, for lines that set a name
    used there, and 0 for the others of the functions around them."""
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
    # A device function may hold the mistake, whichever kernel calls it.
    helpers = [body for body in (words[first:last + 1] for first, last in _bodies(words))
               if found and any(word.text == "__device__" for word in body[:8])]
    return {word.line: -_ELSEWHERE / 2 for body in helpers for word in body} | found


def _bodies(words: Sequence[CodeWord]) -> Iterator[tuple[int, int]]:
    """Yield the indices of the first and the last token of each definition at the outermost level: its head and its
    braces."""
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


def _drafts(words: Sequence[CodeWord], text: str) -> Iterator[Draft]:
    wide, trees = widths(words), halving(words)
    counted, staged, constants = counts(words, wide), stage_uses(words), constants_of(words, text)
    bodies = [words[first : last + 1] for first, last in _bodies(words)]
    yield from passed({_name(body): body for body in bodies}, _LEAST - _ELSEWHERE)
    reduce = frozenset(_name(body) for body in bodies if reducing(body))
    for body in bodies:
        kernel = any(word.text in ("__global__", "__device__") for word in body[:8])
        # In host code these edits, and `max` for `min`, may launch more or larger blocks, which only hides a kernel's
        # fault.
        yield from (draft._replace(workaround=not kernel) for draft in chain(_signs(body), _numbers(body)))
        yield from _axes(body)
        yield from _names(body)
        yield from _quotients(body)
        yield from (draft._replace(workaround=draft.workaround and not kernel) for draft in _functions(body))
        yield from (_kernel(body) if kernel else _host(body, text))
        yield from tails(body, counted)
        yield from vectors(body, wide, kernel=kernel)
        yield from ends(body, text)
        yield from counting(body, text, constants, kernel=kernel)
        if kernel:
            yield from _members(body)
            yield from sides(body)
            yield from _factors(body, text)
            yield from resets(body, text)
            yield from again(body)
            yield from updated_early(body, text)
            yield from warps(body, reduce)
            yield from indices(body, staged)
            continue
        yield from turned(body, text, _LEAST - _ELSEWHERE)
        yield from powers_of_two(body) if trees else ()
        yield from whole_warps(body) if reduce else ()


def _name(body: Sequence[CodeWord]) -> str:
    """Return the name of a definition."""
    return next((name.text for name, after in pairwise(body) if after.text == "(" and name.text != "__launch_bounds__"),
                "")


def _instead(kind: EditKind, weight: float, word: CodeWord, text: str) -> Draft:
    return Draft(kind, weight, (put(word, text),))


def _signs(body: Sequence[CodeWord]) -> Iterator[Draft]:
    """Yield edits of comparisons and operators."""
    templates = _templates(body)
    for at in range(1, len(body) - 1):
        word, between = body[at], _OPERAND.match(body[at - 1].text[-1:])
        if word.text in _COMPARISONS and at not in templates:
            for other, weight in _COMPARISONS[word.text]:
                yield _instead("comparison", weight, word, other)
        # A sign after an operand has two operands: `*input` and `-x` have one.
        elif word.text in _OPERATORS and between and body[at - 1].text not in _BEFORE_ONE:
            for other, weight in _OPERATORS[word.text]:
                if other == "%" and body[at + 1].text == "sizeof":
                    # The remainder of two `sizeof` is 0, and a division by 0 may give anything.
                    continue
                yield _instead("operator", weight, word, other)


def _templates(body: Sequence[CodeWord]) -> set[int]:
    """Return the indices of `<` and `>` that enclose arguments of a template."""
    found: set[int] = set()
    for at, word in enumerate(body):
        if word.text != "<" or not body[at - 1].text.isidentifier():
            continue
        for end in range(at + 1, min(at + 16, len(body))):
            if body[end].text in (";", "{", "&&", "||", ")"):
                break
            if body[end].text == ">":
                # Nobody means `a < b > c` as two comparisons.
                found |= {at, end}
                break
    return found


def _axes(body: Sequence[CodeWord]) -> Iterator[Draft]:
    """Yield edits that exchange `.x` and `.y`: one, all of a statement, all of a name, and all of the definition."""
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
            yield Draft("axis", 1.2, tuple(put(body[at], swapped[at]) for at in group))


def _members(body: Sequence[CodeWord]) -> Iterator[Draft]:
    """Yield edits that take another member of a vector in a statement: a member that occurs once beside a single other
    becomes that one, and one of the most frequent members becomes one of the least frequent."""
    for statement in statements(body):
        yield from _odd([word for before, dot, word in zip(statement, statement[1:], statement[2:], strict=False)
                         if word.text in _MEMBERS and dot.text in (".", "->") and before.text not in (*_PLACES, ")")])


def _odd(found: Sequence[CodeWord]) -> Iterator[Draft]:
    count = Counter(word.text for word in found)
    if len(count) < 2 or len(found) > _LONGEST:
        return
    # A vector of four has `z` and `w`; other vectors have two members.
    of = _MEMBERS[:4 if {"z", "w"} & {*count} else 2]
    least, most = min(count[one] for one in of), max(count.values())
    for word in found:
        others = [one for one in of if one != word.text]
        if len(count) == 2 and count[word.text] == 1:
            yield from (_instead("member", 0.7, word, one) for one in others if count[one])
        elif count[word.text] == most > least and (len(count) > 2 or len(of) == 2):
            yield from (_instead("member", 1.0, word, one) for one in others if count[one] == least)


def _factors(body: Sequence[CodeWord], text: str) -> Iterator[Draft]:
    """Yield edits that multiply or divide a returned value by one of the function's last floating-point variables."""
    names = [name.text for before, name, sign in zip(body, body[1:], body[2:], strict=False)
             if before.text in _FLOATS and sign.text == "="][-_FEW // 2:]
    ends = [at for at, word in enumerate(body) if word.text == ";"]
    for at, word in enumerate(body):
        if word.text == "return" and (end := next((one for one in ends if one > at), 0)) > at + 1:
            value = text[body[at + 1].start:body[end - 1].end]
            value = value if end == at + 2 else f"({value})"
            for name in names:
                for sign, weight in (("*", 1.0), ("/", 1.2)):
                    yield Draft("factor", weight, (
                        Change(body[at + 1].start, body[end - 1].end, f"{value} {sign} {name}"),))


def _names(body: Sequence[CodeWord]) -> Iterator[Draft]:
    """Yield edits that replace a size by another, exchange two sizes in a statement, or exchange adjacent arguments."""
    head = next((at for at, word in enumerate(body) if word.text == "{"), 0)
    sizes = sizes_of(body)
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
            yield Draft("order", 1.7, (put(one, other.text), put(other, one.text)))


def _quotients(body: Sequence[CodeWord]) -> Iterator[Draft]:
    """Yield edits that exchange a quotient and a remainder of the same two operands in a statement."""
    signs = dict[tuple[str, str], list[CodeWord]]()
    for at in range(1, len(body) - 1):
        if body[at].text in BREAKS:
            signs = {}
        elif body[at].text in ("/", "%") and body[at - 1].text.isidentifier():
            known = signs.setdefault((body[at - 1].text, body[at + 1].text), [])
            known.append(body[at])
            if len(known) < _FEW and {word.text for word in known} == {"/", "%"}:
                yield Draft("operator", 0.9, [put(word, "%" if word.text == "/" else "/") for word in known])


def _exchanged(body: Sequence[CodeWord], sizes: Sequence[str]) -> Iterator[Draft]:
    """Yield edits that exchange two sizes: in a condition that compares with both, in a statement, and in a line, which
    may hold a condition and another statement."""
    limits = [at for at in range(1, len(body) - 1) if body[at].text in sizes and body[at - 1].text in ("<", ">=")
              and body[at + 1].text in (")", "&&", "||", "?", ";")]
    for first, second in pairwise(limits):
        apart = body[first].text != body[second].text and second - first < _LONGEST
        if apart and not any(word.text in BREAKS for word in body[first:second]):
            yield Draft("exchanged", 1.0, (put(body[first], body[second].text), put(body[second], body[first].text)))
    groups: dict[tuple[str, int], list[CodeWord]] = {}
    number = 0
    for word in body:
        number += word.text in BREAKS
        if word.text in sizes:
            for group in (("statement", number), ("line", word.line)):
                groups.setdefault(group, []).append(word)
    for found in groups.values():
        names = sorted({word.text for word in found})
        if len(names) == len(_AXES):
            other = {names[0]: names[1], names[1]: names[0]}
            yield Draft("exchanged", 1.3, tuple(put(word, other[word.text]) for word in found))


def _numbers(body: Sequence[CodeWord]) -> Iterator[Draft]:
    """Yield edits of integers: other values, and a float where the integer is divided."""
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


def _functions(body: Sequence[CodeWord]) -> Iterator[Draft]:
    for word in body:
        for other in _FUNCTIONS.get(word.text, ()):
            yield Draft("function", 1.1, (put(word, other),), workaround=word.text in ("min", "max"))
        if word.text in _LAYOUTS:
            yield _instead("order", 0.7, word, _LAYOUTS[word.text])
        if word.text in _INFINITE:
            # Infinity minus infinity is NaN: the largest float is not.
            yield _instead("start", 0.9, word, "3.402823466e38f")
        if word.text in _NARROW:
            yield _instead("type", 1.6, word, _NARROW[word.text])


def _kernel(body: Sequence[CodeWord]) -> Iterator[Draft]:
    """Yield edits of barriers, of a `return` in a kernel with shared memory, of initial values, and of sums that need
    an atomic."""
    shared = set(shared_arrays(body))
    for *statement, word in statements(body):
        if word.text == "}" and shared:
            # A barrier before the next iteration of a loop.
            yield Draft("barrier", 1.6, (insert(word.start, "__syncthreads(); "),))
        if word.text != ";" or not statement:
            continue
        texts = [one.text for one in statement]
        if texts == ["__syncthreads", "(", ")"]:
            yield Draft("barrier", 2.2, (Change(statement[0].start, word.start, ""),))
        sign = next((at for at, one in enumerate(texts) if one in ("=", "+=", "-=")), 0)
        if shared.intersection(texts[:sign]) and texts[0] != "__shared__":
            yield Draft("barrier", 1.0, (insert(word.end, " __syncthreads();"),))
        if texts[-1] == "return" and shared:
            yield Draft("extra", 1.8, (put(statement[-1], ""),))
        if texts[0] in ("float", "half", "int", "double") and len(texts) > 1 and "=" not in texts:
            yield Draft("start", 1.0, (insert(word.start, " = {}" if "[" in texts else " = 0"),))
        if "+=" in texts and texts[0].isidentifier():
            yield Draft("function", 1.8, (
                insert(statement[0].start, "atomicAdd(&"), put(statement[sign], ","), insert(word.start, ")")))


def _host(body: Sequence[CodeWord], text: str) -> Iterator[Draft]:
    """Yield edits of host code: grids rounded up, arguments of `dim3` exchanged, and the choice of a path."""
    for at in range(1, len(body) - 3):
        above, sign, below = body[at : at + 3]
        if sign.text == "/" and _OPERAND.match(below.text) and above.text.isidentifier():
            yield Draft("rounding", 0.9, (
                insert(above.start, "("), insert(above.end, f" + {below.text} - 1)")))
        # A path of whole vectors: a file may take it for sizes that are large enough, but not multiples of the
        # vector's.
        if sign.text in (">", ">=") and body[at - 1].text in ("(", "&&") and body[at + 3].text in (")", "&&"):
            yield Draft("comparison", 1.0, (put(sign, "%"), insert(below.end, " == 0")))
    texts = [word.text for word in body]
    for at in (at for at, sign in enumerate(texts) if sign == "dim3"):
        # `dim3 grid(a, b)` and `dim3(a, b)`.
        start = next((place for place in range(at, min(at + 3, len(texts))) if texts[place] == "("), 0)
        if start and len(sizes := arguments(texts, start)) > 1:
            yield Draft("grid", 0.4, swap(body, text, *sizes[:2]))
