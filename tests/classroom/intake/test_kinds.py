"""Each platform's download, with the traps in its names: recognised, and everybody's files found."""

import os
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from grader.errors import UserError
from tests.classroom.intake.made import OPTIONS, Files, by_folder, laid_out, source_of, take_in, whys, zipped
from tests.rows import beside

METADATA: str = beside(__file__)["metadata"]
SILU, GEMM = source_of("silu"), source_of("gemm")

CANVAS: Files = {
    "doejane_LATE_12345_6789_silu-2.py": source_of("silu", "new"),
    "doejane_LATE_12345_990_silu.py": source_of("silu", "old"),
    "doejane_LATE_12345_6790_gemm-1.py": GEMM,
    "doejane_777_7000_silu.py": source_of("silu", "another Jane"),
    "müllerçelik_1_2_12_34_silu.py": SILU,
    "李雷_3_4_rmsnorm_vector-10.py": source_of("rmsnorm_vector"),
    "under_score_5_6_silu.py": SILU,
    "anon_LATE_8_9_silu.py": SILU,
    "poe_21_text.html": "<p>see my repository</p>",
    "roe_22_23_link.html": "<a href='https://x.edu'>",
    "roe_22_24_notes.pdf": b"%PDF",
    "README.txt": "",
}


@pytest.mark.parametrize("packed", [False, True], ids=["unpacked", "zip"])
def test_canvas(tmp_path: Path, packed: bool) -> None:
    source = zipped(tmp_path / "all.zip", CANVAS) if packed else laid_out(tmp_path / "all", CANVAS)
    manifest, files = take_in(source)
    found = by_folder(manifest)
    assert manifest.kind == "canvas" and [left.name for left in manifest.left] == ["README.txt"]
    assert files == {
        "doejane_12345": {"silu.py": CANVAS["doejane_LATE_12345_6789_silu-2.py"], "gemm.py": GEMM},
        "doejane_777": {"silu.py": CANVAS["doejane_777_7000_silu.py"]},
        # Under the name that its student gave it.
        "müllerçelik_1": {"silu.py": SILU},
        "李雷_3": {"rmsnorm_vector.py": CANVAS["李雷_3_4_rmsnorm_vector-10.py"]},
        "under_score_5": {"silu.py": SILU}, "anon_8": {"silu.py": SILU}, "poe_21": {}, "roe_22": {}}
    jane = found["doejane_12345"]
    assert (jane.late, jane.submitted_at, len(jane.origin)) == (True, None, 3)
    assert (jane.members[0].id, jane.members[0].name, jane.members[0].source_id) == ("12345", "doejane", "12345")
    assert jane.taken["silu.py"] == "doejane_LATE_12345_6789_silu-2.py"
    assert whys(jane) == {"doejane_LATE_12345_990_silu.py": "an earlier upload of silu.py"}
    assert found["doejane_777"].late is False and found["anon_8"].late is True
    assert whys(found["roe_22"]) == {"roe_22_23_link.html": "text or a link that was typed in; hand in a file",
                                     "roe_22_24_notes.pdf": "no assignment's file"}


def test_a_number_is_canvass_where_the_rest_is_what_the_course_expects(tmp_path: Path) -> None:
    silu, gemm = (zipped(tmp_path / f"{name}.zip", {f"{name}.py": source_of(name)}).read_bytes()
                  for name in ("silu", "gemm"))
    manifest, files = take_in(laid_out(tmp_path / "all", {
        "ada_1_10_part-1.zip": silu, "ada_1_11_part-2.zip": gemm, "bo_2_12_kernels-1.zip": silu,
        "cy_3_13_task-1.py": SILU, "cy_3_14_task-2.py": GEMM, "di_4_15_silu-1.py": "old", "di_4_16_silu-2.py": SILU,
        "ed_5_17_kernels.zip": silu, "ed_5_18_kernels-1.zip": silu}))
    both = {"silu.py": SILU, "gemm.py": GEMM}
    held = {who: {name: text for name, text in of.items() if name in both} for who, of in files.items()}
    assert held == {"ada_1": both, "bo_2": {"silu.py": SILU}, "cy_3": both, "di_4": {"silu.py": SILU}, "ed_5": {}}
    found = by_folder(manifest)
    assert whys(found["di_4"]) == {"di_4_15_silu-1.py": "an earlier upload of silu.py"}
    # Parts or a later whole: nobody can tell, so that it is told.
    assert whys(found["ed_5"]) == dict.fromkeys(
        ["ed_5_17_kernels.zip/silu.py", "ed_5_18_kernels-1.zip/silu.py"],
        "one of 2 that seem to be meant for silu.py; silu.py expected")


