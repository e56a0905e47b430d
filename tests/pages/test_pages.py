"""Pages and gradebook say what matters, load nothing and stay small, and nothing in a result breaks out of them."""

import csv
import io
import json
import math
import os
import re
from pathlib import Path

import pytest
from markupsafe import escape

from grader.pages.findings import findings, status
from grader.pages.gradebook import cell, gradebook
from grader.pages.line import line
from grader.pages.load import Entry, Failure, load_results
from grader.pages.pages import class_page, link, student_page, write_all, write_class, write_student
from grader.pages.source import difference, excerpts
from grader.pages.tally import columns
from grader.results.result import Detail, Place, Result
from tests.pages import desk, samples
from tests.pages.elements import Elements
from tests.rows import each_row

STUDENT_BYTES = 1_000_000
CLASS_BYTES = 1_000_000
CLASS_SIZE = 300
TEMPLATES = Path(__file__).resolve().parents[2] / "grader/pages/templates"


def put(out: Path, folder: str, result: Result) -> None:
    (out / folder).mkdir(parents=True)
    (out / folder / "result.json").write_text(result.model_dump_json(by_alias=True), encoding="utf-8")


def rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


def test_student_page_says_what_matters() -> None:
    page = student_page(samples.typical())
    for text in ("Ada Lovelace", "<b>240</b> of 360 points measured", "(600 in all)", "out[8, 0]", "transpose.py:10",
                 "never written", "How this was measured", "kernelmark check --seed 9f3c0d51b7e24a68"):
        assert text in page
    order = [page.index(text) for text in
             ("Four of six", "Not measured", "Fix first", "Right</h2>", "How this was measured")]
    assert order == sorted(order)


def test_each_thing_is_said_once() -> None:
    page = student_page(samples.typical())
    for a in (a for a in samples.typical().assignments.values() if a.verdict != "accepted"):
        check = next(check for check in a.correctness.checks if check.detail)
        assert check.detail is not None and check.detail.place is not None
        for text in (a.message, a.hint):
            assert page.count(str(escape(text))) == 1
    assert page.count("Stripes and blocks point at") == page.count("<i class=\"swatch hatch\">") == 1
    wrong, _, _ = page.partition("Right</h2>")
    assert wrong.count('class="plate"') == wrong.count('class="marked"') == 2


def test_what_must_be_exact_has_no_scale_of_errors() -> None:
    result = samples.result("Ada", {"transpose": "wrong_answer", "silu": "wrong_answer"})
    assert student_page(result).count("10⁸") == 1
    for check in result.assignments["transpose"].correctness.checks:
        if check.detail and check.detail.worst:
            check.detail.worst.allowed, check.worst_ratio = "0", math.inf
    page = student_page(result)
    # One legend for each kind: the other kernel's errors have a scale.
    assert page.count("10⁸") == 1 and page.count("the element that is named") == 1 and "Every element must be" in page
    assert "not exact" in page and "infinite" not in page and "It must be exact." in page


def test_not_handed_in_is_not_failed() -> None:
    result = samples.result("Ada", {"gemm": "missing"})
    # As the judge leaves a check that did not run.
    first = result.assignments["gemm"].correctness.checks[0]
    result.assignments["gemm"].correctness.checks.append(first.model_copy(update={
        "id": "case-1x1", "stage": "case", "outcome": "not_run",
        "detail": Detail(kind="exception", message="not run: there is no plan")}))
    assert status(result.assignments["gemm"]).word == "not handed in"
    page = student_page(result)
    assert "60 not handed in" in page and "0 lost" in page and "■ failed" not in page and "failed</span>" not in page
    for check in result.assignments["gemm"].correctness.checks:
        if check.detail and check.outcome == "failed":
            check.detail.kind = "not_attempted"
    assert status(result.assignments["gemm"]).word == "not written yet"


