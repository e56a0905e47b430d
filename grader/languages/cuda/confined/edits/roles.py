"""Roles of tokens in a definition, conditions of rows, and words in capitals."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise

from grader.languages.cuda.confined.edits.matching import LONGEST, Body, Condition, TokenMatch, Words, find_matches
from grader.languages.cuda.shared import shared_arrays
from grader.languages.cuda.source import BREAKS

WHOLE = frozenset({"int", "unsigned", "long", "size_t", "uint32_t", "int32_t"})
_VECTOR = re.compile(r"(?:u?(?:int|char|short|long)|float|double|__half|half|__nv_bfloat16)([248])")
_HALF = frozenset({"half", "__half"})
_THREADS = re.compile(r"\d+|[A-Z][A-Z\d_]*|(?i:t|tpb|block|.*threads.*|block_?(size|dim).*)")
"""Pattern of a launch's first size that looks like the block's."""
_REDUCES = ("__shfl", "__reduce_")
_STORES = frozenset({"=", "+=", "-="})
_FEW = 3
_DEFINED = re.compile(r"^[ \t]*+#[ \t]*+define[ \t]++([A-Z][A-Z\d_]++)[ \t]++([^\n]*+)", re.MULTILINE)


# Roles.

def bound(*patterns: str) -> Callable[[Body], dict[str, None]]:
    """Return a role: the texts of the variable `n` in the matches of patterns."""
    return lambda body: dict.fromkeys(match["n"] for pattern in patterns for match in find_matches(pattern, body))


def _sizes(body: Body) -> list[str]:
    """Return the parameters of a function that are integers."""
    return [name for type_, name in pairwise(body.texts[:body.head])
            if type_ in WHOLE and name.isidentifier() and name not in (*WHOLE, "char", "short")]


def _vectors(body: Body) -> list[str]:
    """Return the numbers of elements that vectors of a file have: the two largest at most."""
    wide = {match[1] for text in body.texts if (match := _VECTOR.fullmatch(text))}
    if "4" in wide and not _HALF.isdisjoint(body.texts):
        # A vector of 16 bytes holds 8 halves.
        wide.add("8")
    return sorted(wide, reverse=True)[:2]


def _counted(body: Body) -> dict[str, str]:
    """Return the names that count vectors, with the number of a vector's elements: `quads = n / 4`."""
    return {match["n"]: width for width in body["vector"]
            for match in find_matches(f"n_name = a... / {width} {{; ,}}", body) if "=" not in match.texts("a")}


def _constants(body: Body) -> list[str]:
    """Return the names in capitals that a file assigns to, or defines as macros without a decimal point."""
    defined = [match[1] for match in _DEFINED.finditer(body.text) if "." not in match[2].partition("//")[0]]
    return list(dict.fromkeys(defined + [
        name for name, sign in pairwise(body.texts) if sign == "=" and name.isupper() and len(name) > 1]))


def definitions(file: Body) -> Iterator[Body]:
    """Yield the definitions at a file's outermost level: their heads and braces."""
    depth, begin = 0, 0
    for at, text in enumerate(file.texts):
        depth += (text == "{") - (text == "}" and depth > 0)
        if not depth and text in BREAKS:
            if text == "}":
                yield Body(file.words[begin:at + 1], file.text, ROLES, file)
            begin = at + 1


def _reducing(body: Body) -> set[str]:
    """Return the functions of a file that reduce over a warp."""
    return {function.name for function in definitions(body)
            if any(text.startswith(_REDUCES) for text in function.texts)}


def _shuffles(body: Body) -> list[str]:
    """Return the shuffles of a definition that give a sum to the first lane alone, if no test of that lane follows the
    last one."""
    downs = [at for at, text in enumerate(body.texts) if text == "__shfl_down_sync"]
    first = (("==", "0"), ("!", "lane"))
    return [] if not downs or any(pair in first for pair in pairwise(body.texts[downs[-1]:])) else ["__shfl_down_sync"]


def _axes(body: Body) -> list[str]:
    """Return both axes, if the definition uses both."""
    used = {match["a"] for match in find_matches("p_place . a", body)} & {"x", "y"}
    return sorted(used) if len(used) > 1 else []


def _counters(body: Body) -> set[str]:
    """Return the variables of loops that count from 0 to a bound which is no size."""
    return {match["n"] for step in ("++ n", "n ++")
            for match in find_matches(f"for ( a n_name = 0; n {{< <= !=}} b ; {step}", body)
            if match["b"] not in body["size"]}


