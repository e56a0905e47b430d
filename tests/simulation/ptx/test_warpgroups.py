"""Products of warpgroups: what they are, and who uses them or their operands too early."""

import numpy as np

from grader.plan.findings import OutOfBounds, UndefinedBehaviour, UnwrittenAccess
from grader.plan.plan import Integer
from tests.rows import each_row
from tests.simulation.ptx.launching import Outcome, empty, run, tensor
from tests.simulation.ptx.warpgroups import PRODUCTS, Product, drawn


def made(product: Product, text: str = "", **descriptors: int) -> tuple[Outcome, np.ndarray, np.ndarray]:
    image, (a, b), expected = drawn(product)
    out = empty(128 * product.words)
    given = [Integer(type="u64", value=descriptors.get(name, value)) for name, value in (("a", a), ("b", b))]
    outcome = run(text or product.text(), 1, 128, tensor(image, "image"), out, *given)
    return outcome, product.result(out.values("u4")), expected


@each_row("product", PRODUCTS, ids=str)
def test_products(product: Product) -> None:
    outcome, found, expected = made(product)
    assert outcome.findings == []
    np.testing.assert_allclose(found, expected, rtol=2e-3 if product.kinds[0] == "f16" else 1e-6)


WAIT = "wgmma.wait_group.sync.aligned 0;"


def test_sums_that_nobody_waited_for() -> None:
    text = Product().text()
    (finding,) = made(Product(), text.replace(WAIT, ""))[0].findings
    assert isinstance(finding, UndefinedBehaviour) and (finding.what, finding.certain) == ("pending", True)
    (finding,) = made(Product(), text.replace(WAIT, "wgmma.wait_group.sync.aligned 1;"))[0].findings
    assert isinstance(finding, UndefinedBehaviour) and finding.what == "pending"
    # Under another name.
    assert made(Product(), text.replace(WAIT, f"mov.b32 %r8, %d5; {WAIT} add.u32 %r8, %r8, 1;"))[0].findings == []
    (finding,) = made(Product(), text.replace(WAIT, f"mov.b32 %r8, %d5; add.u32 %r8, %r8, 1; {WAIT}"))[0].findings
    assert isinstance(finding, UndefinedBehaviour) and finding.what == "pending"


def test_operands_whose_copies_nobody_waited_for() -> None:
    copied = Product().text().replace("ld.global.b32 %r4, [%x5]; st.shared.b32 [%r2], %r4;",
                                      "cp.async.ca.shared.global [%r2], [%x5], 4; cp.async.commit_group;")
    assert made(Product(), copied.replace("bar.sync 0;", "cp.async.wait_group 0; bar.sync 0;"))[0].findings == []
    for wait in ("", "cp.async.wait_group 80;"):
        (finding,) = made(Product(), copied.replace("bar.sync 0;", f"{wait} bar.sync 0;"))[0].findings
        assert isinstance(finding, UndefinedBehaviour) and (finding.what, finding.certain) == ("pending", True)


def test_sums_that_nothing_has_set() -> None:
    # The first product drops what was there; where it adds to it, a GPU adds to anything.
    adds = Product().text().replace("setp.ne.u32 %p1, 0, 0;", "setp.eq.u32 %p1, 0, 0;")
    (finding,) = made(Product(), adds)[0].findings
    assert isinstance(finding, UndefinedBehaviour) and (finding.what, finding.certain) == ("unset", False)


def test_operands_that_are_not_there() -> None:
    (finding,) = made(Product(), a=40000 >> 4 | 64 << 32 | 1 << 62)[0].findings
    assert isinstance(finding, OutOfBounds) and (finding.tensor, finding.space) == ("memory", "shared")
    never = Product().text().replace("st.shared", "setp.ne.u32 %p0, 0, 0; @%p0 st.shared", 1)
    (finding,) = made(Product(), never)[0].findings
    assert isinstance(finding, UnwrittenAccess) and finding.tensor == "memory"
    (finding,) = made(Product(), Product().text().replace("bar.sync 0;", ""))[0].findings
    assert isinstance(finding, UndefinedBehaviour) and finding.what == "shared"
