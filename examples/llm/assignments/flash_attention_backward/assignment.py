"""Attention and its gradients, as a torch.autograd.Function: backward computes the scores again, from what is saved."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

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
    Output,
    Scalar,
    Spread,
    assignment,
    cases,
    eps,
    timed,
)

TILES = (16, 32, 64, 128)
"""Blocks of queries and keys that mistaken sums are made of."""
ROWS = 64
"""Secret rows of each output of each timed call that are compared."""
CHUNK = 1024
"""Queries whose scores are in memory at a time."""
OUTPUTS = ("O", "L", "dQ", "dK", "dV")
BFLOAT16 = dict.fromkeys(("Q", "K", "V", "dO", "O", "dQ", "dK", "dV"), "bfloat16")


class Answer(NamedTuple):
    """Right values in float64, and the error allowed for each."""

    right: Tensor
    allowed: Tensor


@dataclass(frozen=True)
class Queries:
    """Values of some queries: the outputs of one row each, and those that the gradients of keys take from them: `lse`,
    `delta` (the sum of dO · O), and their errors, each (…, rows)."""

    outputs: Mapping[str, Answer]
    lse: Tensor
    delta: Tensor
    errors: tuple[Tensor, Tensor, Tensor]


def queries(q: Tensor, k: Tensor, v: Tensor, do: Tensor, causal: bool, places: Tensor) -> Queries:
    """O, L and dQ of the queries q and do (…, rows, D) at `places` (…, rows), for all keys and values (…, S, D)."""
    q, k, v, do, unit, half = *(one.double() for one in (q, k, v, do)), eps(v.dtype), v.dtype == torch.float16
    scale = q.shape[-1] ** -0.5
    scores = _hidden(q @ k.mT * scale, places, causal)
    lse = torch.logsumexp(scores, dim=-1)
    weights = torch.exp(scores - lse[..., None])
    out = weights @ v
    delta = (do * out).sum(dim=-1)
    ds = weights * (do @ v.mT - delta[..., None])
    dq = ds @ k * scale

    # Sums of D products of random signs, added in float32, which tensor cores truncate: of scores and their
    # exponentials, which make a weight off by as much of itself, and of dO · V.
    longest = torch.linalg.vector_norm(k, dim=-1).amax(dim=-1, keepdim=True)
    lengths, adding = scale * torch.linalg.vector_norm(q, dim=-1) * longest, 8 + math.sqrt(q.shape[-1]) / 16
    moved = EPS32 * (16 + adding * lengths)
    twisted = EPS32 * adding * torch.linalg.vector_norm(do, dim=-1) * torch.linalg.vector_norm(v, dim=-1).amax(
        dim=-1, keepdim=True)
    # Weights, and ds, are rounded for their products, by up to unit/2 each, at random: together unit/2 of √Σ(term)²,
    # which is allowed four times. Those below what fp16 holds lose 2⁻²⁵ each. Then the answer is rounded.
    out_allowed = (_rounded(weights, v, unit) + _lost(v, half) + 2 * moved[..., None] * (weights @ v.abs())
                   + unit * out.abs() + SMALLEST16)
    # delta takes O as it was stored. Its error moves all ds of a row by a share of the weights.
    shifted = torch.linalg.vector_norm(do * out_allowed, dim=-1)
    dq_allowed = scale * (
        _rounded(ds, k, unit) + _lost(k, half) + 2 * moved[..., None] * (ds.abs() @ k.abs())
        + twisted[..., None] * (weights @ k.abs()) + shifted[..., None] * (weights @ k).abs())
    # As of a cross entropy: a sum that errs by √n/2 units in the worst order, a logarithm and the maximum.
    lse_allowed = moved + EPS32 * (math.sqrt(k.shape[-2]) / 2 + 4 * lse.abs())
    return Queries(
        {"O": Answer(out, out_allowed), "L": Answer(lse, lse_allowed),
         "dQ": Answer(dq, dq_allowed + unit * dq.abs() + SMALLEST16)},
        lse, delta, (moved, twisted, shifted))


def keys(
    k: Tensor, v: Tensor, q: Tensor, do: Tensor, causal: bool, places: Tensor, of: Queries
) -> dict[str, Answer]:
    """dK and dV of the keys k and v (…, rows, D) at `places` (…, rows), for all queries (…, S, D)."""
    k, v, q, do, unit, half = *(one.double() for one in (k, v, q, do)), eps(v.dtype), v.dtype == torch.float16
    scale, (moved, twisted, shifted) = q.shape[-1] ** -0.5, (one[..., None, :] for one in of.errors)
    # Rows are keys here.
    weights = torch.exp(k @ q.mT * scale - of.lse[..., None, :])
    if causal:
        weights = weights.masked_fill(places[..., None] > torch.arange(q.shape[-2], device=q.device), 0.0)
    ds = weights * (v @ do.mT - of.delta[..., None, :])
    dk, dv = ds @ q * scale, weights @ do
    dk_allowed = scale * (
        _rounded(ds, q, unit) + _lost(q, half) + (2 * moved * ds.abs() + twisted * weights) @ q.abs()
        + torch.sqrt((shifted * weights).square() @ q.square()))
    dv_allowed = _rounded(weights, do, unit) + _lost(do, half) + (2 * moved * weights) @ do.abs()
    return {"dK": Answer(dk, dk_allowed + unit * dk.abs() + SMALLEST16),
            "dV": Answer(dv, dv_allowed + unit * dv.abs() + SMALLEST16)}


def _hidden(scores: Tensor, places: Tensor, causal: bool) -> Tensor:
    if not causal:
        return scores
    return scores.masked_fill(torch.arange(scores.shape[-1], device=scores.device) > places[..., None], -math.inf)


def _rounded(terms: Tensor, values: Tensor, unit: float) -> Tensor:
    return 2 * unit * torch.sqrt(terms.square() @ values.square())


def _lost(values: Tensor, half: bool) -> Tensor | float:
    return SMALLEST16 * torch.linalg.vector_norm(values, dim=-2, keepdim=True) if half else 0.0


def oracle(Q: Tensor, K: Tensor, V: Tensor, is_causal: bool, dO: Tensor) -> tuple[Tensor, ...]:
    """The right O, (B, S, D), L, (B, S), dQ, dK and dV, (B, S, D)."""
    places = torch.arange(Q.shape[1], device=Q.device)
    of = queries(Q, K, V, dO, is_causal, places)
    found = {**of.outputs, **keys(K, V, Q, dO, is_causal, places, of)}
    return tuple(found[name].right for name in OUTPUTS)


def tolerance(name: str) -> Callable[[Inputs, Tensor], Tensor]:
    """The absolute error allowed for each element of an output."""
    def allowed(inputs: Inputs, expected: Tensor) -> Tensor:
        Q, K, V, is_causal, dO = (inputs[one] for one in ("Q", "K", "V", "is_causal", "dO"))
        places = torch.arange(Q.shape[1], device=Q.device)
        of = queries(Q, K, V, dO, is_causal, places)
        found = of.outputs if name in of.outputs else keys(K, V, Q, dO, is_causal, places, of)
        return found[name].allowed

    return allowed


def distributions(case: Case) -> Mapping[str, Distribution]:
    """Queries and keys have a scale of their own in each row; in "extreme" cases scores lie some hundreds apart."""
    values = case.values.split("-")
    # Of D products the score has a deviation of about 1, and of 40 in "extreme" cases, where exp overflows.
    size = 6.0 if "extreme" in values else 1.0
    rows = Spread(scale=(0.7 * size, 1.4 * size), offset=0.25)
    return {"Q": rows, "K": rows, "V": Spread(scale=(0.5, 2.0), offset=1.0), "is_causal": Fixed("causal" in values),
            "dO": Spread(scale=(0.5, 2.0), offset=0.5)}


def spot_check(
    name: str,
) -> Callable[[Sequence[Inputs], torch.Generator], Callable[[Sequence[Inputs], Sequence[Tensor]], Tensor]]:
    """A check of an output at ROWS secret rows of one secret head of each call.

    Their right answers are computed before the calls, so that a kernel gains nothing by changing its inputs. NaN and
    infinity fail at any place. If a share p of the rows is wrong, n calls pass with probability (1 − p)^(n·ROWS) where
    wrong rows lie anywhere: 1e-14 for 1 % of 50 calls.
    """
    def prepare(
        inputs: Sequence[Inputs], generator: torch.Generator
    ) -> Callable[[Sequence[Inputs], Sequence[Tensor]], Tensor]:
        heads, size, _ = inputs[0]["Q"].shape
        drawn = torch.randint(heads, (len(inputs),), generator=generator, device=generator.device).tolist()
        at = torch.randint(size, (len(inputs), ROWS), generator=generator, device=generator.device)
        answers = [_answers(name, {key: value[head] if isinstance(value, Tensor) else value
                                   for key, value in call.items()}, places)
                   for call, head, places in zip(inputs, drawn, at, strict=True)]

        def check(now: Sequence[Inputs], outputs: Sequence[Tensor]) -> Tensor:
            worst = torch.stack([((output[head][places].double() - answer.right).abs() / answer.allowed).amax()
                                 for output, head, places, answer in zip(outputs, drawn, at, answers, strict=True)])
            # If an element is not finite, neither is the sum, and 0 times the sum is NaN.
            finite = 0 * torch.stack([output.sum(dtype=torch.float32) for output in outputs])
            return (worst + finite).nan_to_num(nan=math.inf, posinf=math.inf)

        return check

    return prepare


def _answers(name: str, head: Inputs, places: Tensor) -> Answer:
    """An output of one head at some rows: the inputs have no batch."""
    q, k, v, causal, do = (head[one] for one in ("Q", "K", "V", "is_causal", "dO"))
    if name not in ("dK", "dV"):
        return queries(q[places], k, v, do[places], causal, places).outputs[name]
    parts = [queries(q[part], k, v, do[part], causal, part)
             for part in torch.arange(len(q), device=q.device).split(CHUNK)]
    errors = zip(*(part.errors for part in parts), strict=True)
    of = Queries({}, torch.cat([part.lse for part in parts]), torch.cat([part.delta for part in parts]),
                 tuple(torch.cat(several) for several in errors))
    return keys(k[places], v[places], q, do, causal, places, of)[name]


Scores = Callable[[Tensor], Tensor | None]
"""Scores (B, S, S), scaled and not masked, to those that a mistaken kernel takes; None where they are right."""


@dataclass(frozen=True)
class Wrong:
    """A mistaken kernel. `factor` is that of its scores, by 1/√D; `causal` masks those of both directions where
    is_causal is true, `again` those that backward computes again. `lse` and `delta` are what backward takes,
    `ds` is dS by P, dP and delta, and `ending` the factor of dQ and dK. `kept` are the terms that remain in sums."""

    factor: Callable[[float], float] = lambda scale: scale
    causal: Scores | None = None
    again: Scores | None = None
    lse: Callable[[Tensor], Tensor] = lambda lse: lse
    delta: Callable[[Tensor, Tensor], Tensor] = lambda do, out: (do * out).sum(dim=-1)
    ds: Callable[[Tensor, Tensor, Tensor], Tensor] = lambda p, dp, delta: p * (dp - delta)
    ending: Callable[[float], float] = lambda scale: scale
    kept: Callable[[int], slice] = lambda size: slice(0, size)


def _mask(diagonal: int | None) -> Callable[[Tensor], Tensor]:
    def masked(scores: Tensor) -> Tensor:
        if diagonal is None:
            return scores
        return scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(diagonal), -math.inf)

    return masked


def _beyond(tile: int) -> Scores:
    """Backward begins at the first tile of queries behind that of the key."""
    def masked(scores: Tensor) -> Tensor | None:
        place = torch.arange(scores.shape[-1], device=scores.device)
        hidden = place[:, None] < (place[None, :] // tile + 1) * tile
        return None if len(place) <= tile else scores.masked_fill(hidden, -math.inf)

    return masked


def _by(wrong: Wrong, name: str) -> Callable[..., Tensor | None]:
    """The output `name` of a mistaken kernel."""
    def answer(Q: Tensor, K: Tensor, V: Tensor, is_causal: bool, dO: Tensor) -> Tensor | None:
        q, k, v, do, scale = *(one.double() for one in (Q, K, V, dO)), Q.shape[-1] ** -0.5
        plain = q @ k.mT * wrong.factor(scale)
        right = _mask(1 if is_causal else None)(plain)
        forward = right if wrong.causal is None else wrong.causal(plain) if is_causal else None
        if forward is None:
            return None
        again = forward if wrong.again is None else wrong.again(plain) if is_causal else None
        if again is None:
            return None
        lse = torch.logsumexp(forward, dim=-1)
        out = torch.softmax(forward, dim=-1) @ v
        weights = torch.exp(again - wrong.lse(lse)[..., None])
        ds = wrong.ds(weights, do @ v.mT, wrong.delta(do, out)[..., None])
        kept, ending = wrong.kept(Q.shape[1]), wrong.ending(scale)
        if kept == slice(0, 0):
            return None
        found = {"O": out, "L": lse, "dQ": ds[..., kept] @ k[:, kept] * ending,
                 "dK": ds[:, kept].mT @ q[:, kept] * ending, "dV": weights[:, kept].mT @ do[:, kept]}[name]
        return found.nan_to_num(nan=0.0)

    return answer


def _some(part: Callable[[int, int], slice], tile: int) -> Wrong:
    def kept(size: int) -> slice:
        found = part(size, tile)
        return slice(0, 0) if len(range(size)[found]) in (0, size) else found

    return Wrong(kept=kept)


MISTAKES: tuple[tuple[str, str, str, Wrong], ...] = (
    ("scores not scaled", "The scale is missing: multiply q · k by 1 / √D.", "O L dQ dK dV",
     Wrong(factor=lambda scale: 1.0)),
    ("powers of 2", "2 was raised to the scores: with tl.exp2, multiply them by log2(e) first.", "O L dQ dK dV",
     Wrong(factor=lambda scale: scale * math.log(2))),
    ("never causal", "Keys after the query were seen: where is_causal is true, query i sees keys 0 to i alone.",
     "O L dQ dK dV", Wrong(causal=_mask(None))),
    ("one key too many", "A causal query i sees keys 0 to i: compare with <=, of the key's number and the query's.",
     "O L dQ dK dV", Wrong(causal=_mask(2))),
    ("backward not masked", "The backward pass takes weights of keys after the query: its scores need the causal "
     "mask, too.", "dQ dK dV", Wrong(again=_mask(None))),
    ("backward masked one off", "In the backward pass a causal query i sees key i + 1 as well: compare with <=, as in "
     "the forward pass.", "dQ dK dV", Wrong(again=_mask(2))),
    ("own key missing", "In the backward pass a causal query i does not see key i: compare with <=, as in the forward "
     "pass.", "dQ dK dV", Wrong(again=_mask(0))),
    *(("diagonal missing", "The loop over queries begins behind the tile of keys: the tile that the diagonal cuts has "
       "queries that see keys of it.", "dK dV", Wrong(again=_beyond(tile))) for tile in TILES),
    ("delta missing", "delta = rowsum(dO ∘ O) is missing: dS = P ∘ (dP − delta), since a row's weights add up to 1.",
     "dQ dK", Wrong(delta=lambda do, out: torch.zeros_like(do[..., 0]))),
    ("delta of dO alone", "delta is the sum of dO: it is that of dO ∘ O, along each row.", "dQ dK",
     Wrong(delta=lambda do, out: do.sum(dim=-1))),
    ("delta of dP", "delta is the sum of dP over the keys: it is that of P ∘ dP, or of dO ∘ O.", "dQ dK",
     Wrong(ds=lambda p, dp, delta: p * (dp - dp.sum(dim=-1, keepdim=True)))),
    ("delta added", "delta was added to dP: it is subtracted.", "dQ dK",
     Wrong(ds=lambda p, dp, delta: p * (dp + delta))),
    ("P missing", "P is missing from dS: dS = P ∘ (dP − delta).", "dQ dK", Wrong(ds=lambda p, dp, delta: dp - delta)),
    ("delta outside", "delta was subtracted from P ∘ dP: P multiplies the difference, dS = P ∘ (dP − delta).", "dQ dK",
     Wrong(ds=lambda p, dp, delta: p * dp - delta)),
    ("no scale", "1 / √D is missing from {output}: scores are scaled products, so their gradients are, too.", "dQ dK",
     Wrong(ending=lambda scale: 1.0)),
    ("scale twice", "{output} was multiplied by 1 / √D twice: once is right.", "dQ dK",
     Wrong(ending=lambda scale: scale**2)),
    ("base 2 in backward", "Backward subtracts logarithms to the base 2 from natural scores: with tl.exp, L is "
     "natural; with tl.exp2, scores and L both are times log2(e).", "dQ dK dV",
     Wrong(lse=lambda lse: lse / math.log(2))),
    *(("last queries only", "Only the last tile of queries is in {output}: add to the accumulator, do not replace it.",
       "dK dV", _some(lambda n, tile: slice((n - 1) // tile * tile, n), tile)) for tile in TILES),
    *(("first queries only", "Only the first tile of queries is in {output}: does the loop go on to the last?",
       "dK dV", _some(lambda n, tile: slice(0, tile), tile)) for tile in TILES),
    *(("last queries missing", "The last queries, a partial tile, are missing from {output}: the loop needs S / TILE "
       "steps, rounded up, the last one masked.", "dK dV", _some(lambda n, tile: slice(0, n // tile * tile), tile))
      for tile in TILES),
    *(("last keys only", "Only the last tile of keys is in dQ: add to it, tile by tile, or with tl.atomic_add into "
       "zeros where programs share it.", "dQ", _some(lambda n, tile: slice((n - 1) // tile * tile, n), tile))
      for tile in TILES),
    *(("first keys only", "Only the first tile of keys is in dQ: does the loop go on to the last, and does every "
       "program add its part?", "dQ", _some(lambda n, tile: slice(0, tile), tile)) for tile in TILES),
    *(("last keys missing", "The last keys, a partial tile, are missing from dQ: the loop needs S / TILE steps, "
       "rounded up, the last one masked.", "dQ", _some(lambda n, tile: slice(0, n // tile * tile), tile))
      for tile in TILES),
)


def _mistakes() -> Iterator[Mistake]:
    for name, hint, outputs, wrong in MISTAKES:
        for output in outputs.split():
            yield Mistake(name=name, hint=hint.replace("{output}", output), answer=_by(wrong, output), output=output)
    for output, other in (("dQ", "dK"), ("dK", "dQ"), ("dK", "dV"), ("dV", "dK")):
        yield Mistake(
            name=f"{other} for {output}", hint=f"{output} holds {other}: backward returns dQ, dK and dV in this order.",
            answer=_by(Wrong(), other), output=output)
    yield Mistake(
        name="base 2", hint="These are logarithms to the base 2: multiply L by ln 2 before you store it.", output="L",
        answer=lambda **inputs: _by(Wrong(), "L")(**inputs) / math.log(2))
    yield Mistake(
        name="maximum alone", hint="These are the largest scores: add the logarithm of the sum.", output="L",
        answer=lambda Q, K, V, is_causal, dO: _scores(Q, K, is_causal).amax(dim=-1) if Q.shape[1] > 1 else None)
    yield Mistake(
        name="maximum missing", hint="These are the logarithms of the sums alone: add the maximum that was subtracted.",
        output="L", answer=lambda Q, K, V, is_causal, dO: _by(Wrong(), "L")(Q, K, V, is_causal, dO) - _scores(
            Q, K, is_causal).amax(dim=-1))


def _scores(Q: Tensor, K: Tensor, is_causal: bool) -> Tensor:
    return _mask(1 if is_causal else None)(Q.double() @ K.double().mT * Q.shape[-1] ** -0.5)


def _flop(sizes: Mapping[str, int]) -> float:
    """The work of seven products; half of it for causal attention, so that no kernel does less."""
    return 7.0 * sizes["B"] * sizes["S"] ** 2 * sizes["D"]


_ROWS = {"shape": ("B", "S", "D"), "dtype": "float16"}
ASSIGNMENT = assignment(
    name="flash_attention_backward",
    title="Attention with its gradients",
    formula="s = Q Kᵀ / √D, −∞ where is_causal and the key is after the query;  L[i] = log Σ over j of exp(s[i, j]);  "
            "P = exp(s − L);  O = P V;  dV = Pᵀ dO;  dS = P ∘ (dO Vᵀ − rowsum(dO ∘ O));  dQ = dS K / √D;  "
            "dK = dSᵀ Q / √D;  for each of B heads",
    order=9,
    autograd="FlashAttention",
    parameters=(
        Input(name="Q", **_ROWS), Input(name="K", **_ROWS), Input(name="V", **_ROWS),
        Scalar(name="is_causal", type="bool"), Input(name="dO", gradient_of="O", **_ROWS), Output(name="O", **_ROWS),
        Output(name="L", shape=("B", "S"), saved=True), Output(name="dQ", gradient_of="Q", **_ROWS),
        Output(name="dK", gradient_of="K", **_ROWS), Output(name="dV", gradient_of="V", **_ROWS)),
    choices={"D": (64, 128)},
    oracle=oracle,
    cases=(
        *cases("B S D", "1x1x64 2x5x64 3x37x64-causal 1x257x64 2x128x128-causal-extreme",
               gpu="3x4099x128-causal 6x1031x64"),
        *cases("B S D", "3x67x64-strided 2x131x128-strided-causal", strides={"dO": ("D", "B * D", 1)}),
        *cases("B S D", "3x9x128-bf16 2x131x64-bf16-causal", gpu="2x4099x64-bf16-causal 3x2053x128-bf16",
               dtypes=BFLOAT16)),
    timed=(
        *timed("B S D", "16x8192x64-bf16-causal 16x4096x64 8x2048x64", dtypes=BFLOAT16),
        *timed("B S D", "32x4096x128 16x4096x128 8x2048x128")),
    baseline=Baseline(
        name="scaled_dot_product_attention by cuDNN, and its backward",
        compiled="torch.compile of scaled_dot_product_attention and its backward"),
    distributions=distributions,
    tolerance={name: tolerance(name) for name in OUTPUTS},
    spot_check={name: spot_check(name) for name in OUTPUTS},
    flop=_flop,
    right_by_nature={
        **dict.fromkeys(("1x1x64: dQ", "1x1x64: dK"), "the weight of a single key is 1, whatever Q and K are"),
        **{f"{case}: {output}: dO as if contiguous": "forward does not take dO"
           for case in ("3x67x64-strided", "2x131x128-strided-causal") for output in ("O", "L")}},
    mistakes=tuple(_mistakes()),
)