def test_canvas_anonymous(tmp_path: Path) -> None:
    manifest, files = take_in(laid_out(tmp_path / "all", {
        "anon_aB3xZ_10_silu.py": SILU, "LATE_anon_Qq9_11_silu.py": SILU, "anon_77_12_gemm.py": GEMM}))
    assert manifest.kind == "canvas" and set(files) == {"anon_aB3xZ", "anon_Qq9", "anon_77"}
    assert [submission.late for submission in manifest.submissions] == [True, False, False]


def test_moodle(tmp_path: Path) -> None:
    manifest, files = take_in(zipped(tmp_path / "all.zip", {
        "Ann-Marie O'Neil_101_assignsubmission_file/silu.py": SILU,
        "Ann-Marie O'Neil_101_assignsubmission_onlinetext/onlinetext.html": "<p>hello</p>",
        "Ann-Marie O'Neil_102_assignsubmission_file_/hw/silu.py": SILU,
        "Under_Score_103_assignsubmission_file_/gemm.py": GEMM,
        # Of Moodle 3.0.
        "李 雷_104_assignsubmission_file_silu.py": SILU,
        "Eve_105_assignsubmission_onlinetext/onlinetext.html": "mine",
    }))
    found = by_folder(manifest)
    assert manifest.kind == "moodle"
    assert files == {"Ann-Marie_O_Neil_101": {"silu.py": SILU}, "Ann-Marie_O_Neil_102": {"silu.py": SILU},
                     "Under_Score_103": {"gemm.py": GEMM}, "李_雷_104": {"silu.py": SILU}, "Eve_105": {}}
    ann = found["Ann-Marie_O_Neil_101"]
    assert (ann.members[0].id, ann.members[0].name, ann.late) == ("101", "Ann-Marie O'Neil", None)
    assert ann.origin == ["Ann-Marie O'Neil_101_assignsubmission_file",
                          "Ann-Marie O'Neil_101_assignsubmission_onlinetext"]
    assert "typed in" in whys(found["Eve_105"])["Eve_105_assignsubmission_onlinetext"]


def test_gradescope(tmp_path: Path) -> None:
    source = zipped(tmp_path / "export.zip", {
        "assignment_9_export/submission_metadata.yml": METADATA,
        "assignment_9_export/submission_11/silu.py": SILU,
        "assignment_9_export/submission_11/.DS_Store": "", "assignment_9_export/submission_12/work/silu.py": SILU,
        "assignment_9_export/submission_13/silu.py": SILU, "assignment_9_export/submission_15/gemm.py": GEMM,
        "__MACOSX/assignment_9_export/._silu.py": b"\0"})
    deadline = datetime.fromisoformat("2026-03-01T23:20:00+01:00")
    manifest, files = take_in(source, replace(OPTIONS, deadline=deadline))
    found = by_folder(manifest)
    assert manifest.kind == "gradescope"
    assert files == {"0123": {"silu.py": SILU}, "0777_lin_x.edu": {"silu.py": SILU},
                     "submission_13": {"silu.py": SILU}, "submission_15": {"gemm.py": GEMM}}
    ada, group = found["0123"], found["0777_lin_x.edu"]
    assert (ada.members[0].id, ada.members[0].email) == ("0123", "ada@x.edu")
    assert (ada.submitted_at, ada.late) == ("2026-03-01T23:10:00+01:00", False)
    # Told apart by the instant: 22:30 UTC is later than 23:20 in Berlin.
    assert (group.submitted_at, group.late) == ("2026-03-01T22:30:00+00:00", True)
    assert [(member.id, member.name) for member in group.members] == [("0777", "Zoë"), ("lin@x.edu", "Lin")]
    assert (found["submission_13"].members[0].id, found["submission_13"].submitted_at) == ("13", None)
    assert "is not listed in submission_metadata.yml" in found["submission_15"].problems[0]
    assert [left.name for left in manifest.left] == ["submission_14"]


