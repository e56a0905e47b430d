"""Edits of a kernel in CUDA C++ whose threads work together, in warps and in blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from grader.languages.cuda.source import CodeWord, arguments, insert, put
from grader.languages.drafts import Change, Draft

_REDUCES = ("__shfl", "__reduce_")
_SIZES = frozenset({"32", "32u", "32U", "warpSize", "WARP_SIZE", "WARP"})
_OF_A_LANE = frozenset({("%", size) for size in _SIZES} | {("&", "31"), ("&", "31u")})
_OF_A_WARP = frozenset({("/", size) for size in _SIZES} | {(">>", "5")})
_ENDS = frozenset({";", ",", ")"})
_HALVES = frozenset({("/=", "2"), (">>=", "1")})
_THREAD, _GRID = ("threadIdx", ".", "x"), ("gridDim", ".", "x")


def warps(body: Sequence[CodeWord], functions: frozenset[str]) -> Iterator[Draft]:
    """Yield the edits of a kernel. `functions` are those of the file that reduce over a warp."""
    texts = [word.text for word in body]
    yield from _for_all_lanes(body, texts)
    if any(text.startswith(_REDUCES) or text in functions for text in texts):
        yield from _first_threads(body, texts)
    yield from _steps(body, texts)
    yield from _trees(body, texts)


def reducing(words: Sequence[CodeWord]) -> bool:
    """Return whether these tokens hold a reduction over a warp."""
    return any(word.text.startswith(_REDUCES) for word in words)


def halving(words: Sequence[CodeWord]) -> bool:
    """Return whether these tokens hold a tree reduction, which halves the number of threads in each step."""
    return any((sign.text, by.text) in _HALVES for sign, by in pairwise(words))


def powers_of_two(body: Sequence[CodeWord]) -> Iterator[Draft]:
    """Yield edits that double a number of threads instead of adding a warp, where tree reductions need a power of
    two."""
    for sign, by in pairwise(body):
        if sign.text == "+=" and by.text in _SIZES:
            yield Draft("operator", 0.4, (put(sign, "*="), put(by, "2")))


def whole_warps(body: Sequence[CodeWord]) -> Iterator[Draft]:
    """Yield edits that round a block's number of threads up to whole warps, if a variable decides the number."""
    texts = [word.text for word in body]
    shapes = {texts[at + 1] for at in range(len(texts) - 1) if texts[at] == "dim3"}
    for at, text in enumerate(texts):
        if text != "<<<" or len(sizes := arguments(texts, at)) < 2:
            continue
        first, end = sizes[1]
        # A name in capitals is a constant.
        if any(one.isidentifier() and not one.isupper() for one in texts[first:end]) and (
                not shapes.intersection(texts[first:end]) and "dim3" not in texts[first:end]):
            yield Draft("block", 0.4, (insert(body[first].start, "("), insert(body[end - 1].end, " + 31) / 32 * 32")))


def _trees(body: Sequence[CodeWord], texts: Sequence[str]) -> Iterator[Draft]:
    """Yield edits of a tree reduction that may stop a step too early: `>` becomes `>=`."""
    halved = {texts[at] for at in range(len(texts) - 2) if (texts[at + 1], texts[at + 2]) in _HALVES}
    for at in range(1, len(texts) - 2):
        if texts[at] == ">" and texts[at - 1] in halved and texts[at + 1] != "0" and texts[at + 2] in (";", ")"):
            yield Draft("comparison", 0.4, (put(body[at], ">="),))


def _for_all_lanes(body: Sequence[CodeWord], texts: Sequence[str]) -> Iterator[Draft]:
    """Yield edits of shuffles that give a sum to the first lane alone, though all lanes may use it: all at once, and
    one by one."""
    downs = [at for at, text in enumerate(texts) if text == "__shfl_down_sync"]
    if not downs or any(pair in (("==", "0"), ("!", "lane")) for pair in pairwise(texts[downs[-1]:])):
        return
    changes = [put(body[at], "__shfl_xor_sync") for at in downs]
    for some in [changes, *([change] for change in changes)]:
        yield Draft("function", 0.4, some)


