"""The two tiers of tests: `make test` leaves those in tests/full.txt to `make test-all`.

    make test-all                                          (writes build/tests.xml)
    .venv/bin/python -m tests.tiers build/tests.xml …      (adds to tests/full.txt those that were slow in every run)

A test stays in the file until somebody deletes its line. Tests in tests/sentinels.txt run every time, however long they
take. Tests that prove again what others do carry the marker `full` in their own file.
"""

import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol

HERE = Path(__file__).parent
FULL, SENTINELS = HERE / "full.txt", HERE / "sentinels.txt"
SHARE = 1.5
"""Seconds that a test of the quick tier may take on the machine where the control takes CONTROL."""
LENIENT = 6
"""Shares that an unmarked test may take before it fails `make test-all`: seconds of a busy machine vary by three."""
CONTROL = 0.06
"""Seconds of `control()` on the two cores that SHARE is meant for, beside four other workers."""
LOOPS = 400_000


@cache
def listed(file: Path) -> frozenset[str]:
    """The names of tests in a file, without comments."""
    lines = (line.partition("  #")[0].strip() for line in file.read_text(encoding="utf-8").splitlines())
    return frozenset(line for line in lines if line and not line.startswith("#"))


def control() -> float:
    """Seconds that a fixed piece of work takes now, on this machine and beside what else it does."""
    began = time.perf_counter()
    total = 0
    for number in range(LOOPS):
        total += number % 7
    return time.perf_counter() - began


def too_slow(seconds: float, beside: float) -> str:
    """The reason why a test of the quick tier took too long, beside a control of so many seconds, or ""."""
    most = LENIENT * SHARE * max(1, beside / CONTROL)
    if seconds <= most:
        return ""
    return (f"took {seconds:.1f} s, twice, where a test of the quick tier may take {most:.1f} s: make it quicker, or "
            f"add its name to {FULL.relative_to(HERE.parent)}")


def measured(reports: Iterable[Path]) -> dict[str, float]:
    """The least seconds of each test in JUnit reports: the first test of a worker pays for what others share."""
    found: dict[str, float] = {}
    for report in reports:
        for case in ET.parse(report).iter("testcase"):
            if case.find("skipped") is None:
                name = _node(str(case.get("classname")), str(case.get("name")))
                found[name] = min(found.get(name, float("inf")), float(case.get("time", 0)))
    return found


def _node(room: str, name: str) -> str:
    """A test's name for pytest from what JUnit calls its module, and class if it has one."""
    module, _, group = room.partition(".Test")
    return "::".join([f"{module.replace('.', '/')}.py", *([f"Test{group}"] if group else []), name])


def main(reports: list[str]) -> None:
    """Add slow tests to the file."""
    if lacking := [report for report in reports if not Path(report).is_file()]:
        sys.exit(f"{lacking[0]}: no such file; make test-all writes build/tests.xml")
    if not reports:
        sys.exit(__doc__)
    seconds = measured(map(Path, reports))
    slow = {name for name, taken in seconds.items() if taken > SHARE} - listed(SENTINELS)
    kept = listed(FULL)
    FULL.write_text("".join(f"{name}\n" for name in sorted(kept | slow)), encoding="utf-8")
    quick = sum(taken for name, taken in seconds.items() if name not in kept | slow)
    print(f"{len(slow - kept)} added to {FULL.name}, which names {len(kept | slow)} tests; the other tests took "
          f"{quick:.0f} s of {sum(seconds.values()):.0f}")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--tiers", action="store_true", help="hold the quick tier to its seconds: see tests/tiers.py")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests that the file names. Raises UsageError where the whole suite lacks one that the files name."""
    for item in items:
        if item.nodeid in listed(FULL):
            item.add_marker("full")
    if config.getoption("tiers"):
        gone = (listed(FULL) | listed(SENTINELS)) - {item.nodeid for item in items}
        if gone:
            raise pytest.UsageError(f"no such test; take its line away: {', '.join(sorted(gone))}")


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Fail a test of the quick tier that takes too long twice: a worker's first test pays for what others share."""
    if not item.config.getoption("tiers") or item.get_closest_marker("full") or item.nodeid in listed(SENTINELS):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, log=False, nextitem=nextitem)
    if too_slow(_call_seconds(reports), control()):
        # As the runner does before each run: fixtures are made anew.
        item._initrequest()  # type: ignore[attr-defined]  # noqa: SLF001
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        if why := too_slow(_call_seconds(reports), control()):
            for report in reports:
                if report.when == "call":
                    report.outcome, report.longrepr = "failed", f"{item.nodeid} {why}"
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _call_seconds(reports: Iterable[pytest.TestReport]) -> float:
    return sum(report.duration for report in reports if report.when == "call" and report.passed)


if __name__ == "__main__":
    main(sys.argv[1:])
