"""The pytest layer, used by hand: `pytest --submission DIR` judges what `kernelmark grade` would grade.

pytest never collects a submission's `conftest.py`, `pytest.ini`, tests or plugins. Every pytest run loads this module
if kernelmark is installed, so slow modules are imported only when they are needed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grader.errors import UserError

if TYPE_CHECKING:
    from grader.judging.judgement import Judgement


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("kernelmark", "grading a submission by hand")
    group.addoption("--submission", metavar="DIR", help="check this student's folder (select checks with -k)")
    group.addoption("--course", metavar="FILE", help="course.toml to use (default: the nearest, here or above)")
    group.addoption("--device", choices=("cpu", "cuda"), default="cpu", help="where kernels run (default: cpu)")
    group.addoption("--seed", type=int, metavar="N", help="make the inputs repeat (default: new ones every time)")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> None:
    """Keep pytest from searching for any conftest.py: a grading has none, wherever it starts."""
    folder = early_config.known_args_namespace.submission
    if folder is None:
        return
    early_config.known_args_namespace.noconftest = True
    # pytest picks its ini file before it knows this plugin's options: the submission's, which it takes for a folder of
    # tests.
    if early_config.inipath is not None and early_config.inipath.resolve().is_relative_to(Path(folder).resolve()):
        raise pytest.UsageError(
            f"{early_config.inipath} is the submission's own; run pytest from elsewhere, with --submission={folder}")


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    folder = config.getoption("--submission")
    if folder is None:
        return
    # A TA's own tests may be named. The project's `testpaths` are not part of a grading.
    own = config.args if config.args_source is pytest.Config.ArgsSource.ARGS else []
    for path in own:
        if Path(path.partition("::")[0]).resolve().is_relative_to(Path(folder).resolve()):
            raise pytest.UsageError(f"{path} is the submission's own; name tests that lie elsewhere")
    # Late, as below: every pytest run loads this plugin, even one that grades nothing.
    from grader.grading.suite.adapter import SUITE, Adapter

    config.pluginmanager.register(Adapter(_by_hand(config, Path(folder))))
    config.args = [str(SUITE), *own]


def _by_hand(config: pytest.Config, folder: Path) -> list[Judgement]:
    # Late, see pytest_configure.
    from grader import home
    from grader.course import catalogue, course
    from grader.grading.job import draw_seed, read, seed_bytes
    from grader.judging.judgement import Judgement
    from grader.judging.prepared import PreparedTask, Task
    from grader.sandbox.confine import surroundings

    if not folder.is_dir():
        raise pytest.UsageError(f"--submission {folder}: no folder; name a student's folder")
    try:
        named = config.getoption("--course")
        place = home.named(Path(named)) if named else home.find_here()
        place.refuse(folder, alone=True)
        home.enter(place)
        assignments = catalogue.assignments()
        rules = course.read_course(place.file, frozenset(assignments))
    except UserError as error:
        raise pytest.UsageError(str(error)) from None
    surroundings.withhold([folder, folder.parent])
    seed, device = config.getoption("--seed"), config.getoption("--device")
    names = rules.select(assignments, ())
    handed_in, key = read(folder, names, rules), seed_bytes(draw_seed() if seed is None else seed)
    return [Judgement(PreparedTask(Task(assignments[name], handed_in.sources[name], rules, key, device)),
                      speed=device == "cuda") for name in names]