def _first_threads(body: Sequence[CodeWord], texts: Sequence[str]) -> Iterator[Draft]:
    """Yield edits that put the first thread of the block in place of the first of each warp, and the other way
    round."""
    called = _called(texts)
    for at in range(5, len(body) - 1):
        if texts[at:at + 2] != ["==", "0"]:
            continue
        last = at - 1 - (texts[at - 1] == ")")
        if tuple(texts[last - 1:last + 1]) in _OF_A_LANE:
            yield Draft("extra", 0.5, (Change(body[last - 2].end, body[last].end, ""),))
        elif tuple(texts[at - 3:at]) == _THREAD or called.get(texts[at - 1]) == "thread":
            yield Draft("missing", 0.5, (insert(body[at - 1].end, " % 32"),))
        elif called.get(texts[at - 1]) == "lane":
            yield Draft("name", 0.5, (put(body[at - 1], "threadIdx.x"),))


def _called(texts: Sequence[str]) -> Mapping[str, str]:
    """Return the names that the kernel has for the index of a thread, and of its lane."""
    found = dict[str, str]()
    for at in range(1, len(texts) - 6):
        if texts[at] != "=":
            continue
        thread = tuple(texts[at + 1:at + 4]) == _THREAD
        if thread or found.get(texts[at + 1]) == "thread":
            sign, by, after = texts[at + 2 + 2 * thread:at + 5 + 2 * thread]
            if sign in _ENDS:
                found[texts[at - 1]] = "thread"
            elif (sign, by) in _OF_A_LANE and after in _ENDS:
                found[texts[at - 1]] = "lane"
    return found


def _steps(body: Sequence[CodeWord], texts: Sequence[str]) -> Iterator[Draft]:
    """Yield edits of a loop's step: it counts warps in place of threads, or threads in place of warps, or gets a factor
    that the loop's start has."""
    by_warp = any(pair in _OF_A_WARP for pair in pairwise(texts))
    of_blocks = {texts[at + 4]: None for at in range(len(texts) - 5)
                 if texts[at:at + 4] == ["blockIdx", ".", "x", "*"] and texts[at + 4].isidentifier()}
    for at in range(3, len(texts) - 6):
        if tuple(texts[at:at + 3]) != _GRID:
            continue
        last = _product(texts, at)
        if last and (texts[last + 1], texts[last + 2]) in _OF_A_WARP:
            yield Draft("extra", 0.7, (Change(body[last].end, body[last + 2].end, ""),))
        elif last and by_warp and texts[last + 1] in _ENDS:
            yield Draft("factor", 0.6, (insert(body[last].end, " / 32"),))
        elif texts[at - 1] == "+=" and texts[at + 3] in _ENDS:
            for factor in list(of_blocks)[:2]:
                more = " * blockDim.x" if factor == "blockDim" else f" * {factor}"
                yield Draft("missing", 0.7, (insert(body[at + 2].end, more),))


def _product(texts: Sequence[str], at: int) -> int:
    """Return the index of the last token of a product of `gridDim.x` and a block's threads, 0 where there is none."""
    # `size_t(gridDim.x) * blockDim.x`, and `(gridDim.x * blockDim.x)`.
    cast = (texts[at - 1], texts[at + 3]) == ("(", ")")
    last = at + 2 + cast
    if texts[last + 1] == "*" and texts[last + 2].isidentifier():
        last += 2 + 2 * (texts[last + 2] == "blockDim")
        return last if last + 2 < len(texts) else 0
    # `blockDim.x * gridDim.x`, and `THREADS * gridDim.x`.
    before = at - 1 - cast * (1 + texts[at - 2].isidentifier())
    return last if texts[before] == "*" else 0