def test_who_hands_in_again_at_gradescope_stays_one_student(tmp_path: Path) -> None:
    def taken(number: int, *people: str) -> dict[str, list[str]]:
        source = laid_out(tmp_path / str(number), {
            "submission_metadata.yml": f"submission_{number}:\n  :submitters:\n" + "".join(
                f"  - :name: {name}\n    :sid: {ident}\n    :email: {mail}\n"
                for name, ident, mail in (person.split(",") for person in people)),
            f"submission_{number}/silu.py": SILU})
        return {submission.folder: submission.origin for submission in take_in(source)[0].submissions}

    jane, bo = "Jane (she/her),jd1,jd@x.edu", "Bo,~,bo@x.edu"
    assert taken(111, jane) == {"jd1": ["submission_111"]} and taken(222, jane) == {"jd1": ["submission_222"]}
    # Its members come in any order.
    assert taken(333, jane, bo) == {"bo_x.edu_jd1": ["submission_333"]}
    assert taken(444, bo, jane) == {"bo_x.edu_jd1": ["submission_444"]}
    # Who has neither is called by name, which is no path.
    assert taken(555, "Jane (she/her),~,~") == {"Jane_she_her": ["submission_555"]}


@pytest.mark.parametrize("text", ["a: [", "- 1\n", "\x00"])
def test_metadata_that_is_none_is_told_in_one_line(tmp_path: Path, text: str) -> None:
    source = laid_out(tmp_path / "all", {"submission_metadata.yml": text, "submission_1/silu.py": SILU})
    with pytest.raises(UserError, match="export it from Gradescope again") as info:
        take_in(source)
    assert "\n" not in str(info.value)


def test_folders_and_archives(tmp_path: Path) -> None:
    hw = zipped(tmp_path / "hw.zip", {"hw/silu.py": SILU, "__MACOSX/hw/._silu.py": b"\0"}).read_bytes()
    manifest, files = take_in(laid_out(tmp_path / "all", {
        "ann lee/silu.py": SILU, "ann lee/venv/pyvenv.cfg": "", "ann lee/venv/lib/gemm.py": GEMM, "bo/": "",
        "Case/silu.py": SILU, "case/silu.py": SILU, "dan/submission.zip": hw, "eve.zip": hw,
        "fay.tar.gz": b"\x1f\x8bjunk", "list.csv": "", ".DS_Store": ""}))
    found = by_folder(manifest)
    assert manifest.kind == "folders" and [left.name for left in manifest.left] == ["list.csv", ".DS_Store"]
    assert {folder: set(held) for folder, held in files.items()} == {
        "ann_lee": {"silu.py"}, "bo": set(), "Case": {"silu.py"}, "case-2": {"silu.py"}, "dan": {"silu.py"},
        "eve": {"silu.py"}, "fay": {"fay.tar.gz"}}
    assert found["ann_lee"].members[0].id == "ann lee" and whys(found["ann_lee"]) == {
        "venv/": "hidden, installed, or written by a system"}
    assert found["dan"].taken == {"silu.py": "submission.zip/hw/silu.py"}
    assert found["eve"].taken == {"silu.py": "eve.zip/hw/silu.py"}
    (problem,) = found["fay"].problems
    assert problem.startswith("fay.tar.gz: is ") and problem.endswith("; pack it again")
    # The same of archives alone, in a zip of a folder of them.
    manifest, files = take_in(zipped(tmp_path / "all.zip", {"class/eve.zip": hw, "class/dan.zip": hw}))
    assert manifest.kind == "archives" and set(files) == {"eve", "dan"}


