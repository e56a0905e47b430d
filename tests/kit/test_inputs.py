"""Distributions, drawn by PyTorch: scales and offsets, outliers, loud positions, finite bits, numbers."""

import math
from typing import Literal

import pytest
import torch
from torch import Tensor

from grader.course.assignment import Baseline
from grader.course.cases import Case, cases, shape_of
from grader.course.parameters import Input, Inputs, Output, Scalar
from grader.kit.author import assignment
from grader.kit.inputs import (
    Bits,
    Bytes,
    Distribution,
    Loud,
    Number,
    Outliers,
    Spread,
    as_matrix,
    draw,
    edges,
    maker,
    partner_tables,
    tables,
)
from tests.rows import each_row

ROWS, COLUMNS = 64, 4096


def drawn(distribution: Distribution, rows: int = ROWS, columns: int = COLUMNS, seed: int = 1) -> Tensor:
    parameters = (Input(name="x", shape=("M", "N")), Output(name="out", shape=("M", "N")))
    case = Case(name="case", sizes={"M": rows, "N": columns})
    found = maker(parameters, lambda _: {"x": distribution})(case, torch.Generator().manual_seed(seed))["x"]
    assert isinstance(found, Tensor) and found.shape == (rows, columns) and found.is_contiguous()
    return found


def test_each_row_has_a_scale_and_an_offset_of_its_own() -> None:
    x = drawn(Spread(scale=(0.1, 10.0), offset=2.0))
    scales, offsets = x.std(dim=1), x.mean(dim=1) / x.std(dim=1)
    assert 0.09 < float(scales.min()) < 0.3 and 3 < float(scales.max()) < 11
    # Evenly in its logarithm: half of them below the geometric middle.
    assert 0.25 < float((scales < 1.0).double().mean()) < 0.75
    assert float(offsets.abs().max()) < 2.2 and float(offsets.abs().max()) > 1.5


def test_offsets_may_be_absolute_and_scales_those_of_columns_or_of_all() -> None:
    x = drawn(Spread(scale=(0.01, 0.02), offset=2.0, absolute=True))
    assert 1.5 < float(x.mean(dim=1).abs().max()) < 2.1
    columns = drawn(Spread(scale=(0.1, 10.0), axis=1), 4096, 64).std(dim=0)
    assert float(columns.max() / columns.min()) > 10
    whole = drawn(Spread(scale=(5.0, 5.0), axis=None)).std(dim=1)
    assert float(whole.max() / whole.min()) < 1.2
    even = [float(drawn(Spread(scale=(0.5, 10.5), even=True), 1, 512, seed).std()) for seed in range(40)]
    assert 3.5 < sum(even) / len(even) < 7.5


@pytest.mark.parametrize("every", [4, 64, 256])
def test_one_of_so_many_neighbours_is_an_outlier(every: int) -> None:
    x = drawn(Spread(scale=(1.0, 1.0), outliers=Outliers(every, exponents=(5, 7)))).view(-1, every).abs()
    large = x >= 32
    assert bool((large.sum(dim=1) == 1).all()) and float(x.max()) < 256
    places = large.double().argmax(dim=1)
    # Of 1,024 groups or more: a place is left out by chance, and not many.
    assert len(set(places.tolist())) > 0.9 * every
    exponents = torch.frexp(x[large]).exponent - 1
    assert set(exponents.tolist()) == {5, 6, 7}


def test_an_outlier_may_be_a_multiple() -> None:
    spread = Spread(scale=(1.0, 1.0))
    plain = drawn(spread)
    x = drawn(Spread(scale=(1.0, 1.0), outliers=Outliers(256, times=30)))
    changed = (x != plain).view(-1, 256)
    assert bool((changed.sum(dim=1) == 1).all())
    torch.testing.assert_close(x[x != plain], 30 * plain[x != plain])


def test_bits_are_finite_and_of_every_kind() -> None:
    x = drawn(Bits(), 512, 4096)
    assert bool(x.isfinite().all())
    assert set((x.view(torch.int32) >> 23 & 0xFF).view(-1).tolist()) == set(range(255))
    assert 0.49 < float(x.signbit().double().mean()) < 0.51


def test_bits_hold_every_number_at_an_edge_with_either_sign() -> None:
    x = drawn(Bits(), 5, 200).view(torch.int32)
    signed = {edge | sign for edge in edges(torch.float32) for sign in (0, -(2**31))}
    assert signed <= set(x.view(-1).tolist())


@each_row("levels", [2, 4, 6, 16, 18, 52, 86, 256])
def test_bytes_are_evenly_spread_and_all_there_are_occur(levels: Literal[2, 4, 6, 16, 18, 52, 86, 256]) -> None:
    parameters = (Input(name="x", shape=(3, "N"), dtype="uint8"), Output(shape=("N",), dtype="uint8"))
    case = Case(name="case", sizes={"N": 40_000})
    x = maker(parameters, lambda _: {"x": Bytes(levels)})(case, torch.Generator().manual_seed(1))["x"]
    assert x.dtype == torch.uint8 and x.shape == (3, 40_000)
    values, counts = x.unique(return_counts=True)
    assert values.tolist() == [round(k * 255 / (levels - 1)) for k in range(levels)]
    # Six standard deviations.
    expected = 120_000 / levels
    assert float((counts - expected).abs().max()) < 6 * math.sqrt(expected)