def _templates(body: Body) -> set[int]:
    """Return the indices of `<` and `>` that enclose arguments of a template: nobody means `a < b > c` as two
    comparisons."""
    return {at for match in find_matches("a_name < b... >", body) if {"&&", "||"}.isdisjoint(match.texts("b"))
            for at in (match.parts["<"][0], match.parts[">"][0])}


def _of_file(role: str, texts: Callable[[Body], object]) -> Callable[[Body], object]:
    """Return a role that tokens have throughout a file."""
    return lambda body: texts(body) if body is body.file else body.file[role]


_ENDS = "{; , )}"
_SPELLED: Mapping[str, object] = {
    "name": re.compile(r"[A-Za-z_]\w*"), "word": re.compile(r"\w+"), "bit": re.compile(r"[01][uUlL]*"),
    "number": re.compile(r"(?![01][uUlL]*$)\d{1,6}[uUlL]*"),
    "operand": re.compile(r"(?!(?:return|float|half|__half|int|char|void|double|unsigned)$)(?:.*\w|[)\]])"),
    "atomic": re.compile(r"atomic\w*"), "warp": frozenset({"32", "32u", "32U", "warpSize", "WARP_SIZE", "WARP"}),
    "place": frozenset({"threadIdx", "blockIdx", "blockDim", "gridDim"}),
}
ROLES: Mapping[str, Callable[[Body], object]] = {
    **{role: lambda body, texts=texts: texts for role, texts in _SPELLED.items()},  # type: ignore[misc]
    **{role: _of_file(role, texts) for role, texts in (
        ("vector", _vectors), ("counted", _counted), ("constant", _constants), ("reducing", _reducing))},
    "size": _sizes, "shared": lambda body: shared_arrays(body.words), "counter": _counters,
    "template": _templates, "shuffles": _shuffles,
    "own": bound(f"n_name = threadIdx.x {_ENDS}"),
    "thread": bound(f"n_name = threadIdx.x {_ENDS}", f"n_name = a_own {_ENDS}"),
    "lane": bound(*(f"n_name = {thread} {by} {_ENDS}" for thread in ("threadIdx.x", "a_thread")
                    for by in ("% w_warp", "& {31 31u}"))),
    "halved": bound("n_name /= 2", "n_name >>= 1"), "count": bound("n_name = a_atomic"),
    "float": bound("{float double half __half auto} n_name ="),
    "local": bound("{float double half __half auto int unsigned} n_name =", ", n_name ="),
    "block": bound("blockIdx.x * n_name"),
    "factor": lambda body: dict.fromkeys(
        "".join(match.texts("f")) for before in ("", "b... * ")
        for match in find_matches(f"blockIdx . a_name * {before}f... {{* + - ; , )}}", body)),
    "index": bound("n = threadIdx"), "shape": bound("dim3 n_name"), "step": bound("/ n_warp", "n >> 5"),
    "axes": _axes, "wide": lambda body: list(filter(_VECTOR.fullmatch, body.texts)),
    "reduces": lambda body: [text for text in body.texts
                             if text.startswith(_REDUCES) or text in body.file["reducing"]],
    "sized": lambda body: {
        match["n"] for match in find_matches("n_name = a... ;", body) if "sizeof" in match.texts("a")},
    "total": lambda body: {*body["size"], *body["constant"]},
}


# Conditions.

def is_(part: str, *texts: str) -> Condition:
    """Return a condition: a part begins with one of these tokens."""
    return lambda match: match[part] in texts


def has(part: str, *texts: str) -> Condition:
    """Return a condition: one of these tokens is in a part."""
    return lambda match: not set(texts).isdisjoint(match.texts(part))


def any_(role: str) -> Condition:
    """Return a condition: something in the definition has a role."""
    return lambda match: bool(match.body[role])


def in_body(match: TokenMatch) -> bool:
    return match.parts["it"][0] >= match.body.head


def in_template(match: TokenMatch) -> bool:
    return match.parts["it"][0] in match.body["template"]


def stores(match: TokenMatch) -> bool:
    """Return whether no earlier sign of the statement stores, and it declares nothing."""
    return _STORES.isdisjoint(match.before) and "__shared__" not in match.before


