"""Pictures in a report show what was measured: maps of errors, and charts that follow the theme."""

import base64
import re
import struct
import zlib

import pytest

from grader.pages.charts import MOST_TICKS, WIDTH, LadderRung, SampleRow, ladder, strip
from grader.pages.error_map import picture
from grader.pages.pages import mapped, student_page, thumbnails
from grader.results.result import CheckResult, Detail, ErrorMap, Interval
from tests.pages import samples


def test_map_shown_has_an_area() -> None:
    a = samples.assignment("transpose", "wrong_answer")
    thin = samples.failed("transpose", (1, 7))
    assert thin.detail is not None
    thin.detail.error_map = ErrorMap(output_shape=[7, 1], cell_shape=[1, 1], cells=["9"] * 7)
    a.correctness.checks.insert(0, thin)
    thin.detail.error_map.cells[0] = "."
    large = a.correctness.checks[-2]
    assert large.case == "61x128"
    stopped = CheckResult(id="2x2", stage="case", case="2x2", outcome="failed", detail=Detail(
        kind="exception", message="raised"))
    a.correctness.checks.insert(0, stopped)
    # Text and picture are of one case.
    assert mapped(a, stopped) is None
    for check, case in ((None, "5x9"), (thin, "1x7"), (large, "61x128")):
        shown = mapped(a, check)
        assert shown is not None and shown[0].case == case
    assert set(thumbnails(a.correctness.checks, large)) == {thin.id, next(c.id for c in a.correctness.checks
                                                                          if c.case == "5x9")}
    a.correctness.checks = [thin]
    shown = mapped(a, thin)
    assert shown is not None and shown[0] is thin
    # Where every element is wrong a map says nothing.
    thin.detail.error_map.cells[0] = "9"
    assert mapped(a, thin) is None


def test_each_wrong_output_has_a_map_unless_it_says_nothing() -> None:
    a = samples.several_outputs().assignments["gemm"]
    first, second = (check for check in a.correctness.checks if check.detail)
    shown = mapped(a, first)
    assert shown is not None and shown[0] is first
    assert [(figures.name, picture.kept) for figures, picture in shown[1]] == [
        ("out", False), ("scale", False), ("state", True)]
    assert [one.name for one, _ in thumbnails(a.correctness.checks, first)[second.id]] == ["out", "scale", "state"]


def test_error_map_is_a_png_with_the_worst_marked() -> None:
    made = picture(ErrorMap(output_shape=[9, 5], cell_shape=[1, 1], cells=["....."] * 8 + ["..9u."]), [8, 2])
    assert made is not None and (made.left, made.top) == (50.0, 94.44)
    assert made.words == "1 of 45 squares hold a wrong element, 1 an element never written. " \
                         "All of them lie in row 8 and columns 2 to 3."
    data = base64.b64decode(made.uri.partition(",")[2])
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, pixels = 8, b""
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0] == zlib.crc32(name + body)
        pixels = zlib.decompress(body) if name == b"IDAT" else pixels
        at += 12 + length
    assert len(pixels) == made.height * (made.width + 1)
    assert {10, 11} <= set(pixels)


@pytest.mark.parametrize(("shape", "cell_shape", "cells", "index", "place"), [
    ([1009], [1, 8], ["." * 12] * 11, [233], (45.83, 22.73)),
    ([512, 512], [4, 4], ["." * 128] * 128, [511, 0], (0.39, 99.61)),
    ([5, 9], [1, 1], ["." * 9] * 5, [7, 70], (None, None)),
    ([5, 9], [0, 0], ["." * 9] * 5, [1, 1], (None, None)),
    ([2, 3, 4], [1, 1], ["...."] * 6, [1, 1, 1], (None, None)),
])
def test_worst_element_falls_in_its_cell(shape: list[int], cell_shape: list[int], cells: list[str], index: list[int],
                                         place: tuple[float | None, float | None]) -> None:
    made = picture(ErrorMap(output_shape=shape, cell_shape=cell_shape, cells=cells), index)
    assert made is not None and (made.left, made.top) == place


@pytest.mark.parametrize("cells", [[], [""], ["", ""]])
def test_no_cells_no_picture(cells: list[str]) -> None:
    assert picture(ErrorMap(output_shape=[0], cell_shape=[1, 1], cells=cells), None) is None