def test_a_number_lies_evenly_in_its_logarithm() -> None:
    make = maker((Scalar(name="eps"), Output(name="out", shape=("N",))), lambda _: {"eps": Number(1e-6, 1e-4)})
    case = Case(name="case", sizes={"N": 1})
    found = [make(case, torch.Generator().manual_seed(seed))["eps"] for seed in range(200)]
    assert all(isinstance(eps, float) and 1e-6 <= eps <= 1e-4 for eps in found)
    assert 60 < sum(eps < Number(1e-6, 1e-4).middle for eps in found) < 140
    assert Number(1e-6, 1e-4).middle == pytest.approx(1e-5)


def product(k: int, seed: int = 1) -> Inputs:
    parameters = (
        Input(name="a", shape=("M", "K"), dtype="float16"), Input(name="b", shape=("K", "N"), dtype="float16"),
        Output(name="out", shape=("M", "N"), dtype="float16"))
    named: dict[str, Distribution] = {"a": Spread(loud=Loud(axis=1, sign=1)), "b": Spread(loud=Loud(axis=0, sign=-1))}
    case = Case(name="case", sizes={"M": 40, "N": 50, "K": k})
    return maker(parameters, lambda _: named)(case, torch.Generator().manual_seed(seed))


def test_loud_positions_are_shared_and_their_products_cancel() -> None:
    k = 512
    inputs = product(k)
    a, b = inputs["a"].double(), inputs["b"].double()
    loud_a, loud_b = a.norm(dim=0) / math.sqrt(40) > 6, b.norm(dim=1) / math.sqrt(50) > 6
    assert torch.equal(loud_a, loud_b)
    assert int(loud_a[: k // 2].sum()) == int(loud_a[k // 2 :].sum()) == k // 4
    loud, quiet = a[:, loud_a] @ b[loud_a], a[:, ~loud_a] @ b[~loud_a]
    half = a[:, : k // 2][:, loud_a[: k // 2]] @ b[: k // 2][loud_a[: k // 2]]
    # Each half alone is hundreds of times what remains of both.
    assert float(half.std() / loud.std()) > 50
    assert 0.3 < float(loud.std() / quiet.std()) < 3


def test_places_differ_from_draw_to_draw() -> None:
    def loud(seed: int) -> list[bool]:
        found: list[bool] = (product(512, seed)["a"].double().norm(dim=0) > 6 * math.sqrt(40)).tolist()
        return found

    assert loud(1) == loud(1) != loud(2)


def test_a_number_in_a_shape_is_the_same_in_every_case() -> None:
    given = Input(name="x", shape=(3, "H", "W"))
    made = assignment(
        name="picture", title="", formula="", parameters=(given, Output(shape=("H", "W"))),
        oracle=lambda x: x[0].double(), cases=cases("H W", "1x1 5x9"), baseline=Baseline(name="", compiled=""),
        distributions=lambda case: {"x": Spread()})
    for case in made.cases:
        x = made.make_inputs(case, torch.Generator().manual_seed(1))["x"]
        assert x.shape == shape_of(given, case) == (3, case.sizes["H"], case.sizes["W"])
    assert made.work is not None and made.work(made.cases[1]).bytes == 4 * 5 * 9 * (3 + 1)


def test_tables_are_of_each_slot() -> None:
    generator = torch.Generator().manual_seed(3)
    spread = Spread(scale=(0.1, 10.0), offset=1.0, axis=1, loud=Loud(axis=0, sign=-1))
    partner = partner_tables({"b": spread}, {"b": (70, 30)}, 3, generator)["b"]
    found = tables(spread, (70, 30), 3, partner, generator)
    assert found.scale.shape == found.offset.shape == (3, 30) and found.partner is not None
    assert len(set(found.scale.view(-1).tolist())) == 90 and found.partner.shape == (3, 70)
    for one in found.partner.tolist():
        early = [place for place, partner in enumerate(one) if partner == place]
        late = {partner: place for place, partner in enumerate(one) if partner not in (-1, place)}
        assert sorted(late) == early and len(early) == 70 // 4
        assert max(early) < 35 <= min(late.values())
    assert found.partner[0].tolist() != found.partner[1].tolist()
    assert as_matrix((7,)) == (1, 7) and as_matrix((2, 3, 5)) == (6, 5)


def test_no_number_comes_twice_in_a_row_of_distinct_ones() -> None:
    for shape in ((300, 128), (2, 131072)):
        spread = Spread(scale=(0.3, 3.0), offset=1.0, distinct=True)
        x = draw(spread, shape, torch.float32, {}, None, torch.Generator().manual_seed(1))
        ordered = x.sort(dim=1).values
        assert x.isfinite().all() and (ordered[:, 1:] > ordered[:, :-1]).all()
        # The lowest bits of a row are in no order, and not those of its neighbour.
        bits = x.view(torch.int32) & shape[1] - 1
        assert not torch.equal(bits[0], bits[1]) and 0.4 < float((bits[0].diff() > 0).float().mean()) < 0.6
    with pytest.raises(ValueError, match="1,000 numbers of bfloat16 in a row cannot be made distinct"):
        draw(Spread(distinct=True), (1, 1000), torch.bfloat16, {}, None, torch.Generator())