def in_memory(match: TokenMatch) -> bool:
    """Return whether other threads may add to `n`, too."""
    own = match["n"] in match.body["local"] and match.body.texts[match.parts["n"][1]] == "+="
    return not own and match["n"] not in ("if", "for", "while")


def updated_early(match: TokenMatch) -> bool:
    """Return whether the value of `d` uses both `m` and what was put there."""
    return {match["m"], match["n"]} <= {*match.texts("v")} and match["d"] not in (match["m"], match["n"])


def launched(match: TokenMatch) -> bool:
    """Return whether a match lies behind a launch's `>>>`, in its statement."""
    return ">>>" in match.before


def trees(match: TokenMatch) -> bool:
    """Return whether a tree reduction, which halves the number of threads in each step, is in the file."""
    return bool(match.body.file["halved"])


def block_first(match: TokenMatch) -> bool:
    """Return whether a launch's first size looks like the block's."""
    first = match.texts("a")
    return len(first) == 1 and _THREADS.fullmatch(first[0]) is not None


def variable_block(match: TokenMatch) -> bool:
    """Return whether a variable decides the number of threads `b`: a name in capitals is a constant."""
    size = match.texts("b")
    return bool(match.body["reducing"]) and any(word.isidentifier() and not word.isupper() for word in size) and (
        "dim3" not in size and not any(word in match.body["shape"] for word in size))


def is_total(match: TokenMatch) -> bool:
    """Return whether 1 may be subtracted from a total that is compared: it is no number, and nothing is subtracted."""
    return match.texts("it")[-1] != "-" and not match["b"].isdigit()


def last(part: str, text: str) -> Condition:
    return lambda match: match.texts(part)[-1] == text


def called(match: TokenMatch) -> bool:
    """Return whether `a` is a function that is called."""
    return match["a"].isidentifier() and match["a"] != "return"


def compared(match: TokenMatch) -> bool:
    """Return whether a comparison follows in the index or statement."""
    end = match.parts["it"][1]
    rest = match.body.texts[end:end + LONGEST // 2]
    rest = rest[:next((at for at, text in enumerate(rest) if text in (";", "]")), len(rest))]
    return not {"<", ">", "<=", ">=", "==", "?"}.isdisjoint(rest)


def counts_elements(match: TokenMatch) -> bool:
    """Return whether `b` counts elements, as far as its text shows."""
    return not any(text == "sizeof" or text in match.body["sized"] for text in match.texts("b"))


# Words in capitals.

def _numbers(match: TokenMatch) -> list[str]:
    """Return numbers that may be meant in place of `n`."""
    value = int(re.sub(r"\D", "", match["n"]))
    others = {0: (1,), 1: (0, 2)}.get(value, (value - 1, value + 1))
    if value > 1 and value & (value - 1) == 0:
        others = (2 * value, value // 2, value - 1, value + 1)
    return [str(number) for number in others]


def _near(match: TokenMatch) -> list[str]:
    """Return the nearest constants in the order of the file."""
    constants = match.body["constant"]
    own = constants.index(match["n"])
    return [constants[at] for at in (own - 1, own + 1, own - 2, own + 2) if 0 <= at < len(constants)][:_FEW - 1]


def _lengths(match: TokenMatch) -> list[str]:
    """Return the factors in the address of a fragment, one of which may be its row length."""
    known = {match["l"], *(name for sign, name in pairwise(match.texts("it")) if sign == "[")}
    return [name for sign, name in pairwise((*match.texts("a"), ",", *match.texts("b")))
            if sign == "*" and name.isidentifier() and name not in known]


WORDS: Words = {
    "SIZE": lambda match: [size for size in match.body["size"] if size != match["n"]][:2],
    "NUMBER": _numbers, "NEAR": _near,
    "FLOAT": lambda match: [re.sub(r"\D", "", match["n"]) + ".0f"],
    "COUNT": lambda match: [match.body["counted"][match["n"]]],
    "WIDTH": lambda match: match.body["vector"],
    "LAST": lambda match: list(match.body["float"])[-4:],
    "FACTOR": lambda match: list(dict.fromkeys([*match.body["factor"], "blockDim.x"]))[:_FEW],
    "BLOCK": lambda match: ["blockDim.x" if factor == "blockDim" else factor for factor in match.body["block"]][:2],
    "LENGTH": _lengths, "POINTER": lambda match: [match.texts("t")[-1]],
}