def test_a_right_kernel_says_by_what_margin_and_what_comes_next() -> None:
    result = samples.result("Ada")
    worst = max(check.worst_ratio or 0 for check in result.assignments["silu"].correctness.checks)
    text = " ".join(Elements(student_page(result)).text)
    assert f"The worst error is {100 * worst:.0f} % of what is allowed." in text
    assert "its speed, 40 points, once it is graded on a GPU." in text
    for ratio, words in (
            (0.0, "Every element is exact."), (1.0, "The worst error is exactly the largest that is allowed.")):
        for check in result.assignments["silu"].correctness.checks:
            check.worst_ratio = ratio
        assert words in student_page(result)


def test_what_was_never_written_is_a_line_a_kernel() -> None:
    page = student_page(samples.result("Ada", dict.fromkeys(samples.KERNELS, "missing")))
    assert page.count("<article") == 0 and page.count("Start from the template") == 0
    text = " ".join(Elements(page).text)
    assert all(f"There is no {name}.py." in text for name in samples.KERNELS)


Shown = list[list[tuple[int, str]]]
LONG_SOURCE = samples.SOURCE.replace("    tile =", "    columns += 0\n" * 60 + "    tile =")
# A file, a place, the line of a change, and what is shown: of each piece its first line and last, and those marked.
LISTINGS: dict[str, tuple[str, Place | None, int, Shown]] = {
    "a place": (samples.SOURCE, Place(file="a.py", line=10), 0, [[(5, ""), (10, "▶why"), (10, "")]]),
    "in host code": (samples.SOURCE, Place(file="a.py", line=14), 0, [[(13, ""), (14, "▶why"), (14, "")]]),
    "no source": ("", Place(file="a.py", line=3), 4, []),
    "a text alone": ("", Place(file="a.py", line=3, text="  a = 1 "), 0, [[(3, ""), (3, "▶why"), (3, "")]]),
    "a long file": ("x = 1\n" * 500, Place(file="a.py", line=250), 0, [[(250, ""), (250, "▶why"), (250, "")]]),
    "a change alone": (samples.SOURCE, None, 9, [[(5, ""), (9, "Δ"), (10, "")]]),
    "a change near a place": (samples.SOURCE, Place(file="a.py", line=10), 7, [[
        (5, ""), (7, "Δ"), (10, "▶why"), (10, "")]]),
    "a change of the place": (samples.SOURCE, Place(file="a.py", line=10), 10, [[(5, ""), (10, "▶Δwhy"), (10, "")]]),
    "a change in another function": (samples.SOURCE, Place(file="a.py", line=14), 10, [
        [(13, ""), (14, "▶why"), (14, "")], [(5, ""), (10, "Δ"), (10, "")]]),
    "a change far away": (LONG_SOURCE, Place(file="a.py", line=70), 8, [
        [(61, ""), (70, "▶why"), (70, "")], [(5, ""), (8, "Δ"), (12, "")]]),
    "a change beyond the file": (samples.SOURCE, None, 500, []),
}


@each_row(("text", "place", "change", "shown"), LISTINGS.values(), ids=LISTINGS)
def test_a_line_is_shown_in_its_function_with_what_is_known_of_it(
    text: str, place: Place | None, change: int, shown: Shown
) -> None:
    found = excerpts(text, place, "why", change)
    assert [[(part[0].number, ""), *((line.number, "▶" * line.marked + "Δ" * line.changed + line.note)
                                     for line in part if line.marked or line.changed or line.note),
             (part[-1].number, "")] for part in found] == shown
    assert all(line.text == "a = 1" for part in found for line in part if not text)


