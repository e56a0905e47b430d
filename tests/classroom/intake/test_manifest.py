"""What an intake leaves for policy and exports: read back whole, or refused in one line."""

from pathlib import Path

import pytest

from grader.classroom.intake.manifest import FILE, Manifest, ManifestEntry, ManifestError, Member, read_manifest

ADA = ManifestEntry(folder="ada", members=[Member(id="ada", source_id="17")], submitted_at="2026-03-01T23:59:00+01:00",
             late=False, origin=["ada_17_23_silu.py"], taken={"silu.py": "ada_17_23_silu.py"})


def test_a_manifest_is_read_as_it_was_written(tmp_path: Path) -> None:
    written = Manifest(kind="canvas", source="all.zip", submissions=[ADA], unknown=["ada"])
    (tmp_path / FILE).write_text(written.model_dump_json(by_alias=True, indent=1))
    assert read_manifest(tmp_path) == written
    assert '"schema": "kernelmark/intake/v1"' in (tmp_path / FILE).read_text()


@pytest.mark.parametrize(("content", "says"), [
    (None, "No such file or directory; name the folder that kernelmark intake wrote"),
    ("[]", "run kernelmark intake again"),
    ('{"schema": "kernelmark/intake/v2", "kind": "git", "source": "", "submissions": []}', "schema: "),
    ('{"kind": "git", "source": "", "submissions": [{"folder": "a", "members": [], "origin": []}]}', "members: "),
    ('{"kind": "git", "source": "", "submissions": [{"folder": "a", "members": [{"id": "a"}], "origin": [], '
     '"submitted_at": "2026-03-01T10:00"}]}', "submitted_at: Value error, expected a time with a zone"),
])
def test_what_is_no_manifest_is_told_in_one_line(tmp_path: Path, content: str | None, says: str) -> None:
    if content is not None:
        (tmp_path / FILE).write_text(content)
    with pytest.raises(ManifestError) as caught:
        read_manifest(tmp_path)
    assert says in str(caught.value) and "\n" not in str(caught.value)