def test_charts_follow_the_theme_and_keep_their_ids_apart() -> None:
    second = ladder([LadderRung("you", 1.3), LadderRung("eager & co", 1.0)], Interval(median=1.3, low=1.2, high=1.4),
                    (0.2, 0.9), "speed-a", "B <b>")
    third = strip([SampleRow("8x8 & co", [1.2, 1.3, 1.25], Interval(median=1.25, low=1.2, high=1.3))], {"floor": 0.2},
                  "samples-a", "C")
    assert "<title id=\"speed-a-title\">B &lt;b&gt;</title>" in second
    for chart in (second, third):
        colours = re.findall(r'(?:fill|stroke)="([^"]*)"', chart)
        assert len(colours) > 10 and {colour for colour in colours if not colour.startswith("var(--")} <= {"none"}
    assert not set(re.findall(r'id="([^"]*)"', third)) & set(re.findall(r'id="([^"]*)"', second))


@pytest.mark.parametrize("ratios", [[1.0, 1.0], [0.999, 1.001], [1e-5, 3e6], [0.0, 2.0], [0.2, 0.9, 1.0, 40.0]])
def test_an_axis_holds_every_ratio_and_says_some(ratios: list[float]) -> None:
    middle = Interval(median=ratios[0], low=min(ratios), high=max(ratios))
    charts = (ladder([LadderRung(str(number), ratio) for number, ratio in enumerate(ratios)], middle, None, "a", "A"),
              strip([SampleRow("", ratios, None)], {}, "b", "B"))
    for chart in charts:
        places = [float(x) for x in re.findall(r"(?:translate\(|M)([-\d.]+) [-\d.]+(?:\)|h0|L)", chart)]
        assert len(places) >= len(ratios) and all(0 <= x <= WIDTH for x in places), places
        assert 2 <= chart.count('text-anchor="middle"') <= MOST_TICKS, chart


def test_each_wrong_output_has_a_map_and_figures_of_its_own() -> None:
    page = " ".join(student_page(samples.several_outputs()).split())
    for text in ("Worst element <code class=\"size\">out[200, 300]</code>", "<b>Where out is wrong in 512x384.</b>",
                 "<b>Where out begins to be wrong in 512x384.</b>",
                 "<b>scale</b>: 1 of 9 elements is wrong. Worst element <code class=\"size\">scale[3]</code>",
                 "<b>Where scale is wrong in 512x384.</b> 1 of 9 squares", "<small>scale</small>", "scale: 1 of 9",
                 "<b>state</b>: 8 of 16 elements were left as they were. Worst element", "</i> left as it was</li>",
                 "<b>count</b>: All 9 elements were never written.</li>", "<b>rest</b>: right."):
        assert text in page, text
    assert page.count("Stripes and blocks point at") == 1 and page.count('<i class="swatch hatch">') == 2
    assert "Where count is wrong" not in page and "Where rest" not in page
    # A single output needs no name.
    single = student_page(samples.typical())
    assert "<b>Where 512x384 is wrong.</b>" in single and "<small>out</small>" not in single


# A check's detail as it was kept before there were several outputs.
FORMER = ('{"kind":"wrong_values","message":"2 of 6 elements are wrong.","hint":"","guess":"","pattern":"","fits":[],'
          '"place":null,"traceback":"","output":"","wrong":2,"total":6,"unwritten":1,"worst":{"index":[0,2],"got":"1",'
          '"expected":"2","error":"1","allowed":"0.5"},"error_map":{"output_shape":[2,3],"cell_shape":[1,1],'
          '"cells":["..9","u.."]},"corner":null}')


def test_a_detail_of_one_output_is_read_and_written_as_before() -> None:
    detail = Detail.model_validate_json(FORMER)
    assert detail.model_dump_json() == FORMER and detail.about == "out"
    (figures,) = detail.wrong_outputs
    assert (figures.wrong, figures.unwritten, figures.worst, figures.kept) == (2, 1, detail.worst, False)
    result = samples.typical()
    check = next(check for check in result.assignments["transpose"].correctness.checks if check.detail)
    check.detail = detail
    page = " ".join(student_page(result).split())
    assert "1 of 6 squares hold a wrong element, 1 an element never written." in page and "out[0, 2]" in page
