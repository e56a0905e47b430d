"""The pytest layer: `pytest --submission DIR` grades by hand what `kernelmark grade` grades for a class.

Each check is an item in the trusted process, parametrised from the assignments. pytest collects the files of this
folder and nothing else: never a submission's `conftest.py`, `pytest.ini` or plugins.
This module is loaded by every pytest run beside an installed kernelmark, so what is heavy is imported when needed.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from grader.judge.attempt import Attempt
    from grader.model.result import CheckResult
    from grader.suite.context import Context

SUITE = Path(__file__).parent
# In which order the checks of an assignment run.
STAGES = ("test_source", "test_case", "test_target", "test_speed")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("kernelmark", "grading a submission by hand")
    group.addoption("--submission", metavar="DIR", help="check this student's folder (select checks with -k)")
    group.addoption("--course", metavar="FILE", help="course.toml to use (default: the repository's)")
    group.addoption("--device", choices=("cpu", "cuda"), default="cpu", help="where kernels run (default: cpu)")
    group.addoption("--seed", type=int, metavar="N", help="make the inputs repeat (default: new ones every time)")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> None:
    """Before pytest looks for any conftest.py: a grading has none, wherever it was started."""
    folder = early_config.known_args_namespace.submission
    if folder is None:
        return
    early_config.known_args_namespace.noconftest = True
    # pytest picks its ini file before it knows this plugin's options, and then takes the folder for one of tests.
    if early_config.inipath is not None and early_config.inipath.resolve().is_relative_to(Path(folder).resolve()):
        raise pytest.UsageError(
            f"{early_config.inipath} is the submission's own; run pytest from elsewhere, with --submission={folder}")


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    folder = config.getoption("--submission")
    if folder is None:
        return
    from grader.suite.context import CONTEXT

    if CONTEXT not in config.stash:
        config.stash[CONTEXT] = _context_by_hand(config, Path(folder))
    # Arguments such as testpaths of the project's own tests do not belong to a grading.
    config.args = [str(SUITE)]
    if config.option.markexpr == "not gpu":
        config.option.markexpr = ""


def _context_by_hand(config: pytest.Config, folder: Path) -> Context:
    from grader.model import catalogue, course
    from grader.model.job import draw_seed, read
    from grader.suite.context import Context

    if not folder.is_dir():
        raise pytest.UsageError(f"--submission {folder}: a student's folder expected")
    assignments = catalogue.assignments()
    path = Path(config.getoption("--course") or catalogue.COURSE)
    try:
        rules = course.read_course(path, frozenset(assignments))
    except course.CourseError as error:
        raise pytest.UsageError(str(error)) from None
    seed = config.getoption("--seed")
    names = rules.select(assignments, ())
    return Context(
        handed_in=read(folder, names, rules), assignments={name: assignments[name] for name in names}, course=rules,
        device=config.getoption("--device"), seed=seed_bytes(draw_seed() if seed is None else seed),
        asked_for_speed=True)


def seed_bytes(seed: int) -> bytes:
    """`--seed N` as the key of every input."""
    return hashlib.sha256(str(seed).encode()).digest()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "attempt" not in metafunc.fixturenames or metafunc.config.getoption("--submission") is None:
        return
    from grader.suite.context import CONTEXT

    context = metafunc.config.stash[CONTEXT]
    if "timed" in metafunc.fixturenames:
        found = [(name, case) for name, a in context.assignments.items() for case in (a.timed if context.speed else ())]
        metafunc.parametrize(
            ("attempt", "timed"), found, indirect=["attempt"], scope="session",
            ids=[f"{name}-{case.name}" for name, case in found])
        return
    if "case" not in metafunc.fixturenames:
        metafunc.parametrize("attempt", list(context.assignments), indirect=True, scope="session")
        return
    pairs = [(name, case) for name, a in context.assignments.items() for case in a.cases_for(context.device)]
    metafunc.parametrize(
        ("attempt", "case"), pairs, indirect=["attempt"], scope="session",
        ids=[f"{name}-{case.name}" for name, case in pairs])


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--submission") is None:
        return
    from grader.judge.attempt import SOURCE, TARGET, case_check, speed_check
    from grader.suite.context import CHECK, CONTEXT

    context = config.stash[CONTEXT]
    order = list(context.assignments)
    keyed = []
    for position, item in enumerate(items):
        assert isinstance(item, pytest.Function)
        parameters: dict[str, Any] = dict(item.callspec.params)
        stage = item.originalname
        if stage == "test_speed" and not context.speed:
            # pytest makes an item that is skipped where there is nothing to go through.
            continue
        check = {"test_source": SOURCE, "test_target": TARGET}.get(stage) or (
            speed_check(parameters["timed"]) if stage == "test_speed" else case_check(parameters["case"]))
        item.stash[CHECK] = (parameters["attempt"], check)
        keyed.append((order.index(parameters["attempt"]), STAGES.index(stage), position, item))
    items[:] = [item for *_, item in sorted(keyed, key=lambda entry: entry[:3])]


@pytest.fixture(scope="session")
def attempt(request: pytest.FixtureRequest) -> Generator[Attempt]:
    """The attempt at one assignment, from its first check to its last."""
    from grader.suite.context import CONTEXT

    context = request.config.stash[CONTEXT]
    started = time.monotonic()
    attempt = context.attempt(context.assignments[request.param])
    try:
        yield attempt
    finally:
        attempt.close()
        context.inspections[request.param] = attempt.inspection
        context.remarks[request.param] = attempt.remarks
        context.seconds[request.param] = time.monotonic() - started


@pytest.fixture
def verify(request: pytest.FixtureRequest) -> Callable[[CheckResult], None]:
    """Files a check's evidence, and lets the item pass, fail or be skipped accordingly."""
    from grader.suite.context import CHECK, CONTEXT

    name, expected = request.node.stash[CHECK]
    context = request.config.stash[CONTEXT]

    def verify(check: CheckResult) -> None:
        assert check.id == expected.id
        context.put(name, check)
        if check.outcome == "failed":
            pytest.fail(_text(check), pytrace=False)
        if check.outcome == "not_run":
            pytest.skip(check.detail.message if check.detail else "not run")

    return verify


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


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if item.config.getoption("--submission") is not None and call.when != "teardown":
        _file_our_failures(item, call, report)
    return report


def _file_our_failures(item: pytest.Item, call: pytest.CallInfo[Any], report: pytest.TestReport) -> None:
    """An item that ends in any way but through `verify` is a failure of ours, pytest-timeout's alarm included."""
    from grader.suite.context import CHECK, CONTEXT, our_failure

    name, check = item.stash[CHECK]
    context = item.config.stash[CONTEXT]
    filed = context.evidence.get(name, {}).get(check.id)
    agreed = filed is not None and {"passed": "passed", "failed": "failed", "not_run": "skipped"}[
        filed.outcome] == report.outcome
    if agreed or (call.when == "setup" and report.passed):
        return
    reason = f"{type(call.excinfo.value).__name__}: {call.excinfo.value}" if call.excinfo else "no evidence was filed"
    context.put(name, our_failure(check, reason))
