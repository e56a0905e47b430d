"""pytest around the judge: one item for each expected check, which takes the judge's next outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from grader.judging.checks import log_lines
from grader.judging.judgement import Judgement

SUITE = Path(__file__).parent


class CheckItem(pytest.Item):
    """Check `number` of a judgement."""

    def __init__(self, *, judgement: Judgement, number: int, **named: Any) -> None:
        super().__init__(**named)
        self.judgement, self.number = judgement, number

    def runtest(self) -> None:
        check = self.judgement.take(self.number)
        if check.outcome == "failed":
            pytest.fail(log_lines(check), pytrace=False)
        if check.outcome == "not_run":
            pytest.skip(check.detail.message if check.detail else "not run")

    def teardown(self) -> None:
        if self.number == self.judgement.selected[-1]:
            self.judgement.end()

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, self.name


class Adapter:
    """A pytest plugin whose items are the checks of judgements, in the folder SUITE, each assignment's in the order of
    its timeline. A check that is not selected is not judged. `begun` is called with the name of each item's
    assignment."""

    def __init__(
        self, judgements: Sequence[Judgement], begun: Callable[[str], object] = lambda assignment: None
    ) -> None:
        self._judgements, self._begun = judgements, begun

    @pytest.fixture(name="judgements")
    def _fixture(self) -> dict[str, Judgement]:
        """Return the judgements by assignment, for a TA's own tests, which run after the checks."""
        return {judgement.task.assignment.name: judgement for judgement in self._judgements}

    @pytest.hookimpl
    def pytest_collect_directory(self, path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        if path != SUITE:
            return None
        folder: _Folder = _Folder.from_parent(parent, path=path)
        folder.judgements = self._judgements
        return folder

    @pytest.hookimpl
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            if isinstance(item, CheckItem):
                item.judgement.selected.append(item.number)

    @pytest.hookimpl
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if isinstance(item, CheckItem):
            self._begun(item.judgement.task.assignment.name)


class _Folder(pytest.Directory):
    judgements: Sequence[Judgement]

    def collect(self) -> Iterator[CheckItem]:
        for judgement in self.judgements:
            for number, check in enumerate(judgement.expected):
                # The id of a condition's check has its name: structure-coalesced.
                which = check.case or check.id.partition("-")[2]
                name = "-".join(filter(None, (judgement.task.assignment.name, which)))
                yield CheckItem.from_parent(
                    self, name=f"test_{check.stage}[{name}]", judgement=judgement, number=number)
