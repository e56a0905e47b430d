"""The pages in a real browser: sorting, filtering, themes, print, and that nothing runs or leaves the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from grader.course import catalogue
from grader.course.course import read_course
from grader.course.submission import find_submissions
from grader.grading.grading import grade
from grader.grading.job import read_job
from grader.home import ROOT
from grader.pages.pages import write_all
from tests.pages import samples, speeds

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page, Request

STUDENTS = 13
LEAST_CONTRAST = 4.5
# What A4 has between margins of 1.5 cm, in CSS pixels.
PAPER_WIDTH, PAPER_HEIGHT = 680, 1009
WIDTHS = (400, 1160, 1280)
PAPER = "getComputedStyle(document.body).backgroundColor"
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
PAGES = {"typical": "typical/report.html", "several": "several/report.html",
         "every": "every/report.html", "fast": "fast/report.html", "hostile": "hostile/report.html",
         "carol": "carol/report.html", "class": "index.html"}
UNFOLD = "document.querySelectorAll('details').forEach((d) => { d.open = true; })"

# What lies beyond the page's sides, and what is larger than the box that it is cut to. A long text that is quoted, such
# as a traceback, scrolls in a box of its own.
CUT = Path(__file__).with_name("cut.js").read_text(encoding="utf-8")
# Every visible text's colour against what lies behind it; a text in an SVG is painted with `fill`.
CONTRAST = Path(__file__).with_name("contrast.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    # One of the sample class as it is graded.
    known = catalogue.assignments()
    (carol,) = find_submissions(ROOT / "examples/class/carol", catalogue.files().values())
    course = read_course(ROOT / "course.toml", frozenset(known))
    graded = grade(read_job(carol, course, ("silu", "transpose", "rmsnorm_vector"))).result
    assert graded is not None
    made = {"carol": graded, "typical": samples.typical(), "several": samples.several_outputs(),
            "every": samples.every_verdict(), "hostile": samples.hostile(),
            "fast": samples.result("Fast Fiona", {"gemm": "wrong_answer"}, speed=True),
            **dict(samples.class_of(STUDENTS - 6))}
    made["fast"].assignments["transpose"].performance.ladder = speeds.LADDER
    for name, result in made.items():
        (folder / name).mkdir()
        (folder / name / "result.json").write_text(result.model_dump_json(by_alias=True), encoding="utf-8")
    write_all(folder)
    return folder


class Tab:
    """A page that visits one file after another: each new one takes the browser two seconds."""

    def __init__(self, browser: Browser, scripts: bool) -> None:
        self.page = browser.new_context(java_script_enabled=scripts, accept_downloads=False).new_page()
        self.address, self.trouble = "", list[str]()
        self.page.on("console", lambda message: self.trouble.append(message.text))
        self.page.on("pageerror", lambda error: self.trouble.append(str(error)))
        self.page.on("dialog", self._dismiss)
        self.page.on("request", self._note)

    def _dismiss(self, dialog: Dialog) -> None:
        self.trouble.append(dialog.message)
        dialog.dismiss()

    def _note(self, request: Request) -> None:
        if request.url != self.address and not request.url.startswith("data:"):
            self.trouble.append(request.url)


@pytest.fixture(scope="module")
def tabs(browser: Browser) -> dict[bool, Tab]:
    """With scripts and without."""
    return {scripts: Tab(browser, scripts) for scripts in (True, False)}


@pytest.fixture
def visit(tabs: dict[bool, Tab], out: Path) -> Iterator[Callable[..., Page]]:
    """Opens a page by name; at the end, no page may have complained, asked for anything else or shown a dialogue."""

    def go(name: str, scheme: Literal["light", "dark"] = "light", scripts: bool = True, width: int = 1280) -> Page:
        tab = tabs[scripts]
        tab.page.set_viewport_size({"width": width, "height": 800})
        tab.page.emulate_media(media="screen", color_scheme=scheme)
        tab.address = (out / PAGES[name]).as_uri()
        tab.page.goto(tab.address)
        return tab.page

    yield go
    trouble = [said for tab in tabs.values() for said in tab.trouble]
    for tab in tabs.values():
        tab.trouble.clear()
    assert trouble == []


def names(page: Page) -> list[str]:
    return page.locator("#students tbody th:visible").all_text_contents()


def totals(page: Page) -> list[float]:
    return [float(text) for text in page.locator("#students tbody td:nth-child(2) b").all_text_contents()]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_at_every_width_on_paper_and_in_both_schemes(visit: Callable[..., Page], name: str) -> None:
    page = visit(name, "dark", width=400)
    _one_column_and_then_the_right_third(page, cards=name != "class")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") == width
    _print_is_white_with_passed_checks_folded(page, scripts=True)
    page.emulate_media(media="screen")
    page.evaluate(UNFOLD)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.evaluate(CUT, width) == []
    page.set_viewport_size({"width": 400, "height": 800})
    papers = set()
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        papers.add(page.evaluate(PAPER))
        measured = page.evaluate(CONTRAST)
        assert len(measured) > 50
        assert [item for item in measured if item[0] < LEAST_CONTRAST] == []
    assert len(papers) == len(SCHEMES)


def _one_column_and_then_the_right_third(page: Page, cards: bool) -> None:
    widths = page.locator("h1, h2:visible, article.card p:visible").evaluate_all(
        "(all) => all.map((one) => one.parentElement.getBoundingClientRect().width)")
    assert widths and min(widths) > 250
    page.set_viewport_size({"width": 1280, "height": 800})
    # Of every card something stands there, beside what is above or below.
    locator = page.locator("article.card")
    assert (locator.count() > 0) == cards
    for number in range(locator.count()):
        rights = locator.nth(number).locator("p, li, td, th, svg, img, .code").evaluate_all(
            "(all) => all.map((one) => one.getBoundingClientRect().right)")
        assert max(rights) > 1280 * 2 / 3


def _print_is_white_with_passed_checks_folded(page: Page, scripts: bool) -> None:
    page.set_viewport_size({"width": PAPER_WIDTH, "height": 800})
    page.emulate_media(media="print", color_scheme="dark")
    if scripts:
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("document.documentElement.scrollWidth") == PAPER_WIDTH
    assert page.evaluate(CUT, PAPER_WIDTH) == []
    assert page.evaluate(PAPER) == "rgb(255, 255, 255)"
    assert [item for item in page.evaluate(CONTRAST) if item[0] < LEAST_CONTRAST] == []
    for summary in page.locator("summary", has_text="passed").all():
        assert not summary.locator("xpath=../*[2]").is_visible()
    for evidence in page.locator("details.evidence").all():
        assert evidence.locator("xpath=./*[2]").is_visible()


@pytest.mark.parametrize("name", PAGES)
def test_readable_without_scripts_and_on_paper(visit: Callable[..., Page], name: str) -> None:
    page = visit(name, "dark", scripts=False)
    assert page.locator("button:visible, input:visible").count() == 0
    assert page.locator("h1").is_visible()
    _print_is_white_with_passed_checks_folded(page, scripts=False)
    page.emulate_media(media="screen")
    if name == "class":
        assert len(names(page)) == STUDENTS
    else:
        assert page.locator("[id^=kernel-]").count() in (len(samples.KERNELS), 3)
        page.locator("summary", has_text="passed").first.click()
        assert page.locator("details[open] table").first.is_visible()


def test_what_is_cut_is_really_found(visit: Callable[..., Page]) -> None:
    page = visit("typical", width=400)
    page.add_style_tag(content="h3 { white-space: nowrap; width: 3rem; overflow: hidden; }")
    assert page.evaluate(CUT, 400) != []


def test_contrast_is_really_measured(visit: Callable[..., Page]) -> None:
    page = visit("typical")
    page.add_style_tag(content="h1 { color: #999 !important; }")
    assert any(ratio < LEAST_CONTRAST and text == "Ada Lovelace" for ratio, text in page.evaluate(CONTRAST))


def test_hostile_text_is_shown_and_does_nothing(visit: Callable[..., Page]) -> None:
    page = visit("hostile")
    assert page.locator("h1").inner_text() == samples.SCRIPT
    assert page.locator("script").count() == 1
    assert page.locator("img[onerror]").count() == 0


def test_the_texts_of_a_ladder_do_not_meet(visit: Callable[..., Page]) -> None:
    page = visit("fast")
    chart = page.locator("#kernel-transpose svg.chart").first
    boxes = chart.locator("text").evaluate_all(
        "(texts) => texts.map((t) => [t.textContent, t.getBoundingClientRect()]).map(([s, b]) => "
        "[s, b.left, b.right, b.top, b.bottom])")
    assert {"you", "baseline", "compiled", "target", "floor", *(rung.name for rung in speeds.LADDER)} <= {
        text for text, *_ in boxes}
    # A line's box has room above and below its letters.
    assert [(a[0], b[0]) for number, a in enumerate(boxes) for b in boxes[:number]
            if a[1] < b[2] and b[1] < a[2] and a[3] + 2 < b[4] and b[3] + 2 < a[4]] == []
    whole = chart.bounding_box()
    assert whole is not None
    assert all(whole["x"] <= left and right <= whole["x"] + whole["width"] for _, left, right, *_ in boxes)


def test_sorting_by_click(visit: Callable[..., Page]) -> None:
    page = visit("class")
    assert page.locator("#students thead button").count() == 3 + len(samples.KERNELS)
    head = page.locator("#students thead th", has_text="total")
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert totals(page) == sorted(totals(page), reverse=True)
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert totals(page) == sorted(totals(page)) and len(set(totals(page))) > 2
    assert page.locator("#students thead th[aria-sort]").count() == 1


def test_sorting_by_keyboard(visit: Callable[..., Page]) -> None:
    page = visit("class")
    before = names(page)
    page.locator("#students thead button").first.focus()
    page.keyboard.press("Enter")
    assert names(page) == before[::-1]
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert totals(page) == sorted(totals(page), reverse=True)


def test_what_was_not_judged_sorts_last_both_ways(visit: Callable[..., Page]) -> None:
    page = visit("class")
    button = page.locator("#students thead th", has_text="GEMM").get_by_role("button")
    for _ in range(2):
        button.click()
        assert names(page)[-1] == "Grace Hopper"


def test_filter(visit: Callable[..., Page]) -> None:
    page = visit("class")
    assert len(names(page)) == STUDENTS
    page.keyboard.press("/")
    page.keyboard.type("lovelace ADA")
    assert names(page) == ["Ada Lovelace"]
    assert page.locator("#shown").inner_text() == f"1 of {STUDENTS}"
    page.keyboard.press("Escape")
    assert len(names(page)) == STUDENTS
    page.locator("#filter").fill("against the rules")
    assert 0 < len(names(page)) < STUDENTS and "Grace Hopper" in names(page)
    page.locator("#filter").fill("gemm mended")
    assert sorted(names(page)) == sorted(["Ada Lovelace", samples.SCRIPT])
    page.locator("a[href='#find=mended']").click()
    page.locator("#shown", has_text="3 of").wait_for()
    assert "Grace Hopper" in names(page) and len(names(page)) == 3


@pytest.mark.parametrize("scheme", SCHEMES)
def test_theme_is_remembered(visit: Callable[..., Page], scheme: Literal["light", "dark"]) -> None:
    page = visit("typical", scheme)
    first = page.evaluate(PAPER)
    page.locator("#theme").click()
    second = page.evaluate(PAPER)
    assert first != second
    # A reload may come before the browser has handed on what a page keeps, from one of its processes to another.
    for _ in range(20):
        page.reload()
        if page.evaluate(PAPER) == second:
            break
        page.wait_for_timeout(100)
    assert page.evaluate(PAPER) == second
    page.locator("#theme").click()
    assert page.evaluate(PAPER) == first
    page.evaluate("localStorage.clear()")


@pytest.mark.parametrize("name", ["typical", "carol"])
def test_a_printed_map_stays_with_its_heading(visit: Callable[..., Page], name: str) -> None:
    page = visit(name, width=PAPER_WIDTH)
    page.emulate_media(media="print")
    plates = page.locator("figure.plate")
    assert plates.count() > 0
    for plate in plates.all():
        box = plate.bounding_box()
        # A figure that may not be broken is not, as long as a sheet holds it.
        assert box is not None and box["height"] < PAPER_HEIGHT
        assert plate.evaluate("(e) => getComputedStyle(e).breakInside") == "avoid"
        assert plate.locator("figcaption").is_visible() and plate.locator("img").is_visible()
    assert page.locator("h3").first.evaluate("(e) => getComputedStyle(e.parentElement).breakAfter") == "avoid"


def test_the_line_below_the_headings_of_the_class_is_straight(visit: Callable[..., Page]) -> None:
    page = visit("class", width=1160)
    bottoms = page.locator("#students thead th").evaluate_all(
        "(all) => all.map((one) => [one.getBoundingClientRect().bottom, one.getBoundingClientRect().height])")
    assert len({bottom for bottom, _ in bottoms}) == len({height for _, height in bottoms}) == 1
    assert page.locator("#students").evaluate("(e) => getComputedStyle(e).borderCollapse") == "separate"


def test_one_can_go_from_a_report_to_the_class_and_back(visit: Callable[..., Page]) -> None:
    assert visit("typical").locator(".bar a").evaluate("(a) => a.href").endswith("/index.html")


def test_links_lead_to_the_reports(visit: Callable[..., Page], out: Path) -> None:
    page = visit("class")
    addresses = page.locator("#students tbody th a").evaluate_all("(links) => links.map((a) => a.href)")
    assert sorted(addresses) == sorted(path.as_uri() for path in out.glob("*/report.html"))
