"""Guard zones: where they lie, that writing them spares tensors, that a single byte changed in them is found."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.device import guards
from grader.device.guards import LINE, Extent, Guards, layout
from tests.rows import each_row


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 3000), st.integers(1, 2000), st.integers(0, 3)), min_size=1, max_size=5))
def test_tensors_keep_their_distance(wanted: list[tuple[int, int, int]]) -> None:
    sizes, zones, distances = map(list, zip(*wanted, strict=True))
    spans, total = layout(sizes, zones, distances)
    assert [span.end - span.start for span in spans] == sizes
    assert all(span.start % LINE == 0 for span in spans)
    assert spans[0].start >= zones[0]
    assert total - spans[-1].end >= zones[-1]
    for i in range(1, len(spans)):
        assert spans[i].start - spans[i - 1].end >= max(zones[i], zones[i - 1])


def arena(sizes: list[int]) -> tuple[torch.Tensor, list[Extent], Guards]:
    spans, total = layout(sizes, [2 * LINE] * len(sizes), [0] * len(sizes))
    memory = torch.zeros(total, dtype=torch.uint8)
    made = Guards(memory, spans, 0x87654321)
    made.write()
    return memory, spans, made


def test_writing_zones_spares_tensors() -> None:
    memory, spans, zones = arena([4, 513, 0, 1024])
    for span in spans:
        assert not memory[span.start : span.end].any()
        memory[span.start : span.end] = 7
    assert zones.overruns() == []
    zones.write()
    assert all((memory[span.start : span.end] == 7).all() for span in spans)


@each_row("size", [4, 510, 512, 515])
@each_row("where", ["right behind", "right before", "a zone behind", "a zone before"])
def test_one_byte_in_a_zone_is_found(size: int, where: str) -> None:
    memory, spans, zones = arena([100, size, 100])
    span = spans[1]
    at = {"right behind": span.end, "right before": span.start - 1, "a zone behind": span.end + LINE - 1,
          "a zone before": span.start - LINE}[where]
    memory[at] ^= 1
    assert zones.overruns() == [1]


def test_the_ends_of_memory_are_zones_too() -> None:
    memory, _, zones = arena([100, 100])
    memory[0] ^= 1
    memory[-1] ^= 1
    assert zones.overruns() == [0, 1]


def test_a_secret_word_is_nan_in_every_type_that_it_is_read_as() -> None:
    words = {guards.nan_word() for _ in range(64)}
    assert len(words) > 32
    memory = torch.tensor([word - (1 << 32) if word >= 1 << 31 else word for word in words], dtype=torch.int32)
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        assert memory.view(dtype).isnan().all()


def test_a_zone_is_64_kib_and_a_row() -> None:
    assert guards.zone([8, 1000], "float32") == (64 << 10) + 4000
    assert guards.zone([8000], "float16") == 64 << 10
