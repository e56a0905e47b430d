"""Parts that tests share: one fork server for a run, lanes at each isolation, a table of what was graded at which.

Whoever needs none of these waits for no import of torch: tests/test_tiers.py.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests import tiers
from tests.rows import beside

# Tests run side by side, one on each core.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# As in a fork server: where nothing is said, Triton 3.9 warns.
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")

if TYPE_CHECKING:
    from grader.sandbox.forkserver.handle import ForkServer
    from tests.corpus import MemberOutcome, Taking
    from tests.hostile_lane import Lane

# The same examples every time: no test fails by luck.
settings.register_profile("same", derandomize=True, database=None, deadline=None)
settings.load_profile("same")

GPU = Path(__file__).parent / "gpu"
# Folders whose tests need a package that a machine with a GPU may lack.
NEEDS = {GPU.parent / "cluster": "distributed", GPU.parent / "server": "starlette"}

# Tests, once collected, stay: to look for garbage among them took a twelfth of all processor time.
gc.disable()

COLUMNS = ("honest", "full points", "flagged", "hostile", "with points")


def pytest_configure() -> None:
    # Tests run side by side, so no lane has a core to spare.
    if workers := os.environ.get("PYTEST_XDIST_WORKER_COUNT"):
        pytest.MonkeyPatch().setattr("grader.judging.running.lane.LANE.sharing", int(workers))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Every worker reads all files; those in `gpu/` hold nothing that is not marked so."""
    if collection_path == GPU and "not gpu" in config.option.markexpr:
        return True
    return True if find_spec(NEEDS.get(collection_path, "sys")) is None else None


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.register(tiers)
    parser.addoption("--write-verdicts", action="store_true", help="write what the corpus gets: see tests/corpus.py")


@pytest.fixture
def got(pytestconfig: pytest.Config, record_property: Callable[[str, object], None]) -> Taking:
    """Takes what members of the corpus got, and fails where that is not what is kept of them."""
    from tests import corpus

    def take(members: Mapping[str, MemberOutcome]) -> None:
        record_property(corpus.PROPERTY, json.dumps(members))
        if not pytestconfig.getoption("write_verdicts"):
            corpus.agrees(members)

    return take


@pytest.fixture
def text(request: pytest.FixtureRequest) -> str:
    """Return the text under the test's name in the TOML file beside its file."""
    return str(beside(str(request.path))[request.node.originalname.removeprefix("test_")])


@pytest.fixture(scope="session", autouse=True)
def _lane_of_this_process() -> Iterator[None]:
    yield
    # Who has not imported it has opened none.
    if "grader.judging.running.lane" in sys.modules:
        from grader.judging.running.lane import LANE

        LANE.close()


@pytest.fixture
def fork_server() -> ForkServer:
    """That of this process's lane; a test before may have closed the lane."""
    from grader.judging.running.lane import LANE

    return LANE.fork_server.handle


@pytest.fixture(scope="module")
def lane(request: pytest.FixtureRequest) -> Iterator[Lane]:
    """One lane for all submissions at an isolation (`hostile_lane.at`): what one does to it, the next one meets."""
    from tests import hostile_lane

    measured = hostile_lane.at(request.param)
    if measured is None:
        pytest.skip(f"this machine, or this user, has no isolation of its own that is {request.param!r}")
    with hostile_lane.opened(measured) as lane:
        yield lane


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.getoption("write_verdicts"):
        _write_verdicts(terminalreporter)
    counts: dict[tuple[str, ...], Counter[str]] = {}
    told = [pair for outcome in ("passed", "failed", "xfailed") for report in terminalreporter.getreports(outcome)
            if report.when == "call" for pair in report.user_properties]
    if told:
        from tests.hostile_lane import TABLE

        for name, value in told:
            if name == TABLE:
                _count(counts, json.loads(str(value)))
    if not counts:
        return
    lines: list[tuple[str, ...]] = [("user", "isolation", "layers", *COLUMNS)]
    lines += [(*row, *(str(count[name]) for name in COLUMNS)) for row, count in sorted(counts.items(), key=_rank)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    terminalreporter.section("assignments graded at each isolation")
    for line in lines:
        terminalreporter.write_line("  ".join(map(str.ljust, line, widths)).rstrip())


def _write_verdicts(reporter: pytest.TerminalReporter) -> None:
    from tests import corpus

    properties = [each for report in reporter.getreports("passed") for each in report.user_properties]
    try:
        reporter.write_line(corpus.write(properties))
    except ValueError as error:
        pytest.exit(f"{corpus.FILE} is as it was:\n{error}", returncode=1)


def _count(counts: dict[tuple[str, ...], Counter[str]], row: dict[str, str | int]) -> None:
    count = counts.setdefault((str(row["user"]), str(row["isolation"]), str(row["layers"])), Counter())
    count[str(row["kind"])] += int(row["graded"])
    if row["kind"] == "honest":
        count.update({"full points": int(row["full"]), "flagged": int(row["flagged"])})
    else:
        count["with points"] += int(row["scored"])


def _rank(entry: tuple[tuple[str, ...], Counter[str]]) -> tuple[bool, int, int, bool]:
    (user, isolation, layers), _ = entry
    return user != "root", -int(isolation.split()[0]), -layers.count("+"), layers == "no layer"