def test_a_change_that_makes_every_case_right_is_a_sentence_for_its_student_and_a_diff_for_those_who_grade() -> None:
    taken, added = (line[1:].strip() for line in samples.REPAIR.diff.splitlines())
    result = samples.typical()
    # The control: where no change was found, nothing is said of one.
    without = samples.result("Ada", {"gemm": "wrong_answer"})
    theirs, ours = student_page(result), class_page([Entry("ada", result)])
    for page in (student_page(without), class_page([Entry("ada", without)])):
        assert "Δ" not in page and "by one change" not in page
    assert " ".join(" ".join(Elements(theirs).text).split()).count(f"Found by trying: {samples.REPAIR.told}") == 1
    assert '<li class="marked changed">' in theirs and added not in theirs
    assert "1 of 2</a> wrong kernels one change of the file makes every case right" in ours
    assert "no proof that the student meant this" in ours and "Δ 1 of 2 mended by one change" in ours
    assert f"- {taken}" in ours and f"+ {added}" in ours and "line 9" in ours
    gemm = result.assignments["gemm"]
    gemm.repair = samples.REPAIR.model_copy(update={"level": "edit"})
    assert f"+ {added}" in student_page(result)


DIFFS = {
    "one line": ("-    a = 1\n+    a = 2", [("-", "a = 1"), ("+", "a = 2")]),
    "of different depth": ("-\tif x:\n+\t\ta = 2", [("-", "if x:"), ("+", "    a = 2")]),
    "an empty line": ("-    a\n-\n+  b", [("-", "  a"), ("-", ""), ("+", "b")]),
    "nothing": ("", []),
}


@pytest.mark.parametrize(("diff", "shown"), DIFFS.values(), ids=DIFFS)
def test_a_diff_is_shown_without_the_indentation_that_all_lines_have(
    diff: str, shown: list[tuple[str, str]]
) -> None:
    assert difference(diff) == shown


def test_paths_of_the_server_and_holes_of_its_isolation_are_told_to_those_who_grade() -> None:
    result = samples.typical()
    result.reproduce = "kernelmark grade /srv/course/ada"
    result.environment.isolation_missing = ["no cgroup: no cgroup with the controller pids is delegated"]
    theirs, ours = student_page(result), class_page([Entry("ada", result)])
    for text in ("/srv/course", "no cgroup", "Landlock is not offered", "Linux 6.8"):
        assert text in ours and text not in theirs


def test_two_runs_of_a_user_are_one_environment() -> None:
    def page(*devices: str) -> str:
        entries = [Entry(name, samples.result(name)) for name in "ab"]
        for number, (entry, device) in enumerate(zip(entries, devices, strict=True)):
            entry.result.environment.device = device
            entry.result.environment.isolation_missing = [f"no cgroup: session-{number}.scope is not this user's"]
        return class_page(entries)

    assert page("cpu", "cpu").count("<dt>Isolation</dt>") == 1 and page("cpu", "H200").count("<dt>Isolation</dt>") == 2


def test_a_report_links_back_to_its_class(tmp_path: Path) -> None:
    put(tmp_path, "ada", samples.typical())
    write_all(tmp_path)
    addresses = [a.get("href") or "" for tag, a in Elements((tmp_path / "ada/report.html").read_text()).tags
                 if tag == "a"]
    (home,) = (address for address in addresses if not address.startswith("#"))
    assert (tmp_path / "ada" / home).resolve() == tmp_path / "index.html"
    # What a student checks at home is in no class.
    assert "../" not in write_student(samples.typical(), tmp_path / "own").read_text()


def test_speed_is_in_the_gradebook_where_it_was_measured() -> None:
    rows = list(csv.reader(gradebook([Entry("a", samples.result("A", speed=True)), Entry("b", samples.result("B"))])
                           .splitlines()))
    column = rows[0].index("gemm_speedup")
    assert rows[0][column + 1] == "gemm_speed_points"
    assert [row[column : column + 2] for row in rows[1:]] == [["0.9888", "40"], ["", ""]]
    assert "gemm_speedup" not in gradebook([Entry("b", samples.result("B"))])


