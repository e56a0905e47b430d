"""What the fuzz tests share: how many examples are tried, mutation of bytes, and what every reader has to keep to.

The tests draw the same examples every time, so that they cannot fail by luck; `benchmarks/fuzz.py` sets `profile` to
"long" before it imports them, and draws fresh ones for as long as it is told to.
"""

import gc
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

settings.register_profile(
    "ci", derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
settings.register_profile(
    "long", derandomize=False, database=None, deadline=None, suppress_health_check=list(HealthCheck))
profile = "ci"


def bounded(examples: int) -> settings:
    return settings(settings.get_profile(profile), max_examples=examples)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Fails if the block takes more of this process's processor time."""
    begun = time.process_time()
    yield
    spent = time.process_time() - begun
    assert spent < seconds, f"{spent:.2f} s"


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@contextmanager
def no_descriptor_left() -> Iterator[None]:
    """Fails if the block leaves more, or fewer, descriptors open in this process than there were."""
    before = open_descriptors()
    yield
    if open_descriptors() != before:
        # What earlier tests left to the collector may go at any time.
        gc.collect()
        assert open_descriptors() <= before


def is_one_line(text: str) -> bool:
    """Whether a text can be shown on one line and written as UTF-8."""
    return "\n" not in text and "\r" not in text and bool(text.encode())


@st.composite
def mutated(draw: st.DrawFn, originals: st.SearchStrategy[bytes], pieces: st.SearchStrategy[bytes]) -> bytes:
    """Bytes with some ranges cut out, doubled, replaced by `pieces`, or by a range from elsewhere in them."""
    data = draw(originals)
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.sampled_from([0, 1, 1, 2, 4, 8, 40, 400])))
        change = draw(st.sampled_from(["cut", "double", "piece", "piece", "move", "flip"]))
        if change == "cut":
            data = data[:start] + data[end:]
        elif change == "double":
            data = data[:end] + data[start:end] * draw(st.integers(1, 50)) + data[end:]
        elif change == "piece":
            data = data[:start] + draw(pieces) + data[end:]
        elif change == "move":
            to = draw(st.integers(0, len(data)))
            data = data[:to] + data[start:end] + data[to:]
        elif end > start:
            data = data[:start] + bytes(byte ^ draw(st.sampled_from([1, 32, 128])) for byte in data[start:end][:8]) \
                + data[end:]
    return data


# JSON as it may be written, right or wrong, for a value of any kind.
_ODD_JSON = [
    "null", "true", "-0", "1e999", "-1e999", "NaN", "Infinity", "-Infinity", "1" + "0" * 30, "9" * 4300, "9" * 4301,
    "-" + "9" * 5000, "0.1" + "1" * 5000, '"\\ud800"', '"\\udc00\\ud800"', '"\\u0000"', '"\\u001b[31m"', '"\\u202e"',
    '"a\\nb"', '""', "[]", "{}", "[[]]", '{"a":{"a":1,"a":2}}', "[" * 150 + "]" * 150, "[" * 5000,
    '{"a":' * 1000 + "1" + "}" * 1000, '"' + "x" * 20_001 + '"', "[" + "0," * 5000 + "0]", "\ufeff1", "0x10", "'a'",
    "{" + ",".join(f'"k{i}":0' for i in range(2000)) + "}", "9223372036854775808", "1.0", '"1"',
]


def _odd_json(number: int) -> str:
    return _ODD_JSON[number]


# By number: Hypothesis would write out all that it samples from.
ODD_JSON = st.integers(0, len(_ODD_JSON) - 1).map(_odd_json)
