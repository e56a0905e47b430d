"""The properties of tests/fuzz with fresh random examples, one after another, for some minutes.

    .venv/bin/python benchmarks/fuzz.py [--minutes 60] [--only source]

Prints a table in Markdown: examples tried and examples a second by property, and each distinct failure with its
smallest example. Exit code 1 if anything failed.
"""

from __future__ import annotations

import argparse
import faulthandler
import functools
import importlib
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

ROOT = Path(__file__).resolve().parent.parent
# A property that hangs is shown where it stands, and ends the run.
HANGING_SECONDS = 600


@dataclass
class Property:
    """A property: `run` tries its share of examples and raises what it finds; `examples` counts them."""

    name: str
    run: Callable[[], Any]
    examples: list[int]
    seconds: float = 0
    failures: dict[str, str] = field(default_factory=dict)


def main() -> None:
    parser = argparse.ArgumentParser(description="long fuzzing by hand")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--only", default="", help="properties whose name holds this")
    given = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    properties = [tested for tested in _properties() if given.only in tested.name]
    if not properties:
        sys.exit(f"fuzz: no property is named like {given.only!r}")
    end = time.monotonic() + 60 * given.minutes
    while time.monotonic() < end:
        # The one that has had the least time is next.
        _round(min(properties, key=lambda tested: tested.seconds))
    print("\n| property | examples | a second | failures |\n|---|---|---|---|")
    for tested in properties:
        rate = tested.examples[0] / tested.seconds if tested.seconds else 0
        print(f"| {tested.name} | {tested.examples[0]:,} | {rate:.1f} | {len(tested.failures)} |")
    for tested in properties:
        for where, trace in tested.failures.items():
            print(f"\n## {tested.name}: {where}\n\n{trace}")
    sys.exit(any(tested.failures for tested in properties))


def _round(tested: Property) -> None:
    begun = time.monotonic()
    faulthandler.dump_traceback_later(HANGING_SECONDS, exit=True)
    try:
        tested.run()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        trace = "".join(traceback.format_exception(error, limit=-3))
        if _place(error) not in tested.failures:
            print(f"{tested.name}: {trace}", file=sys.stderr, flush=True)
        tested.failures.setdefault(_place(error), trace)
    finally:
        faulthandler.cancel_dump_traceback_later()
        tested.seconds += time.monotonic() - begun


def _place(error: BaseException) -> str:
    if isinstance(error, BaseExceptionGroup):
        return ", ".join(sorted({_place(inner) for inner in error.exceptions}))
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).is_relative_to(ROOT)]
    ours = [frame for frame in frames if "site-packages" not in frame.filename]
    last = f" at {Path(ours[-1].filename).relative_to(ROOT)}:{ours[-1].lineno}" if ours else ""
    return type(error).__name__ + last


def _properties() -> list[Property]:
    importlib.import_module("tests.fuzz.harness").profile = "long"  # type: ignore[attr-defined]
    properties = []
    for path in sorted((ROOT / "tests" / "fuzz").glob("test_*.py")):
        module = importlib.import_module(f"tests.fuzz.{path.stem}")
        short = path.stem.removeprefix("test_fuzz_")
        for name, value in vars(module).items():
            if name.startswith("test_") and hasattr(value, "hypothesis"):
                properties.append(_of_function(f"{short}: {name.removeprefix('test_')}", value))
            elif (isinstance(value, type) and issubclass(value, RuleBasedStateMachine)
                  and value.__module__ == module.__name__):
                properties.append(_of_machine(f"{short}: {name}", value))
    return properties


def _of_function(name: str, function: Any) -> Property:
    count = [0]
    inner = function.hypothesis.inner_test

    @functools.wraps(inner)
    def counted(*values: Any, **named: Any) -> Any:
        count[0] += 1
        return inner(*values, **named)

    function.hypothesis.inner_test = counted
    return Property(name, function, count)


def _of_machine(name: str, machine: type[RuleBasedStateMachine]) -> Property:
    count = [0]

    def counted() -> RuleBasedStateMachine:
        count[0] += 1
        return machine()

    # Any callable that makes a machine is welcome.
    return Property(name, lambda: run_state_machine_as_test(
        counted, settings=machine.TestCase.settings), count)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
