"""Bulk copies: boxes of tensors by maps that a kernel makes, and bytes; what comes of those that go wrong."""

from dataclasses import dataclass

import numpy as np
import pytest

from grader.home import ROOT
from grader.plan.findings import MisalignedAccess, OutOfBounds, UndefinedBehaviour, UnwrittenAccess
from grader.plan.limits import LaunchStopped
from grader.simulation.ptx.lanes import Array
from tests.languages.cuda.compiling import needs_nvcc
from tests.simulation.ptx.language.running import FOLDER
from tests.simulation.ptx.launching import Outcome, Tensor, compiled, empty, entries, run, tensor

pytestmark = needs_nvcc

BULK = (FOLDER / "bulk.cu").read_text(encoding="utf-8")
ROWS, COLUMNS = 20, 136


@dataclass(frozen=True)
class Boxes:
    """A box of `wide` × `high` elements at a corner, swizzled as `mode` says."""

    wide: int
    high: int
    mode: int
    x: int = 0
    y: int = 0

    @property
    def source(self) -> str:
        return f"#define WIDE {self.wide}\n#define HIGH {self.high}\n#define MODE {self.mode}\n{BULK}"

    def run(self, *changes: tuple[str, str], columns: int = COLUMNS) -> tuple[Outcome, list[Tensor]]:
        source = self.source
        for old, new in changes:
            assert old in source
            source = source.replace(old, new)
        tensors = [tensor(numbers(), "in"), tensor(np.zeros((ROWS, COLUMNS), "f2"), "out"),
                   empty(self.wide * self.high // 2, "image")]
        return run(compiled(source), 1, 32, *tensors, ROWS, columns, self.x, self.y), tensors

    def expected(self) -> tuple[Array, Array]:
        """The output, and the box."""
        out, box = np.zeros((ROWS, COLUMNS), "f2"), np.zeros((self.high, self.wide), "f2")
        rows, columns = slice(max(self.y, 0), self.y + self.high), slice(max(self.x, 0), self.x + self.wide)
        out[rows, columns] = numbers()[rows, columns]
        high, wide = out[rows, columns].shape
        box[max(-self.y, 0) :, max(-self.x, 0) :][:high, :wide] = out[rows, columns]
        return out * (min(self.x, self.y) >= 0), box


def numbers() -> Array:
    return np.arange(1, ROWS * COLUMNS + 1, dtype="f2").reshape(ROWS, COLUMNS)


CASES = [
    Boxes(64, 16, 3, 64, 3), Boxes(32, 24, 2, -8, -5), Boxes(16, 9, 1, 128, 15), Boxes(24, 8, 0, 8, 1), Boxes(64, 8, 0)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_boxes(case: Boxes) -> None:
    outcome, (_, out, image) = case.run()
    assert outcome.findings == []
    expected, box = case.expected()
    np.testing.assert_array_equal(out.values("f2").reshape(ROWS, COLUMNS), expected)
    # 16 bytes are turned by the number of the 128 bytes that they lie in.
    chunks = image.values("u1").reshape(-1, 16)
    at = np.arange(len(chunks))
    np.testing.assert_array_equal(chunks[at ^ (at // 8 & (1 << case.mode) - 1)].view("f2").reshape(box.shape), box)


def test_boxes_that_go_wrong() -> None:
    case = CASES[0]
    # Nobody waits: the box is not there.
    finding, *_ = case.run(("    wait(&barrier);", ""))[0].findings
    assert isinstance(finding, UnwrittenAccess) and "box" in finding.tensor
    finding, *_ = case.run(("int64_t(columns) * 2)", "int64_t(columns) * 2 + 8)"))[0].findings
    assert isinstance(finding, UndefinedBehaviour) and finding.what == "descriptor"
    finding, *_ = case.run(('"r"(at(box))', '"r"(at(box) + 16)'))[0].findings
    assert isinstance(finding, MisalignedAccess) and (finding.bytes, finding.offset) == (128, 16)
    finding, *_ = Boxes(64, 8, 3, 0, 15).run(('"r"(rows)', '"r"(rows + 2)'))[0].findings
    assert isinstance(finding, OutOfBounds) and (finding.given, finding.access) == ("in", "load")
    finding, *_ = Boxes(24, 8, 0, 5, 1).run()[0].findings
    assert isinstance(finding, MisalignedAccess) and (finding.given, finding.bytes, finding.offset) == ("in", 16, 10)
    (finding,) = Boxes(64, 8, 3, 0, -2).run((" && x >= 0 && y >= 0", ""))[0].findings
    assert isinstance(finding, OutOfBounds) and (finding.given, finding.access, finding.lowest) == ("out", "store", -2)
    with pytest.raises(LaunchStopped, match="unmet"):
        case.run(("sizeof(box)", "sizeof(box) + 16"))


@pytest.mark.parametrize("count", [256, 4])
def test_bytes(count: int) -> None:
    given, out = np.arange(256, dtype=np.uint32), empty(256)
    outcome = run(compiled(BULK), 1, 256, tensor(given, "in"), out, 4 * count)
    assert outcome.findings == []
    np.testing.assert_array_equal(out.values("u4")[:count], given[:count] + 1)


def test_bytes_that_are_no_multiple_of_16() -> None:
    finding, *_ = run(compiled(BULK), 1, 256, tensor(np.zeros(256, "u4"), "in"), empty(256), 24).findings
    assert isinstance(finding, MisalignedAccess) and finding.bytes == 16


def test_the_reference_of_products_on_hopper() -> None:
    text = compiled((ROOT / "reference/cuda/gemm.cu").read_text(encoding="utf-8"))
    (entry,) = (entry for entry in entries(text) if "hopper" in entry)
    rows, columns, inner = 200, 264, 328
    random = np.random.default_rng(5)
    a, b = (random.standard_normal(shape).astype("f2") for shape in ((rows, inner), (inner, columns)))
    c = empty(rows * columns, "c", "f2")
    # Four tiles for three blocks, and a ring of four stages for six steps.
    outcome = run(text, 3, 288, tensor(a, "a"), tensor(b, "b"), c, rows, columns, inner, entry=entry, shared=229_376)
    assert outcome.findings == []
    expected = a.astype("f4") @ b.astype("f4")
    np.testing.assert_allclose(c.values("f2").reshape(rows, columns), expected, rtol=1e-3, atol=1e-2)
