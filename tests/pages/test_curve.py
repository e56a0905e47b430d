"""A sweep as a chart, a table and sentences: what was measured and no more."""

import csv
import io
import xml.etree.ElementTree as ET

import pytest
from rich.console import Console

from grader.pages import curve
from grader.pages.pages import student_page
from grader.results.result import Sweep, SweepPoint
from tests.pages import samples
from tests.rows import each_row

NAN, INFINITE = float("nan"), float("inf")


def point(n: int, **times: float | None) -> SweepPoint:
    amount = 8.0 * n * n
    return SweepPoint(sizes={"M": n, "N": n}, amount=amount, roof_us=amount / 4e6, **times)  # type: ignore[arg-type]


SWEEP = Sweep(unit="GB/s", points=[
    point(1024, student_us=8.0, baseline_us=4.0, compiled_us=3.0, reference_us=2.5),
    point(2048, baseline_us=10.0, compiled_us=10.0, reference_us=9.0).model_copy(update={"trouble": "wrong"}),
    point(4096, student_us=34.0, baseline_us=36.0, compiled_us=35.0, reference_us=34.0),
    point(8192, student_us=135.0, baseline_us=134.9, compiled_us=135.0, reference_us=134.0)])


def test_a_rate_is_the_work_over_the_time() -> None:
    assert curve.rate(SWEEP, SWEEP.points[0], 8.388608) == pytest.approx(1000)
    products = Sweep(unit="TFLOP/s", points=[SweepPoint(sizes={"M": 2}, amount=2e12)])
    assert curve.rate(products, products.points[0], 4000.0) == pytest.approx(500)
    for time in (None, 0.0, -1.0, NAN, INFINITE):
        assert curve.rate(SWEEP, SWEEP.points[0], time) is None


def test_sentences_say_where_it_is_near_the_roof_and_where_it_is_slower() -> None:
    assert curve.sentences(SWEEP) == [
        "At most 99 % of the roof, at 8192×8192; 90 % or more from 4096×4096 on.",
        "Slower than eager at 1 of 3 sizes, the most at 1024×1024: 2 times its time.",
        "Slower than compiled at 1 of 3 sizes, the most at 1024×1024: 2.67 times its time.",
        "Slower than reference at 1 of 3 sizes, the most at 1024×1024: 3.2 times its time."]
    assert curve.sentences(Sweep(unit="GB/s", points=[point(8, baseline_us=1.0)])) == []


def test_the_table_leaves_out_what_nobody_measured() -> None:
    def shown(sweep: Sweep) -> str:
        console = Console(file=io.StringIO(), width=80, color_system=None)
        console.print(curve.table(sweep))
        return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]

    rows = [line.split() for line in shown(SWEEP).splitlines()]
    assert rows[0] == ["GB/s", "you", "eager", "compiled", "reference", "your", "µs", "of", "the", "roof"]
    assert rows[1] == ["1024×1024", "1,049", "2,097", "2,796", "3,355", "8", "26", "%"]
    assert rows[2][:2] == ["2048×2048", "–"] and rows[2][-2:] == ["–", "–"]
    # A student's kit has no reference.
    without = SWEEP.model_copy(update={"points": [p.model_copy(update={"reference_us": None}) for p in SWEEP.points]})
    assert "reference" not in shown(without) and "reference" not in curve.chart(without, "a", "b")


def test_csv_has_every_time() -> None:
    rows = list(csv.DictReader(io.StringIO(curve.as_csv(SWEEP))))
    assert [row["M"] for row in rows] == ["1024", "2048", "4096", "8192"]
    assert rows[0]["bytes"] == "8388608" and rows[0]["student_us"] == "8.000" and rows[1]["student_us"] == ""


def test_the_chart_draws_each_kernel_and_breaks_where_one_has_no_time() -> None:
    drawn = ET.fromstring(curve.standalone(SWEEP, "SiLU & more"))
    space = "{http://www.w3.org/2000/svg}"
    assert drawn.find(f"{space}title").text == "SiLU & more"  # type: ignore[union-attr]
    texts = [element.text for element in drawn.iter(f"{space}text")]
    assert texts[:1] == ["0"] and "8192²" in texts and {"you", "eager", "compiled", "reference", "roof"} <= {*texts}
    markers = [element for element in drawn.iter(f"{space}path") if element.get("transform")]
    assert len(markers) == 3 + 3 * 4 + 4  # the points that there are, and the legend
    mine = [element.get("d") or "" for element in drawn.iter(f"{space}path") if element.get("stroke-width") == "2"]
    assert [path.count("M") for path in mine] == [2]


@each_row("points", [
    [], [point(8)], [point(8, student_us=NAN)], [point(8, student_us=1.0)],
    [point(8, student_us=1.0), point(8, student_us=1.0)],
    [SweepPoint(sizes={}, amount=INFINITE, student_us=1.0),
     SweepPoint(sizes={"M": 10**80}, amount=NAN, student_us=2.0)],
])
def test_odd_sweeps_are_drawn_or_left_out(points: list[SweepPoint]) -> None:
    sweep = Sweep(unit="GB/s", points=points)
    drawn = curve.chart(sweep, "a", "b")
    assert "nan" not in drawn and "inf" not in drawn
    assert all("nan" not in sentence and "inf" not in sentence for sentence in curve.sentences(sweep))
    Console(file=io.StringIO()).print(curve.table(sweep))
    assert curve.as_csv(sweep).count("\n") == len(points) + 1


def test_a_report_shows_the_sweep_that_was_asked_for() -> None:
    plain = samples.result("A", speed=True)
    name, a = next((name, a) for name, a in plain.assignments.items() if a.performance.timings)
    swept = a.model_copy(update={"performance": a.performance.model_copy(update={"sweep": SWEEP})})
    page = student_page(plain.model_copy(update={"assignments": {**plain.assignments, name: swept}}))
    assert page.count("Speed by size") == 1 and "90 % or more from 4096×4096 on." in page
    assert f'id="sweep-{name.replace("_", "-")}-title"' in page
    assert "Speed by size" not in student_page(plain)
