"""What an author writes instead of the template's sentences."""

from __future__ import annotations

from pathlib import Path

from grader.author import handout, new
from grader.model.assignment import Assignment


def write_handout(root: Path, made: Assignment) -> None:
    """The heading and the sentences of an assignment of `root`, and its first line."""
    path = handout.handout(made.name, root)
    for file in (path, path.with_name("assignment.py")):
        text = file.read_text()
        for placeholder in new.PLACEHOLDERS:
            text = text.replace(placeholder, "what it is")
        file.write_text(text)
    path.write_text(f"# {made.title}\n" + path.read_text().partition("\n")[2])
