"""pytest around the judge: an item for each expected check, which takes the judge's next outcome."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from grader.judge.checks import Judged, expected_checks, our_failure, speed_checks
from grader.judge.judge import Beside, judge
from grader.judge.prepared import Prepared
from grader.model.result import CheckResult

SUITE = Path(__file__).parent


class Judgement:
    """What judging a task comes to, in `seconds`. A check of `checks` that no item has taken is a failure of ours."""

    def __init__(self, prepared: Prepared, *, speed: bool, quiet: Callable[[], None] = lambda: None) -> None:
        self.task, self.beside, self.seconds = prepared.task, Beside(), 0.0
        assignment, device = self.task.assignment, self.task.device
        self.expected = (*expected_checks(assignment, device), *(speed_checks(assignment) if speed else ()))
        self.checks = [our_failure(check, "The check was not run.") for check in self.expected]
        self.selected: list[int] = []
        self._prepared, self._quiet = prepared, quiet
        self._outcomes = self._judged()

    def _judged(self) -> Generator[Judged]:
        started = time.monotonic()
        try:
            self.beside = yield from judge(
                self._prepared, [self.expected[number] for number in self.selected], quiet=self._quiet)
        finally:
            self.seconds = time.monotonic() - started

    def take(self, number: int) -> CheckResult:
        """The next outcome, which is that of check `number`. Raises what ended it, where that is a failure of ours."""
        try:
            judged = next(self._outcomes)
        except StopIteration:
            pytest.fail("The check was not run.")
        except BaseException as error:
            self.checks[number] = our_failure(self.expected[number], f"{type(error).__name__}: {error}")
            raise
        assert judged.check.id == self.expected[number].id
        self.checks[number] = judged.check
        if judged.error is not None:
            raise judged.error
        return judged.check

    def end(self) -> None:
        """Takes what the judge returns behind its last outcome."""
        next(self._outcomes, None)


class CheckItem(pytest.Item):
    """Check `number` of a judgement."""

    def __init__(self, *, judgement: Judgement, number: int, **named: Any) -> None:
        super().__init__(**named)
        self.judgement, self.number = judgement, number

    def runtest(self) -> None:
        check = self.judgement.take(self.number)
        if check.outcome == "failed":
            pytest.fail(_text(check), pytrace=False)
        if check.outcome == "not_run":
            pytest.skip(check.detail.message if check.detail else "not run")

    def teardown(self) -> None:
        if self.number == self.judgement.selected[-1]:
            self.judgement.end()

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, self.name


class Adapter:
    """A pytest plugin that makes the checks of judgements the items of the folder SUITE, each assignment's in the order
    of its timeline. What is not selected is not judged. `begun` is told the name of each item's assignment."""

    def __init__(
        self, judgements: Sequence[Judgement], begun: Callable[[str], object] = lambda assignment: None
    ) -> None:
        self._judgements, self._begun = judgements, begun

    @pytest.fixture(name="judgements")
    def _fixture(self) -> dict[str, Judgement]:
        """For a TA's own tests, which run behind the checks: what these came to, by assignment."""
        return {one.task.assignment.name: one for one in self._judgements}

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
        for one in self.judgements:
            for number, check in enumerate(one.expected):
                name = "-".join(filter(None, (one.task.assignment.name, check.case)))
                yield CheckItem.from_parent(self, name=f"test_{check.stage}[{name}]", judgement=one, number=number)


def _text(check: CheckResult) -> str:
    detail = check.detail
    if detail is None:
        return check.id
    lines = [detail.message]
    if detail.place:
        lines.append(f"  {detail.place.file}:{detail.place.line}: {detail.place.text}")
    if detail.worst:
        worst = detail.worst
        lines.append(f"  out{worst.index}: got {worst.got}, expected {worst.expected} (allowed error {worst.allowed})")
    if detail.hint:
        lines.append(f"  hint: {detail.hint}")
    return "\n".join(lines)