def test_the_one_student_of_a_class_is_no_wrapping(tmp_path: Path) -> None:
    manifest, files = take_in(laid_out(tmp_path / "all", {"ann/hw.zip": zipped(
        tmp_path / "hw.zip", {"silu.py": SILU}).read_bytes()}))
    assert manifest.kind == "folders" and files == {"ann": {"silu.py": SILU}}


def test_a_pattern(tmp_path: Path) -> None:
    source = laid_out(tmp_path / "all", {
        "2026-03-01T23:00+01:00/ada@x.edu--silu.py": SILU, "2026-03-02T01:00+01:00/ada@x.edu--gemm.py": GEMM,
        "2026-03-01T23:00+01:00/lin@x.edu--sub--silu.py": SILU, "notes.txt": ""})
    pattern = r"(?P<time>[^/]+)/(?P<id>(?P<email>[^/]+?))--(?P<file>.+)"
    manifest, files = take_in(source, replace(OPTIONS, pattern=pattern))
    assert manifest.kind == "pattern" and [left.name for left in manifest.left] == ["notes.txt"]
    # Whatever the file is called: it is the only one that defines silu.
    assert files == {"ada_x.edu": {"silu.py": SILU, "gemm.py": GEMM}, "lin_x.edu": {"silu.py": SILU}}
    assert by_folder(manifest)["ada_x.edu"].submitted_at == "2026-03-02T01:00:00+01:00"
    assert by_folder(manifest)["ada_x.edu"].members[0].email == "ada@x.edu"
    for wrong, says in (("(", "give a regular expression"), ("(?P<who>.*)", "groups who;"),
                        (r"(?P<time>[^/]+)\+01:00/(?P<id>.+)", "no time with a zone")):
        with pytest.raises(UserError, match=says):
            take_in(source, replace(OPTIONS, pattern=wrong))


OLD, NEW = source_of("silu", "old"), source_of("silu", "new")


@pytest.mark.parametrize(("files", "pattern", "name"), {
    "by number": (["attempt-9/silu.py", "attempt-10/silu.py"], "", "silu.py"),
    "of three": (["3/silu.py", "2/silu.py", "20/silu.py"], "", "silu.py"),
    "a word behind the number": (["v2-final/silu.py", "v10/silu.py"], "", "silu.py"),
    "another spelling": (["attempt-1/silu.py", "attempt-2/SiLU.py"], "", "silu.py"),
    "in the file's name": (["silu_v9.py", "silu_v10.py"], "", "silu.py"),
    "by a date": (["2026-03-31/silu.py", "2026-04-01/silu.py"], "", "silu.py"),
    "by a date and a time": (["20260331T2359/silu.py", "20260401T0001/silu.py"], "", "silu.py"),
    "by time, against the numbers": (
        ["2/2026-03-01T23:00Z/silu.py", "1/2026-03-02T01:00Z/silu.py"], "[12]/(?P<time>[^/]+)/", "silu.py"),
    "by instant, against the clock": (
        ["2026-03-01T23:30+01:00/silu.py", "2026-03-01T23:00+00:00/silu.py"], "(?P<time>[^/]+)/", "silu.py"),
    "at one time, by number": (
        ["2026-03-01T23:00Z/9/silu.py", "2026-03-01T23:00Z/10/silu.py"], "(?P<time>[^/]+)/[0-9]+/", "silu.py"),
}.values())
def test_the_newest_of_a_students_files_stands(tmp_path: Path, files: list[str], pattern: str, name: str) -> None:
    source = laid_out(tmp_path / "all", dict.fromkeys((f"bob/{file}" for file in files[:-1]), OLD) | {
        f"bob/{files[-1]}": NEW})
    manifest, found = take_in(source, replace(OPTIONS, pattern=f"(?P<id>[^/]+)/{pattern or '(.+/)?'}(?P<file>[^/]+)"))
    assert found == {"bob": {name: NEW}}
    assert {f"bob/{file}" for file in files[:-1]} == {
        file for file, why in whys(by_folder(manifest)["bob"]).items() if why.startswith("an earlier ")}


