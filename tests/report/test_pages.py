"""The pages and the gradebook as text: what they say, and that nothing in a result can break out of them."""

from __future__ import annotations

import base64
import csv
import io
import json
import os
import re
import struct
import zlib
from html.parser import HTMLParser
from pathlib import Path

import pytest

from grader.report import Entry, Failure, load_results, write_all, write_class, write_student
from grader.report.charts import COLOURS, Row, Rung, distribution, ladder, strip
from grader.report.error_map import picture
from grader.report.findings import findings, headline, not_measured
from grader.report.gradebook import cell, gradebook
from grader.report.pages import class_page, link, mapped, student_page
from grader.report.speed import why_points
from grader.report.stages import rungs as ladder_rungs
from grader.report.stages import standing
from grader.report.tally import tallies
from grader.report.text import figure, points, seconds
from grader.result import ErrorMap, Interval, Performance, Result, Verdict
from grader.result import Rung as CourseRung
from grader.text import clean
from tests.report import samples, speeds

STUDENT_BYTES = 1_000_000
CLASS_BYTES = 1_500_000
CLASS_SIZE = 300
TEMPLATES = Path(__file__).resolve().parents[2] / "grader/report/templates"


class Elements(HTMLParser):
    """The elements of a page, and the text of each."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def put(out: Path, folder: str, result: Result) -> None:
    (out / folder).mkdir(parents=True)
    (out / folder / "result.json").write_text(result.model_dump_json(by_alias=True), encoding="utf-8")


def rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


@pytest.mark.parametrize(("text", "shown"), [
    ("\x1b[31mred\x1b[0m", "red"),
    ("\x1b]0;title\x07after", "after"),
    ("\x1b]0;never ended, then text", "0;never ended, then text"),
    ("bell\x07 nul\x00 del\x7f", "bell\u2407 nul\u2400 del\u2421"),
    ("exe\u202egpj", "exe[U+202E]gpj"),
    ("lone \ud800", "lone \ufffd"),
    ("tab\tand\r\nline", "tab\tand\nline"),
    ("Zoë 李小龙 √", "Zoë 李小龙 √"),
])
def test_text_is_cleaned(text: str, shown: str) -> None:
    assert clean(text) == shown
    assert clean(shown) == shown


def test_long_text_loses_its_middle() -> None:
    short = clean("first" + "名" * 20_000 + "last")
    assert len(short.encode()) < 20_100
    assert short.startswith("first") and short.endswith("last") and "left out" in short


def test_unfinished_escapes_take_linear_time() -> None:
    assert len(clean("\x1b]" * 500_000 + "\x1bP" * 500_000)) < 20_100


@pytest.mark.parametrize(("shown", "expected"), [
    (points(312.5), "312.5"), (points(60), "60"), (points(0.333333), "0.33"), (points(float("nan")), "?"),
    (figure(0.0123456), "0.0123"), (figure(12345.6), "12,346"), (figure(4.2e7), "4.2e+07"), (figure(None), "–"),
    (figure(float("inf")), "infinite"), (seconds(0.0456), "45.6 ms"), (seconds(1.5), "1.5 s"),
    (seconds(4e-6), "4 µs"), (seconds(600), "10 min"), (seconds(None), "–"),
])
def test_figures(shown: str, expected: str) -> None:
    assert shown == expected


@pytest.mark.parametrize(("verdicts", "sentence"), [
    ({}, "All six kernels are right."),
    ({"gemm": "wrong_answer"}, "Five of six kernels are right; GEMM is the one to fix first."),
    ({"gemm": "wrong_answer", "silu": "policy_violation"},
     "Four of six kernels are right; SiLU is the one to fix first."),
    (dict.fromkeys(samples.KERNELS, "wrong_answer"),
     "None of the six kernels is right yet; SiLU is the one to fix first."),
    (dict.fromkeys(list(samples.KERNELS)[1:], "time_limit"),
     "One of six kernels is right; RMSNorm, one vector is the one to fix first."),
    ({"gemm": "infrastructure_error", "silu": "time_limit"},
     "Four of five kernels are right; SiLU is the one to fix first. One could not be judged."),
    (dict.fromkeys(samples.KERNELS, "missing"), "None of the six files was found."),
    (dict.fromkeys(samples.KERNELS, "infrastructure_error"),
     "The grader failed before it could judge anything: that is our fault and costs no points."),
    ({"gemm": "needs_gpu"}, "All five kernels are right. One could not be judged."),
    (dict.fromkeys(samples.KERNELS, "needs_gpu"),
     "Nothing could be judged on this machine: that costs no points."),
])
def test_headline(verdicts: dict[str, Verdict], sentence: str) -> None:
    assert headline(samples.result("A", verdicts)) == sentence


def test_findings_are_worst_first_and_show_the_smallest_case() -> None:
    result = samples.every_verdict()
    found = findings(result)
    assert [f.name for f in found] == ["rmsnorm_matrix", "silu", "rmsnorm_vector", "transpose", "copy_first_column"]
    transpose = next(f for f in found if f.name == "transpose")
    assert transpose.check is not None and transpose.check.case == "5x9"
    assert transpose.hint == samples.HINTS["transpose"]


def test_finding_is_titled_without_its_example() -> None:
    result = samples.typical()
    result.assignments["transpose"].message = "wrong in 2 of 4 cases, and just where M ≠ N; first 5x9: out[1, 0] is 0"
    found = findings(result)[0]
    assert found.title == "Wrong in 2 of 4 cases, and just where M ≠ N."
    assert found.text == "42 of 45 elements are wrong."


def test_map_shown_has_an_area() -> None:
    a = samples.assignment("transpose", "wrong_answer")
    thin = samples.failed("transpose", (1, 7))
    assert thin.detail is not None
    thin.detail.error_map = ErrorMap(output_shape=[7, 1], cell_shape=[1, 1], cells=["9"] * 7)
    a.correctness.checks.insert(0, thin)
    shown = mapped(a)
    assert shown is not None and shown[0].case == "5x9"
    a.correctness.checks = [thin]
    shown = mapped(a)
    assert shown is not None and shown[0] is thin


def test_what_was_not_measured_is_said_with_its_reason() -> None:
    said = not_measured(samples.every_verdict())
    assert any("GEMM (100 points)" in line and "A worker could not be started." in line for line in said)
    assert f"Speed of the other five kernels (200 points): {samples.NO_GPU}" in said
    assert not_measured(samples.result("A", speed=True)) == []


def test_student_page_says_what_matters() -> None:
    page = student_page(samples.typical())
    for text in ("Ada Lovelace", "<b>240</b> of 360 points measured", "(600 in all)", "out[8, 0]", "transpose.py:31",
                 "never written", "How this was measured", "9f3c0d51b7e24a68", "kernelmark grade submissions/12"):
        assert text in page
    order = [page.index(text) for text in
             ("Four of six", "Not measured", "Fix first", "Kernel by kernel", "checks passed", "How this was measured")]
    assert order == sorted(order)


def test_measured_speed_is_drawn() -> None:
    result = samples.result("A", {"silu": "wrong_answer"}, speed=True)
    page = student_page(result)
    # A ladder and the samples of each kernel that is right.
    assert page.count('class="chart"') == 2 * (len(samples.KERNELS) - 1)
    text = " ".join(Elements(page).text)
    for said in (
        "0.989 times the speed of torch.mm(a, b, out=out) (0.987 to 0.991, over 3 cases).",
        "All 40 points: a ratio of 0.9 or more earns them.",
        "677 of 680 TFLOP/s", "139 %", "looks impossible", "This is flagged for a person to look at",
        "Speed: 0 of 40 points. Speed counts once every case is right.",
    ):
        assert said in text, said
    assert page.count('class="light above"') == 1


def test_a_slow_kernel_is_told_what_the_next_point_takes() -> None:
    speed = speeds.performance("rmsnorm_vector", faster=1.0)
    kernel = samples.assignment("rmsnorm_vector", speed=speed)
    assert 0 < speed.points < speed.max_points
    assert re.match(r"[\d.]+ of 40 points: none at a ratio of 0.2, all at 0.9; the next point comes at about 0\.4",
                    why_points(kernel))
    slower = speeds.performance("rmsnorm_vector", faster=0.2)
    said = why_points(samples.assignment("rmsnorm_vector", speed=slower))
    assert said.startswith("None of 40 points: they begin above a ratio of 0.2; the first point comes at about 0.21")


NEXT = {
    "V3": "Next is V3 tiled at 2.9×: “32×32 tiles, turned through shared memory”.",
    "V4": "Next is V4 tuned at 3.52×: “tiles in the order in which `out` is written”.",
    "finished": "Next is the finished kernel at 3.55×.",
}
STANDS = [
    (0.5, 0, "Below every stage of the course. Next is V1 rowwise at 0.99×: “a program a row of x: coalesced reads”."),
    # The baseline's own place: V0 is no stage to stand on, V1 is.
    (1.0, 0.02, "Level with V1 rowwise. Next is V2 writes at 1.98×: “a program a row of out: coalesced writes”."),
    (2.5, 0, f"Between V2 writes and V3 tiled. {NEXT['V3']}"),
    (2.87, 0.04, f"Level with V3 tiled. {NEXT['V4']}"),
    (2.87, 0.01, f"Between V2 writes and V3 tiled. {NEXT['V3']}"),
    (3.535, 0.01, f"Between V4 tuned and the finished kernel. {NEXT['finished']}"),
    (3.53, 0.03, "Level with V4 tuned and the finished kernel."),
    (4.0, 0.1, "Above every stage of the course."),
]


def at(ratio: float, doubt: float, ladder: list[CourseRung]) -> Performance:
    return Performance(status="measured", max_points=40, ladder=ladder, speedup=Interval(
        median=ratio, low=ratio - doubt, high=ratio + doubt))


@pytest.mark.parametrize(("ratio", "doubt", "said"), STANDS)
def test_where_a_kernel_stands_among_the_stages(ratio: float, doubt: float, said: str) -> None:
    assert standing(at(ratio, doubt, speeds.LADDER)) == said
    # In whatever order they were measured.
    assert standing(at(ratio, doubt, speeds.LADDER[::-1])) == said


def test_where_a_kernel_stands_that_has_no_stages() -> None:
    alone = [speeds.REFERENCE]
    assert standing(at(1.0, 0, alone)) == f"Below the finished kernel. {NEXT['finished']}"
    assert standing(at(3.5, 0.1, alone)) == "Level with the finished kernel."
    assert standing(at(4.0, 0.1, alone)) == "Above the finished kernel."
    # What no axis can show is left out; PyTorch alone is no stage.
    unusable = [CourseRung(name="V1", ratio=ratio) for ratio in (0, -1, float("nan"), float("inf"))]
    for few, drawn in (([], 0), ([speeds.LADDER[1]], 1), (unusable, 0)):
        assert standing(at(1.0, 0.1, few)) == ""
        # You and the baseline are always there.
        assert len(ladder_rungs(at(1.0, 0.1, few))) == 2 + drawn
    assert standing(Performance(max_points=40, ladder=speeds.LADDER)) == ""


def test_the_page_shows_the_stages_and_escapes_them() -> None:
    result = samples.result("A", speed=True)
    speed = result.assignments["transpose"].performance
    without = student_page(result)
    assert "course's stages" not in without and "Circles are" not in without
    speed.ladder = speeds.LADDER
    page = student_page(result)
    text = " ".join(" ".join(Elements(page).text).split())
    assert "Between V3 tiled and V4 tuned. Next is V4 tuned at 3.52×: “tiles in the order in which out is written”." \
        in text
    assert "<code>out</code> is written" in page and page.count("Among the course's stages") == 1
    assert "reference 3.55, V4 tuned 3.52, you 3.4" in page and "V0 torch 1," in page
    for field in ("name", "title"):
        speed.ladder = [rung.model_copy(update={field: f"{samples.SCRIPT} {samples.REORDERED} {samples.LONG}"})
                        for rung in speeds.LADDER]
        elements = Elements(student_page(result))
        assert [tag for tag, _ in elements.tags].count("script") == 1
        assert all(tag != "img" and "onerror" not in attributes for tag, attributes in elements.tags)
        assert samples.SCRIPT in " ".join(elements.text)


def test_speed_is_in_the_gradebook_where_it_was_measured() -> None:
    rows = list(csv.reader(gradebook([Entry("a", samples.result("A", speed=True)), Entry("b", samples.result("B"))])
                           .splitlines()))
    column = rows[0].index("gemm_speedup")
    assert rows[0][column + 1] == "gemm_speed_points"
    assert [row[column : column + 2] for row in rows[1:]] == [["0.9888", "40"], ["", ""]]
    assert "gemm_speedup" not in gradebook([Entry("b", samples.result("B"))])


def test_a_result_of_before_speed_was_measured_still_loads(tmp_path: Path) -> None:
    data = json.loads(samples.result("A").model_dump_json(by_alias=True))
    for kernel in data["assignments"].values():
        kernel["performance"] |= {"student_us": None, "baseline_us": None, "roof_fraction": None}
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "result.json").write_text(json.dumps(data))
    loaded = load_results(tmp_path)
    assert not loaded.failures and loaded.entries[0].result.student == "A"


def test_hostile_text_stays_text() -> None:
    result = samples.hostile()
    student, klass = student_page(result), class_page([Entry("x", result)], [Failure(samples.SCRIPT, samples.SCRIPT)])
    for page in (student, klass):
        elements = Elements(page)
        assert [tag for tag, _ in elements.tags].count("script") == 1
        assert all(not name.startswith("on") for _, attributes in elements.tags for name in attributes)
        assert all(tag != "img" or (a["src"] or "").startswith("data:image/png;base64,") for tag, a in elements.tags)
        assert any(samples.SCRIPT in text for text in elements.text)
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", page)
    assert "{{ 7 * 7 }}" in student


def test_page_stays_small_when_every_text_is_long(tmp_path: Path) -> None:
    result = samples.hostile()
    assert write_student(result, tmp_path).stat().st_size <= STUDENT_BYTES
    for a in result.assignments.values():
        checks = a.correctness.checks
        a.correctness.checks = [check.model_copy(update={"id": f"{check.id}-{i}"}, deep=True)
                                for i in range(100) for check in checks]
        for i, check in enumerate(a.correctness.checks):
            if check.detail:
                check.detail.traceback = check.detail.output = f"{i}" + "'\"<&" * 5_000
    assert write_student(result, tmp_path).stat().st_size <= STUDENT_BYTES


def test_pages_load_nothing() -> None:
    for page in (student_page(samples.typical()), class_page([Entry("a", samples.typical())])):
        assert "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:" in page
        for tag, attributes in Elements(page).tags:
            address = attributes.get("src") or attributes.get("href") or "#"
            assert address.startswith(("#", "data:")) or (tag == "a" and address.startswith("./"))
        assert "http" not in page.replace("http-equiv", "")


def test_same_json_same_bytes(tmp_path: Path) -> None:
    for out in ("one", "two"):
        for folder, result in samples.class_of(5):
            put(tmp_path / out, folder, result)
        put(tmp_path / out, "fast", samples.result("Fast", speed=True))
        write_all(tmp_path / out)
    files = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*.*"))
    assert len(files) == 6 * 2 + 2
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_class_of_three_hundred_is_small(tmp_path: Path) -> None:
    write_class([Entry(folder, result) for folder, result in samples.class_of(CLASS_SIZE)], tmp_path)
    assert 100_000 < (tmp_path / "index.html").stat().st_size <= CLASS_BYTES
    assert len(rows((tmp_path / "gradebook.csv").read_text())) == CLASS_SIZE + 1


def test_hostile_class_of_three_hundred_is_small(tmp_path: Path) -> None:
    result = samples.hostile()
    write_class([Entry(f"folder-{i}", result) for i in range(CLASS_SIZE)], tmp_path)
    assert (tmp_path / "index.html").stat().st_size <= 2 * CLASS_BYTES


def test_one_unreadable_result_is_reported_and_the_rest_shown(tmp_path: Path) -> None:
    put(tmp_path, "ada", samples.typical())
    put(tmp_path, "old", samples.typical().model_copy(update={"schema_": "kernelmark/result/v0"}))
    for folder, text in (("cut", b'{"schema": "kernel'), ("bytes", b"\xff\xfe\x00"), ("deep", b"[" * 200_000)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "result.json").write_bytes(text)
    (tmp_path / "empty").mkdir()
    (tmp_path / "fifo").mkdir()
    os.mkfifo(tmp_path / "fifo" / "result.json")
    (tmp_path / "link").symlink_to("x" * 300)
    loaded = load_results(tmp_path)
    assert [entry.folder for entry in loaded.entries] == ["ada"]
    assert [failure.folder for failure in loaded.failures] == ["bytes", "cut", "deep", "empty", "fifo", "link", "old"]
    page = write_all(tmp_path).read_text()
    assert page.index("the grader failed") < page.index("Ada Lovelace")
    assert "There is no result.json" in page and "kernelmark/result/v0" in page


def test_links_follow_the_folder_not_the_name(tmp_path: Path) -> None:
    put(tmp_path, "50% #1?&\"<ü", samples.typical())
    write_all(tmp_path)
    assert link("50% #1?&\"<ü") == "./50%25%20%231%3F%26%22%3C%C3%BC/report.html"
    assert link("50% #1?&\"<ü") in (tmp_path / "index.html").read_text()
    assert (tmp_path / "50% #1?&\"<ü" / "report.html").is_file()


def test_empty_class(tmp_path: Path) -> None:
    write_class([], tmp_path)
    assert "No submission has a result yet." in (tmp_path / "index.html").read_text()
    assert rows((tmp_path / "gradebook.csv").read_text()) == [["student", "score", "max_score", "measured_max"]]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1+1", "@SUM(1)", "\tx", "\rx", "  =1", "＝1"])
def test_formulas_are_defused(text: str) -> None:
    assert cell(text).startswith("'")


def test_gradebook() -> None:
    hostile = [Entry(f"f{i}", samples.result(name)) for i, name in enumerate(samples.HOSTILE_NAMES)]
    broken = samples.result("Broken", {"gemm": "infrastructure_error"})
    minus = samples.result("Minus")
    minus.score = -2.5
    text = gradebook([*hostile, Entry("broken", broken), Entry("minus", minus)])
    head, *body = rows(text)
    assert head[:6] == ["student", "score", "max_score", "measured_max", "silu_points", "silu_verdict"]
    assert len(body) == len(hostile) + 2 and all(len(row) == len(head) == 4 + 2 * len(samples.KERNELS) for row in body)
    for row in body:
        assert not row[0].startswith(("=", "+", "-", "@", "\t", "\r"))
    assert body[-2][1] == "" and body[-2][-2:] == ["", "infrastructure_error"]
    assert body[-1][1] == "-2.5"
    assert '"Minus",-2.5,600,360,60,"accepted"' in text


def test_what_only_a_gpu_can_judge_is_neither_won_nor_lost() -> None:
    result = samples.result("Ada", {"gemm": "needs_gpu"})
    result.assignments["silu"].remarks = ["Line 40 was skipped: it measures `time`."]
    assert result.measured_max == 300 and result.score == 300
    assert findings(result) == []
    page = student_page(result)
    assert "not judged" in page and "needs a GPU" in page and "neither won nor lost" in page
    assert "GEMM (100 points): only a GPU can judge it" in page
    assert "Line 40 was skipped: it measures <code>time</code>." in page
    entries = [Entry("ada", result)]
    (row,) = rows(gradebook(entries))[1:]
    assert row[1] == "" and row[3] == "300" and row[-2:] == ["", "needs_gpu"]
    gemm = next(t for t in tallies(entries) if t.name == "gemm")
    assert gemm.scores == [] and gemm.count["unmeasured"] == 1


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
    first = distribution([0, 60, 60, 59.9], 60, "points-a", "A <b>")
    second = ladder([Rung("you", 1.3), Rung("eager & co", 1.0)], Interval(median=1.3, low=1.2, high=1.4), (0.2, 0.9),
                    "speed-a", "B")
    third = strip([Row("8x8 & co", [1.2, 1.3, 1.25], Interval(median=1.25, low=1.2, high=1.3))], {"floor": 0.2},
                  "samples-a", "C")
    assert "<title id=\"points-a-title\">A &lt;b&gt;</title>" in first and "1 with 0 to 6, 3 with 54 to 60" in first
    for chart in (first, second, third):
        assert "<text" in chart and "var(--" in chart and "<metadata" not in chart and "xlink:" not in chart
        assert not any(colour in chart for colour in COLOURS)
        assert set(re.findall(r"url\(#([^)]*)\)", chart)) <= set(re.findall(r'id="([^"]*)"', chart))
    assert not set(re.findall(r'id="([^"]*)"', first)) & set(re.findall(r'id="([^"]*)"', second))


def test_style_and_script_stay_short() -> None:
    assert len((TEMPLATES / "style.css").read_text().splitlines()) <= 300
    assert len((TEMPLATES / "page.js").read_text().splitlines()) <= 150
