"""The class page as a desk: what a TA finds in it, and that looking for it changes nothing else."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grader.pages.gradebook import gradebook
from grader.pages.leaderboard import places
from grader.pages.line import Line, comparable, line, marked
from grader.pages.load import Entry, Failure, load_results
from grader.pages.pages import OngoingRow, Progress, class_page_of, write_all, write_class
from grader.pages.people import Person, write_people
from grader.pages.tally import distribution, least_repeatable, mistakes, slowest, speed, summary
from grader.results.mark import Mark
from grader.results.result import with_assignments
from tests.pages import desk, samples
from tests.pages.elements import Elements

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SIZE = 60


def lines_of(entries: list[Entry]) -> list[Line]:
    return marked([line(entry) for entry in entries], set())


def text_of(page: str) -> str:
    return " ".join(" ".join(Elements(page).text).split())


def test_mistakes_are_grouped_by_kind_with_those_who_made_them() -> None:
    one, two = (samples.result(name, {"gemm": "wrong_answer"}) for name in ("Ada", "Bo"))
    two.assignments["silu"] = samples.assignment("silu", "wrong_answer")
    for result in (one, two):
        for a in result.assignments.values():
            for check in a.correctness.checks:
                if check.detail:
                    # Sizes differ from one to the next, and what they were told with them.
                    check.detail.pattern, check.detail.message = "mistake: last block missing", f"{result.student} 17"
    three = samples.result("Cy", {"gemm": "missing", "silu": "runtime_error"})
    groups = mistakes(lines_of([Entry(r.student, r) for r in (one, two, three)]))
    assert [(group.words, group.students) for group in groups] == [
        ("last block missing", 2), ("raises an error", 1), ("no file", 1)]
    assert [(title, [line.student for line in lines]) for title, lines in groups[0].by_assignment] == [
        ("GEMM", ["Ada", "Bo"]), ("SiLU", ["Bo"])]
    # Those of GEMM and SiLU got different hints, of which one is shown.
    assert [group.is_varied for group in groups] == [True, False, False]


def test_what_stands_first_is_ours_and_the_same_words_are_one() -> None:
    page = class_page_of(lines_of(desk.entries(SIZE)), desk.FAILURES)
    assert page.count(desk.GRADERS_WORDS) == 1
    order = [page.index(text) for text in (
        "the grader failed", "Files in the wrong place", "Who fails what", 'id="students"',
        "Mistakes, by kind", "<h2>Points", "Gradings to check", "How this was measured")]
    assert order == sorted(order)


def test_another_course_file_is_marked_and_in_no_figure() -> None:
    entries = desk.entries(10, speed=True)
    whole = lines_of(entries)
    others = {(entries[0].folder, "silu"), (entries[1].folder, "gemm")}
    lines = marked(whole, others)
    assert [line.folder for line in lines if line.other] == [entries[0].folder, entries[1].folder]
    assert not {line.folder for line in comparable(lines)} & {folder for folder, _ in others}
    assert summary(lines) != summary(whole) and f"the {len(comparable(lines))} graded alike" in summary(lines)
    before, after = speed(whole), speed(lines)
    assert before is not None and after is not None
    assert sum(len(lane.dots) for lane in before.lanes) - sum(len(lane.dots) for lane in after.lanes) == sum(
        line.cells[name].interval is not None for line in whole for name in line.cells if (line.folder, name) in others)
    text = text_of(class_page_of(lines, ()))
    assert "Not graded alike" in text and "†" in text
    assert "Not graded alike" not in text_of(class_page_of(whole, ()))
    rows = gradebook(entries, others).splitlines()
    assert rows[0].endswith('"other_course_file"') and rows[1].endswith('"silu"') and rows[3].endswith('""')


def test_results_alone_tell_another_course_file() -> None:
    old, new = samples.result("Ada"), samples.result("Bo")
    new.environment.course, new.graded_at = "5f" * 32, "2026-03-05T05:06:07Z"
    lines = marked([line(Entry(r.student, r)) for r in (old, new)], None)
    assert [line.other for line in lines] == [True, False]


def test_distribution_counts_everybody_once() -> None:
    bars = distribution([0, 60, 60, 59.9, -1, 61], 60)
    assert [bar.count for bar in bars] == [2, 0, 0, 0, 0, 0, 0, 0, 0, 4]
    assert [bar.height for bar in bars if bar.count] == [50, 100] and bars[-1].high == 60
    assert sum(bar.count for bar in distribution([0, 0], 0)) == 2
    assert [bar.count for bar in distribution([5, 35], 60)] == [1, 0, 0, 0, 0, 1, 0, 0, 0, 0]


def test_equal_points_share_a_rank_and_who_has_none_is_not_listed() -> None:
    results = [samples.result("Ada"), samples.result("Bo"), samples.result("Cy", {"gemm": "wrong_answer"}),
               samples.result("Di", dict.fromkeys(samples.KERNELS, "missing"))]
    lines = places(lines_of([Entry(result.student, result) for result in results]), bytes(32))
    assert [ranked_line.rank for ranked_line in lines] == [1, 1, 3]


def test_the_slowest_and_the_least_repeatable_are_named() -> None:
    lines = lines_of(desk.entries(SIZE, speed=True))
    times = [cell.seconds for line in lines for cell in line.cells.values()]
    assert [cell.seconds for _, cell, _ in slowest(lines)] == sorted(times, reverse=True)[:5]
    shares = [share for _, _, share in least_repeatable(lines)]
    assert shares == sorted(shares, reverse=True) and len(shares) == 5
    assert least_repeatable(lines_of(desk.entries(5))) == []


def test_speed_stands_against_baseline_and_reference() -> None:
    found = speed(lines_of(desk.entries(SIZE, speed=True)))
    assert found is not None
    assert [lane.title for lane in found.lanes] == [title for title, *_ in samples.KERNELS.values()]
    for lane in found.lanes:
        marks = dict(lane.marks)
        # At 0.2, 0.9 and 1.2 times the baseline.
        assert marks["floor"] < marks["target"] < found.baseline < marks["reference"]
        places = [place for place, _ in lane.dots]
        assert places == sorted(places) and all(0 < place < 100 for place in places)
        assert "the reference 1.2×" in lane.words
    assert speed(lines_of(desk.entries(5))) is None


def test_a_page_of_a_run_says_how_far_it_is() -> None:
    progress = Progress(40, 300, "10:42:13", "about 3 min", [OngoingRow("Zoe <b>", "GEMM", "10:41:55")])
    text = text_of(class_page_of(lines_of(desk.entries(3)), (), progress))
    assert "40 of 300 graded as of 10:42:13, about 3 min left" in text and "Zoe <b> : GEMM, since 10:41:55" in text
    ended = class_page_of([], (), Progress(40, 300, "", ended=True))
    assert "the run was interrupted" in ended and "data-running" not in ended
    assert "graded as of" not in class_page_of([], ())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("desk")
    write_class(desk.entries(SIZE), out)
    for entry in desk.entries(SIZE):
        (out / entry.folder).mkdir()
        (out / entry.folder / "report.html").write_text("<title>report</title>")
    return out


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Page:
    """One for all files: each new one takes the browser two seconds."""
    return browser.new_context(accept_downloads=False).new_page()


@pytest.fixture
def visit(tab: Page) -> Iterator[Callable[[Path], Page]]:
    """Shows a file as if nobody had been there before."""
    tab.set_viewport_size({"width": 1280, "height": 900})
    tab.emulate_media(media="screen")

    def go(file: Path) -> Page:
        tab.goto(file.as_uri())
        return tab

    yield go
    tab.evaluate("localStorage.clear(); sessionStorage.clear()")
    tab.goto("about:blank")


@pytest.fixture
def page(visit: Callable[[Path], Page], folder: Path) -> Page:
    return visit(folder / "index.html")


def shown(page: Page) -> list[str]:
    return page.locator("#students tbody th:visible").all_text_contents()


def having(verdict: str, *names: str) -> list[str]:
    return [line.student for line in lines_of(desk.entries(SIZE))
            if any(cell.verdict == verdict for name, cell in line.cells.items() if not names or name in names)]


def test_words_find_what_is_shown(page: Page) -> None:
    for typed, expected in {
        "run-time error": ("runtime_error",), "runtime_error": ("runtime_error",), "runtime": ("runtime_error",),
        "“Wrong answer”": ("wrong_answer",), "out of time": ("time_limit",), "time_limit": ("time_limit",),
        "grader's fault": ("infrastructure_error",), "missing gemm": ("missing", "gemm"),
        "gemm against the rules": ("policy_violation", "gemm"),
        "rmsnorm runtime": ("runtime_error", "rmsnorm_vector", "rmsnorm_matrix"),
    }.items():
        page.locator("#filter").fill(typed)
        assert sorted(shown(page)) == sorted(having(*expected)), typed
        assert 0 < len(shown(page)) < SIZE


@pytest.fixture
def named(visit: Callable[[Path], Page], tmp_path: Path) -> Page:
    write_class(desk.named(desk.entries(len(desk.PEOPLE))), tmp_path)
    return visit(tmp_path / "index.html")


def test_a_name_is_found_without_its_accents_and_so_is_a_section(named: Page) -> None:
    for typed, expected in {
        "muller": "Jörg Müller", "MUELLER": "Jörg Müller", "müller jörg": "Jörg Müller", "oneill": "Siobhán O’Neill",
        "O'Neill": "Siobhán O’Neill", "lukasz zolk": "Łukasz Żółkiewski", "strauss": "Strauß, Björn", "雷": "李雷",
        "thordarson": "Ólafur Þórðarson", "oystein angstrom": "Øystein Ångström", "الفارسي": "محمد الفارسي",
        "nguyen thi": "Nguyễn Thị Minh Khai", "σοφια": "Σοφία Παπαδοπούλου", "김": "김민준",
    }.items():
        named.locator("#filter").fill(typed)
        assert named.locator("#students tbody th:visible a").all_text_contents() == [expected], typed
    tuesday = desk.SECTIONS.index("Übung am Dienstag")
    expected_names = sorted(desk.PEOPLE[tuesday::len(desk.SECTIONS)])
    named.locator("#filter").fill("ubung")
    assert sorted(named.locator("#students tbody th:visible a").all_text_contents()) == expected_names
    named.locator("#clear").click()
    named.get_by_label("Show only, section").select_option("Übung am Dienstag")
    assert sorted(named.locator("#students tbody th:visible a").all_text_contents()) == expected_names
    named.reload()
    assert sorted(named.locator("#students tbody th:visible a").all_text_contents()) == expected_names


def test_names_of_any_length_fit_a_telephone_a_screen_and_paper(named: Page) -> None:
    right = "document.getElementById('students').getBoundingClientRect().right"
    for media, widths in (("screen", (400, 700, 1000, 1280)), ("print", (680,))):
        named.emulate_media(media="print" if media == "print" else "screen")
        for width in widths:
            named.set_viewport_size({"width": width, "height": 900})
            assert named.evaluate("document.documentElement.scrollWidth") == width
            # Between a telephone and a screen the table scrolls in a box of its own.
            assert named.evaluate(right) <= width or 640 < width < 960, (media, width)


def test_pseudonyms_tell_nobody(tmp_path: Path) -> None:
    entries = desk.entries(20)
    for entry in entries:
        # As folders are called after their students.
        entry.result.student = f"{entry.folder}-surname"
        entry.result.reproduce = f"kernelmark grade class/{entry.result.student}"
        (tmp_path / entry.folder).mkdir()
        (tmp_path / entry.folder / "result.json").write_text(entry.result.model_dump_json(by_alias=True))
    write_people(tmp_path, "pseudonyms", {
        entry.folder: [Person(id=entry.folder, name=f"{entry.folder}-surname", section="B")] for entry in entries})
    results = load_results(tmp_path)
    write_class(results.entries, tmp_path, failures=[
        Failure(entry.folder, f"{entry.folder}: not graded") for entry in sorted(entries, key=lambda one: one.folder)])
    for file in ("index.html", "gradebook.csv"):
        text = (tmp_path / file).read_text()
        assert not [entry.folder for entry in entries if entry.folder in text], file
        assert sum(entry.owner.pseudonym in text for entry in results.entries) == len(entries)
    # Nor does a list of the class fit beside the rows, or beside what the grader failed on.
    alarm, _, page = (tmp_path / "index.html").read_text().partition("Files in the wrong place")
    for before, text in (('^"', (tmp_path / "gradebook.csv").read_text()), ("<b><bdi>", alarm), ("row\"><bdi>", page)):
        names = re.findall(f"{before}([a-z]+-[a-z]+)", text, re.MULTILINE)
        assert names == sorted(names) and len(names) > 10, before
    assert (tmp_path / ".staff" / ".people.json").stat().st_mode & 0o777 == 0o600
    # Nor do pages that are drawn while nobody can tell what they may show.
    kept = (tmp_path / ".staff" / ".people.json").read_bytes()
    (tmp_path / ".staff" / ".people.json").write_text("{")
    write_all(tmp_path)
    page = (tmp_path / "index.html").read_text()
    assert re.search(r"Names are not shown: [^<]*\.people\.json cannot be read; grade again with --roster", page)
    assert not [entry.folder for entry in entries if entry.folder in page]
    (tmp_path / ".staff" / ".people.json").write_bytes(kept)
    # The next grading asks for none.
    write_people(tmp_path, "real", {entries[0].folder: [Person(id=entries[0].folder)]})
    results = load_results(tmp_path)
    assert {entry.owner.name for entry in results.entries} == {f"{entry.folder}-surname" for entry in entries}
    rows = gradebook(results.entries).splitlines()
    assert rows[0].startswith('"student","name","section","score"') and '-surname","B",' in rows[1]


def test_what_the_course_has_no_more_is_on_no_page_of_the_class(tmp_path: Path) -> None:
    for who, names in {"ada": ["silu", "gemm"], "bob": ["gemm"]}.items():
        (tmp_path / who).mkdir()
        result = samples.result(who)
        result = with_assignments(result, {name: result.assignments[name] for name in names})
        (tmp_path / who / "result.json").write_text(result.model_dump_json(by_alias=True))
    write_people(tmp_path, "real", {}, ["silu"])
    write_all(tmp_path)
    header, *rows = csv.reader((tmp_path / "gradebook.csv").read_text().splitlines())
    assert [row[0] for row in rows] == ["ada"] and not any("gemm" in heading for heading in header)
    page = (tmp_path / "index.html").read_text()
    assert "SiLU" in page and "GEMM" not in page and "bob" not in page
    # A grading under another course file brings them back.
    write_people(tmp_path, "real", {}, None)
    write_all(tmp_path)
    assert "gemm_points" in (tmp_path / "gradebook.csv").read_text() and "bob" in (tmp_path / "index.html").read_text()


def test_whoever_handed_in_nothing_is_listed_without_points_and_in_no_median(browser: Browser, tmp_path: Path) -> None:
    entries = [Entry(who, samples.result(who, {"gemm": "missing"})) for who in ("ada", "bob")]
    roster = [Person(id=who, name=name) for who, name in (("ADA", "Ada A"), ("bob", "Bob"), ("cy", "Cy"), ("di", "Di"))]
    folders = {"ada": [Person(id="ada", name="Ada A")], "bob": [Person(id="bob", name="Bob")]}
    marks = [Mark(student="CY", assignment="gemm", points=3, comment="orally", by="TA")]
    write_people(tmp_path, "real", folders, roster=roster)
    write_class(entries, tmp_path, marks=marks)
    page = browser.new_page()
    page.goto((tmp_path / "index.html").as_uri())
    assert page.locator(".lead").text_content() == (
        f"{summary(lines_of(entries))} 2 more of the roster handed in nothing.")
    page.locator(".lead a").click()
    assert page.locator("#shown").text_content() == "2 of 4"
    rows = page.locator("#students tbody tr:visible")
    assert [" ".join(row.split()) for row in rows.locator("th").all_text_contents()] == [
        "Cy cy nothing handed in", "Di di nothing handed in"]
    assert rows.locator("[data-in=total]").all_text_contents() == ["3", "0"] and not rows.locator("a").count()
    page.goto(f"{(tmp_path / 'index.html').as_uri()}#gemm=missing")
    assert page.locator("#shown").text_content() == "4 of 4"
    assert "○ 4 missing" in (page.locator(".bars").text_content() or "") and "orally" in page.content()
    page.close()
    table = list(csv.DictReader((tmp_path / "gradebook.csv").read_text().splitlines()))
    assert [(row["student"], row["score"], row["gemm_points"], row["gemm_verdict"], row["gemm_marks"])
            for row in table[2:]] == [("cy", "0", "0", "missing", "3"), ("di", "0", "0", "missing", "")]
    assert {row["measured_max"] for row in table} == {table[0]["measured_max"]}
    # The next grading knows more.
    write_people(tmp_path, "pseudonyms", {"cy": [Person(id="cy")]})
    write_class(entries, tmp_path)
    text = (tmp_path / "index.html").read_text()
    assert "1 more of the roster" in text and ">Di<" not in text


def test_the_name_of_an_assignment_finds_those_who_fail_it_and_no_flags(page: Page) -> None:
    failing = [line.student for line in lines_of(desk.entries(SIZE)) if line.cells["transpose"].verdict != "accepted"]
    page.locator("#filter").fill("transpose")
    assert sorted(shown(page)) == sorted(failing)
    page.locator("#filter").fill("flag")
    assert sorted(shown(page)) == sorted(line.student for line in lines_of(desk.entries(SIZE)) if line.flags)
    page.locator("#filter").fill(desk.LONG)
    assert shown(page) == [desk.LONG]


def test_a_column_shows_one_verdict_and_columns_add_up(page: Page) -> None:
    page.get_by_label("Show only, GEMM").select_option("missing")
    assert sorted(shown(page)) == sorted(having("missing", "gemm"))
    page.get_by_label("Show only, Transpose").select_option("runtime_error")
    both = set(having("missing", "gemm")) & set(having("runtime_error", "transpose"))
    assert set(shown(page)) == both
    page.locator("#clear").click()
    assert len(shown(page)) == SIZE and "find" not in page.url


def test_back_from_a_report_finds_the_filter_and_the_order_again(page: Page) -> None:
    page.locator("#filter").fill("wrong answer")
    page.get_by_label("Show only, GEMM").select_option("wrong_answer")
    page.locator("#students thead th", has_text="total").get_by_role("button").click()
    before = shown(page)
    assert 1 < len(before) < SIZE
    page.locator("#students tbody a:visible").first.click()
    assert page.title() == "report"
    page.go_back()
    assert shown(page) == before
    page.reload()
    assert shown(page) == before and page.locator("#filter").input_value() == "wrong answer"


def test_a_count_in_the_bars_leads_to_its_students_and_back_leads_to_all(page: Page) -> None:
    page.locator(".bars li", has_text="GEMM").locator("a.missing").click()
    page.wait_for_function(f"document.getElementById('shown').textContent !== '{SIZE} of {SIZE}'")
    assert sorted(shown(page)) == sorted(having("missing", "gemm"))
    page.go_back()
    page.wait_for_function(f"document.getElementById('shown').textContent === '{SIZE} of {SIZE}'")


def test_opening_flags_leaves_the_table_alone(page: Page) -> None:
    places = "(rows) => rows.map((row) => { const b = row.getBoundingClientRect(); return [b.top, b.height, b.width] })"
    rows = page.locator("#students tr")
    page.locator("#students details summary").first.scroll_into_view_if_needed()
    before = rows.evaluate_all(places)
    page.locator("#students details summary").first.click()
    assert page.locator("#students details[open] li").first.is_visible()
    assert rows.evaluate_all(places) == before
    assert page.locator("section:has(#students)").evaluate("(e) => getComputedStyle(e).contentVisibility") == "visible"


def test_a_student_is_one_line_and_no_id_is_broken(page: Page) -> None:
    heights = page.locator("#students tbody tr").evaluate_all("(rows) => rows.map((row) => row.offsetHeight)")
    assert len(set(heights)) == 1
    for width in (1280, 400):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") == width
        lines = page.locator("#students tbody th a").evaluate_all("(all) => all.map((a) => a.getClientRects().length)")
        assert set(lines) == {1}


def test_cells_differ_in_shape_as_well_as_in_colour(page: Page) -> None:
    pairs = page.locator("#students tbody td[class]").evaluate_all(
        "(cells) => cells.map((c) => [c.className, c.textContent.trim()[0]])")
    shapes: dict[str, str] = dict(pairs)
    assert len(set(shapes.values())) == len(shapes) == 7
