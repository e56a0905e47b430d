"""Archives that were made to do harm, and those that are broken or odd: each costs its owner one clear clause."""

import bz2
import gzip
import io
import lzma
import os
import resource
import stat
import struct
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.classroom.intake.archive import PATH_BYTES, STUDENT, ArchiveLimits, BrokenArchive, unpack
from grader.classroom.intake.main import IntakeOptions, taken_in

GOOD = b"def silu(): ...\n"
STORED = zipfile.ZIP_STORED
"""For what is random, of which a compressor makes nothing, slowly."""


def a_zip(
    path: Path, *entries: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED
) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            archive.writestr(name, content, method)
    return path


def a_tar(path: Path, *entries: tuple[str | tarfile.TarInfo, bytes], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, content in entries:
            info = tarfile.TarInfo(name) if isinstance(name, str) else name
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def moded(name: str, mode: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    return info


def typed(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


@pytest.mark.parametrize("wrap", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_tar_in_every_wrapping(tmp_path: Path, wrap: Callable[[bytes], bytes]) -> None:
    plain = a_tar(tmp_path / "plain.tar", ("hw/silu.py", GOOD), ("hw/Ünï.txt", b"x"), mode="w")
    (tmp_path / "hw.zip").write_bytes(wrap(plain.read_bytes()))
    assert unpack(tmp_path / "hw.zip", tmp_path / "out") == []
    assert files(tmp_path / "out") == {"hw/silu.py": GOOD, "hw/Ünï.txt": b"x"}


# What leads out, in every spelling; what is kept of each archive is the good file alone.
# A system takes neither the last two, of which each part is short enough: a folder fails there, or the file in it.
UNSAFE = ["../evil.py", "hw/../../evil.py", "/etc/evil.py", "..\\evil.py", "C:\\evil.py", "hw/" * 40 + "evil.py",
          "a" * 300, f"{'d' * 200}/" * 25 + "evil.py", f"{'d' * 200}/" * 19 + "e" * 250]


@pytest.mark.parametrize("make", [a_zip, a_tar])
@pytest.mark.parametrize("name", UNSAFE)
def test_no_entry_leads_out(tmp_path: Path, name: str, make: Callable[..., Path]) -> None:
    inside = tmp_path / "inside"
    left = unpack(make(tmp_path / "hw.zip", (name, b"evil"), ("silu.py", GOOD)), inside / "out")
    assert files(tmp_path / "inside") == {"out/silu.py": GOOD} and not Path("/etc/evil.py").exists()
    assert [file.name for file in left] == [name[:PATH_BYTES] + "…" * (len(name) > PATH_BYTES)]
    assert "leads out" in left[0].why or "too long" in left[0].why


def test_a_name_of_megabytes_is_told_in_short(tmp_path: Path) -> None:
    # The manifest of the whole class holds it.
    (left,) = unpack(a_tar(tmp_path / "hw.tar", ("n" * (1 << 20), b"")), tmp_path / "out")
    assert len(left.name) == PATH_BYTES + 1 and left.why == "has a name that is too long"


def test_links_and_devices_are_left_and_named(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("solution")
    secret = str(tmp_path / "secret")
    path = a_tar(
        tmp_path / "hw.tar", (typed("silu.py", tarfile.SYMTYPE, secret), b""),
        (typed("folder", tarfile.SYMTYPE, "/tmp"), b""),
        (typed("hard.py", tarfile.LNKTYPE, secret), b""), (typed("null", tarfile.CHRTYPE), b""),
        (typed("fifo", tarfile.FIFOTYPE), b""), ("folder/gemm.py", GOOD))
    left = unpack(path, tmp_path / "tar")
    assert files(tmp_path / "tar") == {"folder/gemm.py": GOOD}
    assert {file.name: file.why for file in left} == {
        **dict.fromkeys(["silu.py", "folder", "hard.py"], "is a link; hand in a plain file"),
        **dict.fromkeys(["null", "fifo"], "is a device; hand in a plain file")}
    path = a_zip(tmp_path / "hw.zip", (moded("silu.py", stat.S_IFLNK | 0o777), secret.encode()),
                 (moded("fifo", stat.S_IFIFO), b""), (moded("gemm.py", stat.S_IFREG | 0o4777), GOOD))
    left = unpack(path, tmp_path / "zip")
    assert files(tmp_path / "zip") == {"gemm.py": GOOD} and [file.name for file in left] == ["silu.py", "fifo"]
    assert not (tmp_path / "zip" / "gemm.py").stat().st_mode & (stat.S_ISUID | 0o111)


def _overlapping(path: Path) -> Path:
    """A directory of 400 entries that all point at one compressed file of 1 MiB."""
    a_zip(path, ("x", bytes(1 << 20)))
    data = path.read_bytes()
    at = data.rindex(b"PK\x05\x06")
    start = struct.unpack("<I", data[at + 16:at + 20])[0]
    entry, end = data[start:at], data[at:]
    end = end[:8] + struct.pack("<HHI", 400, 400, 400 * len(entry)) + end[16:]
    path.write_bytes(data[:start] + entry * 400 + end)
    return path


def _claims_gigabytes(path: Path) -> Path:
    """A tar with an extended header of 64 GiB by its own word, and of 256 MiB in fact."""
    header = tarfile.TarInfo("x")
    header.type, header.size = tarfile.XHDTYPE, 64 << 30
    with gzip.open(path, "wb", compresslevel=1) as out:
        out.write(header.tobuf(tarfile.GNU_FORMAT))
        for _ in range(1 << 8):
            out.write(bytes(1 << 20))
    return path


BOMBS: dict[str, Callable[[Path], Path]] = {
    "ratio": lambda path: a_zip(path, ("zeros.py", bytes(15 << 20)), ("ones.py", b"1" * (15 << 20))),
    "tar": lambda path: a_tar(path, *((f"{number}.py", bytes(8 << 20)) for number in range(9))),
    "count": lambda path: a_zip(path, *((f"{number}.py", b"") for number in range(3_001))),
    "size": lambda path: a_zip(path, *((f"{number}.bin", os.urandom(13 << 20)) for number in range(5)),
                          method=STORED),
    "overlap": _overlapping,
    "header": _claims_gigabytes,
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_is_refused_and_leaves_nothing(tmp_path: Path, bomb: str) -> None:
    with pytest.raises(BrokenArchive, match=r"more than|at most|damaged"):
        unpack(BOMBS[bomb](tmp_path / "hw.zip"), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def _directory(path: Path) -> Path:
    """A zip whose directory names a million entries that are not there."""
    entry = struct.pack("<4s4B4HL2L5H2L", b"PK\1\2", 20, 0, 20, *[0] * 8, 1, *[0] * 6) + b"a"
    named = entry * 1_000_000
    path.write_bytes(named + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, len(named), 0, 0))
    return path


def _headers(path: Path) -> Path:
    """A tar whose first header says ten thousand things, which are copied for each of its files."""
    said = {f"key{number}": "" for number in range(10_000)}
    with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT, pax_headers=said) as archive:
        for number in range(29):
            info = tarfile.TarInfo(f"{number}.py")
            info.pax_headers = {"comment": "x"}
            archive.addfile(info)
    return path


@pytest.mark.parametrize(("make", "clause"), [
    (_directory, "a directory for more than"), (_headers, "more than 256 keys in a file's header")])
def test_what_would_take_minutes_is_refused_before_any_of_it(
    tmp_path: Path, make: Callable[[Path], Path], clause: str
) -> None:
    packed = make(tmp_path / "packed")
    with pytest.raises(BrokenArchive, match=clause):
        unpack(packed, tmp_path / "out")


def test_archives_of_a_hand_in_share_their_room(tmp_path: Path) -> None:
    for number in range(3):
        a_zip(tmp_path / "all" / "ada" / f"{number}.zip",
              *((f"{index}.bin", os.urandom(13 << 20)) for index in range(2)), method=STORED)
    with taken_in(tmp_path / "all", IntakeOptions({"silu": "silu.py"})) as (manifest, _):
        (hand_in,) = manifest.submissions
    assert [problem.partition(":")[0] for problem in hand_in.problems] == ["2.zip"]


def test_an_archive_in_an_archive_is_opened_and_none_in_that(tmp_path: Path) -> None:
    deep = a_zip(tmp_path / "deep.zip", ("gemm.py", GOOD)).read_bytes()
    inner = a_tar(tmp_path / "inner.tgz", ("hw/silu.py", GOOD), ("old/deep.zip", deep)).read_bytes()
    a_zip(tmp_path / "all" / "ada" / "hw.zip", ("task 1/inner.tgz", inner), ("half.zip", b"PK\3\4"))
    with taken_in(tmp_path / "all", IntakeOptions({"silu": "silu.py", "gemm": "gemm.py"})) as (manifest, _):
        (hand_in,) = manifest.submissions
    assert hand_in.taken == {"silu.py": "hw.zip/task 1/inner.tgz/hw/silu.py"}
    broken, closed = sorted(hand_in.problems)
    assert broken.startswith("hw.zip/half.zip: is damaged")
    assert closed == ("hw.zip/task 1/inner.tgz: holds archives; they are not opened (old/deep.zip): pack files, or "
                      "archives of files")


def test_archives_in_an_archive_share_its_room_and_are_few(tmp_path: Path) -> None:
    large = a_zip(tmp_path / "large.zip", ("a.bin", os.urandom(13 << 20)), method=STORED).read_bytes()
    many = a_zip(tmp_path / "many.zip", *((f"{number}.txt", b"") for number in range(1_000))).read_bytes()
    a_zip(tmp_path / "all" / "ada" / "hw.zip", *((f"{number}.zip", large) for number in range(3)),
          method=STORED)
    a_zip(tmp_path / "all" / "bo" / "hw.zip", *((f"{number}.zip", many) for number in range(4)))
    a_zip(tmp_path / "all" / "cy" / "hw.zip", *(
        (f"{number:02}.zip", a_zip(tmp_path / "one.zip", (f"{number}.txt", b"")).read_bytes()) for number in range(20)))
    with taken_in(tmp_path / "all", IntakeOptions({"silu": "silu.py"})) as (manifest, _):
        ada, bo, cy = (submission.problems for submission in manifest.submissions)
    assert [problem.partition(":")[0] for problem in ada] == ["hw.zip/1.zip", "hw.zip/2.zip"]
    # The archives themselves count, too.
    assert bo == [f"hw.zip/{number}.zip: has more than 998 entries; pack the course's files alone" for number in (2, 3)]
    assert cy == ["hw.zip: holds more than 16 archives; the others are not opened (16.zip, 17.zip, 18.zip, …): pack "
                  "files, or archives of files"]


def test_what_is_just_below_the_limits_is_taken(tmp_path: Path) -> None:
    limits = ArchiveLimits(entries=3, file=1 << 20, total=2 << 20)
    entries = [("a.py", bytes(1 << 20)), ("b.py", bytes(1 << 20)), ("c.py", b"")]
    assert unpack(a_zip(tmp_path / "hw.zip", *entries), tmp_path / "out", limits) == []
    with pytest.raises(BrokenArchive):
        unpack(a_zip(tmp_path / "hw.zip", *entries[:2], ("c.py", b"1")), tmp_path / "more", limits)


def test_one_file_that_is_too_large_is_left_alone(tmp_path: Path) -> None:
    path = a_zip(tmp_path / "hw.zip", ("video.mp4", os.urandom(STUDENT.file + 1)), ("silu.py", GOOD), method=STORED)
    (left,) = unpack(path, tmp_path / "out")
    assert (left.name, left.why) == ("video.mp4", "has more than 16 MiB")
    assert files(tmp_path / "out") == {"silu.py": GOOD}


def _encrypted(path: Path) -> Path:
    data = bytearray(a_zip(path, ("silu.py", GOOD)).read_bytes())
    for magic, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(magic) + offset] |= 1
    path.write_bytes(data)
    return path


def _damaged(path: Path) -> Path:
    data = bytearray(a_zip(path, ("silu.py", os.urandom(1000))).read_bytes())
    data[300] ^= 255
    path.write_bytes(data)
    return path


def _written(content: bytes) -> Callable[[Path], Path]:
    def write(path: Path) -> Path:
        path.write_bytes(content)
        return path
    return write


def _cut(path: Path) -> Path:
    path.write_bytes(a_tar(path, ("silu.py", os.urandom(5000))).read_bytes()[:3000])
    return path


BROKEN: dict[str, tuple[Callable[[Path], Path], str]] = {
    "encrypted": (_encrypted, "is encrypted; pack it without a password"),
    "damaged": (_damaged, "is damaged (Bad CRC-32"),
    "cut": (_cut, "damaged"),
    "empty": (_written(b""), "is neither zip nor tar, or is damaged"),
    "rar": (_written(b"Rar!\x1a\x07\x01\x00" + bytes(100)), "is neither zip nor tar, or is damaged"),
    "a web page": (_written(b"<!DOCTYPE html><html>sign in</html>"), "is neither zip nor tar, or is damaged"),
    "half a zip": (_written(b"PK\x03\x04" + bytes(100)), "is damaged (File is not a zip file"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_archive_is_told_in_a_clause(tmp_path: Path, kind: str) -> None:
    make, says = BROKEN[kind]
    with pytest.raises(BrokenArchive) as info:
        unpack(make(tmp_path / "hw.zip"), tmp_path / "out")
    assert says in str(info.value) and "\n" not in str(info.value) and not (tmp_path / "out").exists()


def test_names_in_odd_encodings(tmp_path: Path) -> None:
    # As macOS writes UTF-8, without a word about it; and as an old Windows does.
    made = a_zip(tmp_path / "hw.zip", ("ZoXX.py", b"1"))
    for raw, name in (("ë".encode(), "Zoë.py"), (b"\x89\x89", "Zo\u00eb\u00eb.py")):
        path = tmp_path / "one.zip"
        path.write_bytes(made.read_bytes().replace(b"XX", raw))
        out = tmp_path / raw.hex()
        assert unpack(path, out) == [] and list(files(out)) == [name]
    made = a_tar(tmp_path / "hw.tar", (os.fsdecode(b"\xff.py"), b"1"), ("a\nb.py", b"2"))
    assert unpack(made, tmp_path / "tar") == []
    assert files(tmp_path / "tar") == {"\ufffd.py": b"1", "a\ufffdb.py": b"2"}


@pytest.mark.parametrize("make", [a_zip, a_tar])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_names_that_collide(tmp_path: Path, make: Callable[..., Path]) -> None:
    path = make(tmp_path / "hw.zip", ("silu.py", b"old"), ("SILU.py", b"other"), ("silu.py", b"new"), ("gemm.py", b"1"),
                ("gemm.py/inner.py", b"2"))
    left = unpack(path, tmp_path / "out")
    assert files(tmp_path / "out") == {"silu.py": b"new", "SILU.py": b"other", "gemm.py": b"1"}
    assert [file.name for file in left] == ["silu.py", "gemm.py/inner.py"]


def test_folders_stay_and_a_zip_of_windows_is_read(tmp_path: Path) -> None:
    # A student who handed in nothing has an empty folder.
    path = a_zip(tmp_path / "hw.zip", ("empty/", b""), ("hw\\silu.py", GOOD))
    assert unpack(path, tmp_path / "out") == []
    assert (tmp_path / "out" / "empty").is_dir() and files(tmp_path / "out") == {"hw/silu.py": GOOD}


def test_a_full_disk_is_no_fault_of_the_archive(tmp_path: Path) -> None:
    path = a_zip(tmp_path / "hw.zip", ("silu.py", GOOD))
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="Not a directory"):
        unpack(path, tmp_path / "file" / "out")


# \udc80 is what Python reads where a name in an archive holds the byte 0x80, which is no UTF-8.
LETTERS = st.sampled_from("a./\\:~\0\n\udc80C ") | st.characters(codec="utf-8")


@given(st.lists(st.text(LETTERS, min_size=1, max_size=40), max_size=6))
@settings(max_examples=100)
def test_whatever_the_names_nothing_lies_outside_and_nothing_is_lost(names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        inside = Path(folder) / "inside"
        made = a_tar(Path(folder) / "hw.tar", *((name, b"1") for name in names), mode="w")
        left = unpack(made, inside / "out")
        assert {path.name for path in Path(folder).iterdir()} == {"hw.tar", "inside"}
        assert [path.name for path in inside.iterdir()] == ["out"]
        with tarfile.open(made) as archive:
            count = sum(member.isreg() for member in archive)
        # A name of dots and slashes alone names nothing.
        assert len(files(inside / "out")) + len(left) <= len(names) and count == len(names)


@pytest.mark.parametrize("size", [100, 40_000], ids=["a part of a page", "pages"])
def test_a_full_disk_is_no_damage_of_the_archive(tmp_path: Path, size: int) -> None:
    archive = a_zip(tmp_path / "all.zip", ("silu.py", b"#" * size))
    # A limit of a file's size fails as a full disk does, and needs no disk.
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size - 1, before[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            unpack(archive, tmp_path / "all")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert os.listdir(tmp_path) == ["all.zip"]