def test_an_earlier_file_is_not_late_with_a_later_one(tmp_path: Path) -> None:
    source = laid_out(tmp_path / "all", {
        "bob/2026-03-01T23:00Z-on_time/silu.py": OLD, "bob/2026-03-03T01:00Z-late/silu.py": NEW,
        "bob/2026-03-04T01:00Z-on_time/silu.py": SILU})
    pattern = r"(?P<id>[^/]+)/(?P<time>[^/]+Z)-(?:(?P<late>late)|on_time)/(?P<file>.+)"
    manifest, found = take_in(source, replace(OPTIONS, pattern=pattern))
    (bob,) = manifest.submissions
    assert found == {"bob": {"silu.py": SILU}} and (bob.submitted_at, bob.late) == ("2026-03-04T01:00:00+00:00", False)


@pytest.mark.parametrize("files", [
    ("final/silu.py", "last/silu.py"), ("1/9/silu.py", "2/8/silu.py"), ("01/silu.py", "1/silu.py"),
    ("silu.py", "work/silu.py"), ("a/work.zip", "b/work.zip")])
def test_files_without_an_order_are_refused_with_both_names(tmp_path: Path, files: tuple[str, str]) -> None:
    source = laid_out(tmp_path / "all", {f"bob/{file}": SILU for file in files} | {
        # Nothing to grade may lie twice.
        "bob/a/utils.py": "", "bob/b/utils.py": "", "ada/silu.py": SILU})
    options = replace(OPTIONS, pattern="(?P<id>[^/]+)/(.+/)?(?P<file>[^/]+)")
    with pytest.raises(UserError) as info:
        take_in(source, options)
    assert f"bob/{files[0]} and bob/{files[1]} are of one student" in str(info.value)
    (source / "bob" / files[0]).unlink()
    manifest, found = take_in(source, options)
    assert found["ada"] == {"silu.py": SILU}
    assert whys(by_folder(manifest)["bob"])["bob/b/utils.py"] == "one of 2 of this name, which have no order"


@pytest.mark.parametrize("files", [{}, {"a.txt": ""}, {"silu.py": SILU}])
def test_what_is_of_no_kind_is_told(tmp_path: Path, files: Files) -> None:
    with pytest.raises(UserError, match="say with --pattern"):
        take_in(laid_out(tmp_path / "all", files))
    with pytest.raises(UserError, match="no such file or folder"):
        take_in(tmp_path / "nowhere")


def test_names_that_are_no_text_and_links(tmp_path: Path) -> None:
    odd = os.fsdecode(b"\xff\xfe/silu.py")
    source = laid_out(tmp_path / "all", {odd: SILU, "ann/silu.py": SILU, "__x/gemm.py": GEMM})
    (source / "ann" / "gemm.py").symlink_to(f"../{odd}")
    manifest, files = take_in(source)
    assert sorted(map(len, files.values())) == [1, 1] and [file.name for file in manifest.left] == ["__x"]
    assert {submission.members[0].id for submission in manifest.submissions} == {"ann", "\ufffd\ufffd"}
    assert "link out of the submission" in whys(by_folder(manifest)["ann"])["gemm.py"]
    # Where all lie in one folder, a link could lead to another's.
    source = laid_out(tmp_path / "flat", {"ada_1_2_silu.py": SILU, "bo_2_3_gemm.py": GEMM})
    (source / "eve_9_9_silu.py").symlink_to("ada_1_2_silu.py")
    manifest, files = take_in(source)
    assert files["eve_9"] == {} and whys(by_folder(manifest)["eve_9"]) == {
        "eve_9_9_silu.py": "is a link; hand in a plain file"}
