"""Attention of each head without scores in memory: two products, and a softmax that goes along with them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import torch
from torch import Tensor

from grader.kit.author import (
    EPS32,
    SMALLEST16,
    Baseline,
    Case,
    Distribution,
    Fixed,
    Input,
    Inputs,
    Mistake,
    Number,
    Output,
    Scalar,
    Spread,
    assignment,
    cases,
    eps,
    mistakes,
    timed,
)

TILES = (16, 32, 64, 128)
"""Blocks of keys that mistaken sums are made of."""
ROWS = 64
"""Secret queries of each timed call that are compared."""
BFLOAT16 = dict.fromkeys(("q", "k", "v", "out"), "bfloat16")
WIDTHS = (64, 128)

Weights = Callable[[Tensor], Tensor | None]
"""Scores, already masked, to the weights that a mistaken kernel gives the values; None where they are right."""


def oracle(q: Tensor, k: Tensor, v: Tensor, causal: bool, scale: float) -> tuple[Tensor, Tensor]:
    """The right out, of shape (B, H, S, D), and lse, (B, H, S)."""
    scores = _scores(q, k, causal, scale)
    return torch.softmax(scores, dim=-1) @ v.double(), torch.logsumexp(scores, dim=-1)


def distributions(case: Case) -> Mapping[str, Distribution]:
    """Queries and keys have a scale of their own in each row; in "extreme" cases scores lie some hundreds apart."""
    values = case.values.split("-")
    # Of D products the score has a deviation of about 1, and of 40 in "extreme" cases, where exp overflows.
    size = 6.0 if "extreme" in values else 1.0
    rows = Spread(scale=(0.7 * size, 1.4 * size), offset=0.25)
    middle = case.sizes["D"] ** -0.5
    return {"q": rows, "k": rows, "v": Spread(scale=(0.5, 2.0), offset=1.0), "causal": Fixed("causal" in values),
            "scale": Number(0.7 * middle, 1.4 * middle)}


def out_tolerance(inputs: Inputs, expected: Tensor) -> Tensor:
    """The absolute error allowed for each element of out."""
    q, k, v = inputs["q"], inputs["k"], inputs["v"]
    weights = torch.softmax(_scores(q, k, inputs["causal"], inputs["scale"]), dim=-1)
    return _out_allowed(weights, v, expected, _score_error(q, k, inputs["scale"]))


def lse_tolerance(inputs: Inputs, expected: Tensor) -> Tensor:
    """The absolute error allowed for each lse."""
    q, k = inputs["q"], inputs["k"]
    scores = _scores(q, k, inputs["causal"], inputs["scale"])
    return _lse_allowed(scores, expected, _score_error(q, k, inputs["scale"]))


def _out_allowed(weights: Tensor, v: Tensor, expected: Tensor, error: Tensor) -> Tensor:
    """`weights` (…, rows, S) and `error` (…, rows) are those of the rows of `expected`, (…, rows, D)."""
    unit, wide = eps(v.dtype), v.double()
    # For the second product weights are rounded to v's dtype, by up to unit/2 each, at random, and queries perhaps,
    # once they are scaled, which is as much again: together unit/2 of √Σ(weight · v)², which is allowed four times: a
    # sum of many goes beyond its deviation. Weights below what fp16 holds lose 2⁻²⁵ each. Then the answer is rounded.
    rounded = 2 * unit * torch.sqrt(weights.square() @ wide.square())
    lost = SMALLEST16 * torch.linalg.vector_norm(wide, dim=-2, keepdim=True) if v.dtype == torch.float16 else 0
    # A score that is off by e makes its weight off by e of itself, and the sum of weights as well.
    moved = 2 * error[..., None] * (weights @ wide.abs())
    return rounded + lost + moved + unit * expected.abs() + SMALLEST16


def _lse_allowed(scores: Tensor, expected: Tensor, error: Tensor) -> Tensor:
    top = scores.amax(dim=-1)
    # As of a cross entropy: exp2 of a product that is rounded twice, a sum that errs by √n/2 units in the worst order,
    # a logarithm, and the sum with the maximum; and the errors of the scores.
    shares = torch.softmax(scores, dim=-1)
    argument = (shares * (top[..., None] - scores).nan_to_num(posinf=0.0)).sum(dim=-1)
    size = 8 + math.sqrt(scores.shape[-1]) / 2 + 3 * argument + 2 * top.abs() + 2 * expected.abs()
    return EPS32 * size + error


def _score_error(q: Tensor, k: Tensor, scale: float | Tensor) -> Tensor:
    """The error allowed for the scores of each query, (…, rows)."""
    # As of a matrix product in fp16 (grader.kit.products): D products of random signs, added in float32, which tensor
    # cores truncate.
    lengths = torch.linalg.vector_norm(q.double(), dim=-1) * torch.linalg.vector_norm(k.double(), dim=-1).amax(
        dim=-1, keepdim=True)
    return EPS32 * (4 + math.sqrt(q.shape[-1]) / 16) * scale * lengths


def _scores(q: Tensor, k: Tensor, causal: bool, scale: float, diagonal: int = 1) -> Tensor:
    scores: Tensor = (q.double() @ k.double().transpose(-1, -2)) * scale
    return _masked(scores, diagonal) if causal else scores


def _masked(scores: Tensor, diagonal: int = 1, value: float = -math.inf) -> Tensor:
    hidden = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(diagonal)
    return scores.masked_fill(hidden, value)


def spot_check(
    which: int,
) -> Callable[[Sequence[Inputs], torch.Generator], Callable[[Sequence[Inputs], Sequence[Tensor]], Tensor]]:
    """A check of output `which`, 0: out, 1: lse, at ROWS secret queries of one secret head of each call.

    Their right answers are computed before the calls, so that a kernel gains nothing by changing its inputs. NaN and
    infinity fail at any place. If a share p of the rows is wrong, n calls pass with probability (1 − p)^(n·ROWS) where
    wrong rows lie anywhere: 1e-14 for 1 % of 50 calls.
    """
    def prepare(
        inputs: Sequence[Inputs], generator: torch.Generator
    ) -> Callable[[Sequence[Inputs], Sequence[Tensor]], Tensor]:
        first = inputs[0]
        heads, (rows, _) = first["q"].shape[0] * first["q"].shape[1], first["q"].shape[2:]
        drawn = torch.randint(heads, (len(inputs),), generator=generator, device=generator.device).tolist()
        at = torch.randint(rows, (len(inputs), ROWS), generator=generator, device=generator.device)
        q, k, v = (torch.stack([call[name].flatten(0, 1)[head] for call, head in zip(inputs, drawn, strict=True)])
                   for name in ("q", "k", "v"))
        q = q.take_along_dim(at[..., None], dim=1)
        # All calls of a replay have the same numbers.
        causal, scale = first["causal"], first["scale"]
        scores = (q.double() @ k.double().transpose(-1, -2)) * scale
        if causal:
            scores.masked_fill_(torch.arange(rows, device=at.device) > at[..., None], -math.inf)
        error = _score_error(q, k, scale)
        if which == 0:
            weights = torch.softmax(scores, dim=-1)
            right = weights @ v.double()
            allowed = _out_allowed(weights, v, right, error)
        else:
            right = torch.logsumexp(scores, dim=-1)
            allowed = _lse_allowed(scores, right, error)

        def check(now: Sequence[Inputs], outputs: Sequence[Tensor]) -> Tensor:
            got = torch.stack([output.flatten(0, 1)[head][places]
                               for output, head, places in zip(outputs, drawn, at, strict=True)])
            worst = ((got.double() - right).abs() / allowed).flatten(1).amax(dim=1)
            # If an element is not finite, neither is the sum, and 0 times the sum is NaN.
            finite = 0 * torch.stack([output.sum(dtype=torch.float32) for output in outputs])
            return (worst + finite).nan_to_num(nan=math.inf, posinf=math.inf)

        return check

    return prepare


def _weighted(wrong: Weights) -> Callable[..., Tensor | None]:
    def answer(q: Tensor, k: Tensor, v: Tensor, causal: bool, scale: float) -> Tensor | None:
        weights = wrong(_scores(q, k, causal, scale))
        return None if weights is None else weights @ v.double()

    return answer


def _terms(scores: Tensor) -> Tensor:
    return torch.exp(scores - scores.amax(dim=-1, keepdim=True))


def _zeros_beyond(tile: int) -> Weights:
    """Keys beyond the end have scores of 0, and enter the sum as exp(0 − max), where the maximum is not below 0."""
    def weights(scores: Tensor) -> Tensor | None:
        missing = -scores.shape[-1] % tile
        top = scores.amax(dim=-1, keepdim=True)
        # Of a causal kernel they lie beyond the diagonal as well.
        if missing == 0 or bool(scores.isinf().any()) or bool((top < 0).any()):
            return None
        terms = _terms(scores)
        return terms / (terms.sum(dim=-1, keepdim=True) + missing * torch.exp(-top))

    return weights


def _by_tiles(tile: int, *, sums: bool, values: bool) -> Weights:
    """Tile by tile, with the maximum so far; the sum of weights, the weighted values, or neither are rescaled."""
    def weights(scores: Tensor) -> Tensor | None:
        if scores.shape[-1] <= tile:
            return None
        parts = list(scores.split(tile, dim=-1))
        tops = torch.stack([part.amax(dim=-1) for part in parts]).cummax(dim=0).values
        terms = [torch.exp(part - top[..., None]) for part, top in zip(parts, tops, strict=True)]
        later = [torch.exp(top - tops[-1])[..., None] for top in tops]
        # A maximum of −∞ so far: such a tile has no term, and nothing to rescale.
        scaled = [(term * by).nan_to_num() for term, by in zip(terms, later, strict=True)]
        terms = [term.nan_to_num() for term in terms]
        total = torch.cat(scaled if sums else terms, dim=-1).sum(dim=-1, keepdim=True)
        return torch.cat(scaled if values else terms, dim=-1) / total

    return weights


def _shrunk_late(tile: int) -> Weights:
    """The accumulator is rescaled after a tile was added, so that tile shrinks as well, and the first one to 0."""
    def weights(scores: Tensor) -> Tensor | None:
        if scores.shape[-1] <= tile:
            return None
        parts = list(scores.split(tile, dim=-1))
        tops = torch.stack([part.amax(dim=-1) for part in parts]).cummax(dim=0).values
        shrunk = [torch.zeros_like(tops[0]), *(torch.exp(old - new) for old, new in itertools.pairwise(tops))]
        by = torch.cat([one[..., None].expand(part.shape) for one, part in zip(shrunk, parts, strict=True)], dim=-1)
        return torch.softmax(scores, dim=-1) * by

    return weights


def _kept(part: Callable[[int, int], slice], tile: int) -> Weights:
    """Some tiles of keys are left out."""
    def weights(scores: Tensor) -> Tensor | None:
        at = part(scores.shape[-1], tile)
        left_out = torch.ones(scores.shape[-1], dtype=torch.bool, device=scores.device)
        left_out[at] = False
        remaining = scores.masked_fill(left_out, -math.inf)
        if not bool(left_out.any()) or bool(remaining.isinf().all(dim=-1).any()):
            return None
        return torch.softmax(remaining, dim=-1)

    return weights


def _other_scores(
    scores: Callable[..., Tensor | None]
) -> tuple[Callable[..., Tensor | None], Callable[..., Tensor | None]]:
    """out and lse by `scores(q, k, causal, scale)`."""
    def out(q: Tensor, k: Tensor, v: Tensor, causal: bool, scale: float) -> Tensor | None:
        found = scores(q, k, causal, scale)
        return None if found is None else torch.softmax(found, dim=-1) @ v.double()

    def lse(q: Tensor, k: Tensor, v: Tensor, causal: bool, scale: float) -> Tensor | None:
        found = scores(q, k, causal, scale)
        return None if found is None else torch.logsumexp(found, dim=-1)

    return out, lse


def _by_places(q: Tensor, k: Tensor, causal: bool, scale: float, queries: int, keys: int) -> Tensor | None:
    """Scores whose mask has numbers of queries and keys within tiles of so many, 0: all."""
    size = q.shape[2]
    place = torch.arange(size, device=q.device)
    row, column = (place % tile if tile else place for tile in (queries, keys))
    hidden = column[None, :] > row[:, None]
    if not causal or size <= min(tile for tile in (queries, keys) if tile):
        return None
    return _scores(q, k, False, scale).masked_fill(hidden, -math.inf)


def _before_the_tile(q: Tensor, k: Tensor, causal: bool, scale: float, tile: int) -> Tensor | None:
    """Scores of keys before the query's tile alone."""
    place = torch.arange(q.shape[2], device=q.device)
    hidden = place[None, :] >= (place // tile * tile)[:, None]
    return _scores(q, k, False, scale).masked_fill(hidden, -math.inf) if causal else None


SCORES: tuple[tuple[str, str, Callable[..., Tensor | None]], ...] = (
    ("no scale", "The scale is missing: multiply q · k by it.", lambda q, k, causal, scale: _scores(q, k, causal, 1)
     if q.shape[2] > 1 else None),
    ("fixed scale", "1 / √D is written into the kernel: use the argument scale.",
     lambda q, k, causal, scale: _scores(q, k, causal, q.shape[-1] ** -0.5)),
    ("scale twice", "Scores were multiplied by the scale twice: once is right.",
     lambda q, k, causal, scale: _scores(q, k, causal, scale**2)),
    ("scale divides", "Scores were divided by the scale: multiply.",
     lambda q, k, causal, scale: _scores(q, k, causal, 1 / scale)),
    ("powers of 2", "2 was raised to the scores: with tl.exp2, multiply them by log2(e) first.",
     lambda q, k, causal, scale: _scores(q, k, causal, scale * math.log(2))),
    ("never causal", "Keys after the query were seen: where causal is true, query i sees keys 0 to i alone.",
     lambda q, k, causal, scale: _scores(q, k, False, scale) if causal and q.shape[2] > 1 else None),
    ("always causal", "Keys after the query were left out though causal is false.",
     lambda q, k, causal, scale: None if causal or q.shape[2] == 1 else _scores(q, k, True, scale)),
    ("one key too many", "A causal query i sees keys 0 to i: compare with <=, of the key's number and the query's.",
     lambda q, k, causal, scale: _scores(q, k, True, scale, diagonal=2) if causal and q.shape[2] > 1 else None),
    ("own key missing", "A causal query i did not see key i: it sees keys 0 to i, its own too, so compare with <=.",
     lambda q, k, causal, scale: _scores(q, k, True, scale, diagonal=0) if causal and q.shape[2] > 1 else None),
    *(("mask within a tile", "The causal mask compares numbers that count from where a tile begins: add the tile's "
       "beginning to that of the query and to that of the key.",
       lambda q, k, causal, scale, queries=queries, keys=keys: _by_places(q, k, causal, scale, queries, keys))
      for queries in (*TILES, 0) for keys in (*TILES, 0) if queries or keys),
    *(("diagonal missing", "A causal query saw no key of its own tile: the loop over keys has to take the tile that "
       "the diagonal cuts, too.", lambda q, k, causal, scale, tile=tile: _before_the_tile(q, k, causal, scale, tile))
      for tile in TILES),
    ("mask of 0", "Scores that are masked became 0, and exp(0) is a weight: -float('inf') gives none.",
     lambda q, k, causal, scale: _masked(_scores(q, k, False, scale), value=0.0)
     if causal and q.shape[2] > 1 else None),
    ("keys and queries exchanged", "Scores are those of the transpose: row i of scores belongs to query i.",
     lambda q, k, causal, scale: _scores(k, q, causal, scale) if q.shape[2] > 1 else None),
    ("one head for all", "Every head has the scores of the first head of its batch: the head's offset is missing.",
     lambda q, k, causal, scale: _scores(q[:, :1].expand_as(q), k[:, :1].expand_as(k), causal, scale)
     if q.shape[1] > 1 else None),
)
WEIGHTS: tuple[tuple[str, str, Weights], ...] = (
    ("not divided", "The values' weights do not add up to 1: divide by the sum of the exponentials at the end.",
     lambda scores: _terms(scores) if scores.shape[-1] > 1 else None),
    ("softmax of columns", "Weights add up to 1 over the queries: they have to over the keys, along each row.",
     lambda scores: torch.softmax(scores, dim=-2).nan_to_num() if scores.shape[-1] > 1 else None),
    *(("zeros beyond the end", "Keys beyond the last have scores of 0, which are weights: set them to -float('inf').",
       _zeros_beyond(tile)) for tile in TILES),
    *(("sum not rescaled", "The sum so far belongs to an older maximum: multiply it by exp(old − new) as well.",
       _by_tiles(tile, sums=False, values=True)) for tile in TILES),
    *(("accumulator not rescaled", "The accumulator belongs to an older maximum: multiply it by exp(old − new) before "
       "you add a tile.", _by_tiles(tile, sums=True, values=False)) for tile in TILES),
    *(("rescaled too late", "The accumulator was multiplied by exp(old − new) after a tile was added: multiply first, "
       "then add.", _shrunk_late(tile)) for tile in TILES),
    *(("nothing rescaled", "Sum and accumulator belong to an older maximum: multiply both by exp(old − new) before you "
       "add a tile.", _by_tiles(tile, sums=False, values=False)) for tile in TILES),
    *((name, hint, _kept(part, tile)) for name, hint, part in (
        ("first keys only", "Only the first tile of keys was seen: does the loop go on to the last?",
         lambda n, tile: slice(0, tile)),
        ("first tile missing", "The first tile of keys is missing: begin at 0.", lambda n, tile: slice(tile, n)),
        ("last tile missing", "The last keys, a partial tile, are missing: the loop needs S / TILE steps, rounded up, "
         "the last one masked.", lambda n, tile: slice(0, n // tile * tile)),
        ("last tile only", "Only the last tile of keys was seen: add to the accumulator, do not replace it.",
         lambda n, tile: slice((n - 1) // tile * tile, n)),
    ) for tile in TILES),
)


def _mistakes() -> Iterator[Mistake]:
    for name, hint, scores in SCORES:
        out, lse = _other_scores(scores)
        yield Mistake(name=name, hint=hint, answer=out, output="out")
        yield Mistake(name=name, hint=hint, answer=lse, output="lse")
    for name, hint, weights in WEIGHTS:
        yield Mistake(name=name, hint=hint, answer=_weighted(weights), output="out")
    yield from mistakes(
        ("base 2", "These are logarithms to the base 2: multiply by ln 2.",
         lambda **inputs: oracle(**inputs)[1] / math.log(2)),
        ("maximum alone", "These are the largest scores: add the logarithm of the sum.",
         lambda q, k, v, causal, scale: _scores(q, k, causal, scale).amax(dim=-1) if q.shape[2] > 1 else None),
        ("maximum missing", "These are the logarithms of the sums alone: add the maximum that was subtracted.",
         lambda q, k, v, causal, scale: torch.log(_terms(_scores(q, k, causal, scale)).sum(dim=-1))),
        ("sum", "These are the sums: lse is the maximum and the sum's logarithm.",
         lambda q, k, v, causal, scale: _terms(_scores(q, k, causal, scale)).sum(dim=-1)),
        ("maximum not scaled", "The maximum was added before the scale: it is that of the scaled scores.",
         lambda q, k, v, causal, scale: torch.log(_terms(_scores(q, k, causal, scale)).sum(dim=-1))
         + _scores(q, k, causal, 1).amax(dim=-1)), output="lse")


def _flop(sizes: Mapping[str, int]) -> float:
    """The work of two products; half of it for causal attention, so that no kernel does less."""
    return 2.0 * sizes["B"] * sizes["H"] * sizes["S"] ** 2 * sizes["D"]


_TENSORS = {"shape": ("B", "H", "S", "D"), "dtype": "float16"}
ASSIGNMENT = assignment(
    name="flash_attention",
    title="Attention",
    formula="s[i, j] = scale · Σ over d of q[i, d] · k[j, d], −∞ where causal and j > i;  lse[i] = log Σ over j of "
            "exp(s[i, j]);  out[i, d] = Σ over j of exp(s[i, j] − lse[i]) · v[j, d];  for each batch and head",
    order=8,
    parameters=(
        Input(name="q", **_TENSORS), Input(name="k", **_TENSORS), Input(name="v", **_TENSORS),
        Scalar(name="causal", type="bool"), Scalar(name="scale"), Output(**_TENSORS),
        Output(name="lse", shape=("B", "H", "S"))),
    choices={"D": WIDTHS},
    oracle=oracle,
    cases=(
        *cases("B H S D", "1x1x1x64 1x2x5x64 2x3x37x64-causal 1x1x257x64 1x2x128x128-causal-extreme 1x1x67x128-extreme",
               gpu="1x3x4099x128-causal 2x3x1031x64 4x32x1024x128"),
        *cases("B H S D", "1x3x9x128-bf16 1x2x131x64-bf16-causal 2x1x67x128-bf16 1x1x200x64-bf16-extreme",
               gpu="1x2x4099x64-bf16-causal 3x1x2053x128-bf16", dtypes=BFLOAT16)),
    timed=(
        *timed("B H S D", "4x16x4096x128 2x16x4096x128 1x16x2048x128", "4x32x4096x64-causal 2x32x4096x64 1x32x2048x64"),
        *timed("B H S D", "2x16x8192x128-bf16-causal 1x16x8192x128 1x16x4096x128", dtypes=BFLOAT16)),
    baseline=Baseline(
        name="scaled_dot_product_attention by cuDNN", compiled="torch.compile of scaled_dot_product_attention"),
    distributions=distributions,
    tolerance={"out": out_tolerance, "lse": lse_tolerance},
    spot_check={"out": spot_check(0), "lse": spot_check(1)},
    flop=_flop,
    mistakes=tuple(_mistakes()),
)
