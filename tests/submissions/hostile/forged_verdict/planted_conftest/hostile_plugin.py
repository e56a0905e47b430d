# Would make every test pass, if pytest looked here.
from pathlib import Path

import pytest

(Path(__file__).parent / "kernelmark-hostile-imported").touch()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    report.outcome, report.longrepr = "passed", None


def pytest_pyfunc_call(pyfuncitem):
    return True