def test_a_result_of_an_earlier_version_still_loads(tmp_path: Path) -> None:
    data = json.loads(samples.result("A").model_dump_json(by_alias=True))
    for kernel in data["assignments"].values():
        kernel["performance"] |= {"student_us": None, "baseline_us": None, "roof_fraction": None}
        kernel |= {"kernels": [], "target": "sm_90"}
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "result.json").write_text(json.dumps(data))
    results = load_results(tmp_path)
    assert not results.failures and results.entries[0].result.student == "A"


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
        for folder, result in samples.class_of(2):
            put(tmp_path / out, folder, result)
        put(tmp_path / out, "fast", samples.result("Fast", speed=True))
        write_all(tmp_path / out)
    files = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*.*"))
    assert len(files) == 3 * 2 + 2
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_class_of_three_hundred_is_small(tmp_path: Path) -> None:
    # Times are drawn for a part of them, which takes seconds for all.
    part = desk.entries(CLASS_SIZE // 5, speed=True)
    write_class([Entry(f"{entry.folder}-{number}", entry.result) for number in range(5) for entry in part], tmp_path)
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
    results = load_results(tmp_path)
    assert [entry.folder for entry in results.entries] == ["ada"]
    assert [failure.folder for failure in results.failures] == ["bytes", "cut", "deep", "empty", "fifo", "link", "old"]
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


@each_row("text", ["=1+1", "+1", "-1+1", "@SUM(1)", "\tx", "\r\nx", "  =1", "＝1", "\x1b[0m=1"])
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
    assert "Not judged" in page and "neither won nor lost" in page
    assert "GEMM (100 points): only a GPU can judge it" in page
    assert "Line 40 was skipped: it measures <code>time</code>." in page
    entries = [Entry("ada", result)]
    (row,) = rows(gradebook(entries))[1:]
    assert row[1] == "" and row[3] == "300" and row[-2:] == ["", "needs_gpu"]
    gemm = next(c for c in columns([line(entry) for entry in entries]) if c.name == "gemm")
    assert not gemm.scores and gemm.tried == 0 and gemm.verdicts == [("needs_gpu", 1)]


def test_files_that_stand_elsewhere_are_an_alarm_for_the_class() -> None:
    result = samples.result("Ada", {"silu": "missing"})
    assert "Files in the wrong place" not in class_page([Entry("ada", result)])
    result.assignments["silu"].elsewhere = ["hw1/SiLU.py"]
    result.assignments["silu"].message = "Found hw1/SiLU.py; silu.py expected."
    result.unread = ["<b>.py"]
    assert "No assignment reads &lt;b&gt;.py." in student_page(result)
    assert "Found hw1/SiLU.py; silu.py expected." in student_page(result)
    assert "Found hw1/SiLU.py, perhaps meant for SiLU." in class_page([Entry("ada", result)])
    assert "Found &lt;b&gt;.py, which no assignment reads." in class_page([Entry("ada", result)])
    # What may hold several files is told once; and many students are folded into a line.
    result = samples.result("Ada", {"silu": "missing", "gemm": "missing"})
    for name in ("silu", "gemm"):
        missing = result.assignments[name]
        missing.elsewhere, missing.message = ["hw.zip"], f"Found hw.zip; {name}.py expected."
    assert "Found hw.zip, perhaps meant for SiLU, GEMM." in class_page([Entry("ada", result)])
    page = class_page([Entry(f"ada{number}", result) for number in range(42)])
    assert "<details><summary>42 students</summary>" in page and page.count("Found hw.zip, ") >= 42
    assert "students</summary>" not in class_page([Entry("ada", result)])


def test_points_lost_by_the_rules_are_named_where_the_flag_is() -> None:
    result = samples.result("Ada", {"silu": "policy_violation"}, speed=True)
    assert {flag.points for a in result.assignments.values() for flag in a.flags} == {0, 60}
    pages = (student_page(result), class_page([Entry("ada", result)]))
    for page in pages:
        assert "costs 60 points" in page and "costs no points" not in page
    assert "It costs 60 points." in pages[1]


def test_style_and_script_stay_short() -> None:
    for name, most in (("style.css", 300), ("class.css", 150), ("page.js", 100), ("class.js", 200)):
        assert len((TEMPLATES / name).read_text().splitlines()) <= most
