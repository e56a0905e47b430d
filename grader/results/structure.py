"""Conditions on how a kernel works, and their outcomes."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from grader.results.launched import Inspection, LaunchFacts, WarpFacts
from grader.results.record import Record


@dataclass(frozen=True)
class CaseFacts:
    """Facts about a timed case: its launches, the bytes of its `inputs` and `outputs` on the device, by name, and the
    bytes that must be brought there from host memory. `on_host` are the inputs in host memory. `lines` are those of
    all launches. `why` says why the launches were not run to be counted, "" if they were."""

    launched: Inspection
    inputs: Mapping[str, int]
    outputs: Mapping[str, int]
    host: int = 0
    on_host: frozenset[str] = frozenset()
    lines: tuple[int, ...] = ()
    why: str = ""

    @property
    def ran(self) -> bool:
        """Return whether the facts show what every launch does: it was run, and no line of it left out."""
        return not self.why and len(self.lines) == len(self.launched.launches) and all(
            launch.warps is not None and not launch.warps.full for launch in self.launched.launches)

    @property
    def warps(self) -> list[tuple[LaunchFacts, WarpFacts]]:
        """Return the launches with what their warps do."""
        return [(launch, launch.warps) for launch in self.launched.launches if launch.warps is not None]

    def bytes_by(self, access: str, *, host: bool = False) -> dict[tuple[int, str], float]:
        """Return the bytes that each line loads or stores in a tensor, for all programs: on the device those that it
        needs, whatever sectors these lie in; from host memory whole sectors, since no cache keeps the rest."""
        by: dict[tuple[int, str], float] = {}
        for launch in self.launched.launches:
            for traffic in launch.accesses:
                stores = access == "store" and traffic.access == "atomic"
                if (traffic.access == access or stores) and (traffic.tensor in self.on_host) == host:
                    key = traffic.line, traffic.tensor
                    by[key] = by.get(key, 0) + (traffic.moved if host else traffic.needed) * launch.scale
        return by


class Measure(NamedTuple):
    """The value that a condition limits, the sentence that says it, and the line that it comes from, 0 for none.
    A run that was cut may leave a value too small, by up to the factor `slack`."""

    value: float
    said: str
    line: int = 0
    slack: float = 1


@dataclass(frozen=True)
class Condition:
    """A condition. It is met if the value of `measure` is at most `limit`, or at least `limit` with `at_least`;
    `measure` returns None if the facts do not show the value. `words` end the sentence "The kernel has to …", where
    `{limit:g}` stands for the limit, `{percent}` for a share, `{s}` for the end of a plural. A `switch` has no limit to
    set: a course says true or false. `look` says what to do about it."""

    words: str
    measure: Callable[[CaseFacts], Measure | None]
    limit: float = 0
    at_least: bool = False
    switch: bool = False
    look: str = ""

    @property
    def text(self) -> str:
        """Return the end of the sentence "The kernel has to …"."""
        return self.words.format(limit=self.limit, percent=f"{100 * self.limit:g} %", s="s" * (self.limit != 1))

    def holds(self, value: float) -> bool:
        return value >= self.limit if self.at_least else value <= self.limit


class ConditionResult(Record):
    """A condition's outcome: `met` is None where the facts do not show it. `said` is the evidence, at `line` (0 for
    none) in `case`."""

    name: str
    words: str
    met: bool | None
    required: bool = False
    case: str = ""
    said: str = ""
    line: int = 0
    look: str = ""


def decided(name: str, condition: Condition, required: bool, cases: Sequence[CaseFacts | str]) -> ConditionResult:
    """Return a condition's outcome over all timed cases, each with its facts or the reason why there are none. It is
    met if it is met in every case; the worst case is reported."""
    outcome = ConditionResult(
        name=name, words=condition.text, met=None, required=required, look=condition.look)
    outcomes: list[tuple[bool | None, float, ConditionResult]] = []
    for facts in cases:
        if isinstance(facts, str):
            return outcome.model_copy(update={"said": facts})
        measured = condition.measure(facts)
        case = facts.launched.case
        if measured is None:
            why = facts.why or "It has more accesses and branches than are counted, so the run does not show it."
            outcomes.append((None, 0, outcome.model_copy(update={"case": case, "said": why})))
            continue
        met: bool | None = condition.holds(measured.value)
        if measured.slack > 1 and met != condition.holds(measured.value * measured.slack):
            # The true value lies between these.
            met = None
        rank = measured.value if condition.at_least else -measured.value
        said = measured.said if met is not None else (
            f"Its programs take too long to be run to their ends. So far: {measured.said}")
        outcomes.append((met, rank, outcome.model_copy(update={
            "met": met, "case": case, "said": said, "line": measured.line})))
    # The worst outcome is "not met", then "not shown", then "met".
    order = {False: 0, None: 1, True: 2}
    return min(outcomes, key=lambda ranked: (order[ranked[0]], ranked[1]), default=(None, 0, outcome))[2]


@dataclass(frozen=True)
class Conditions:
    """The conditions that a course has switched on for an assignment, by name. A submission fails without those that
    are `required`; the others earn points."""

    by_name: Mapping[str, Condition] = field(default_factory=dict)
    required: frozenset[str] = frozenset()

    def decided(self, cases: Sequence[CaseFacts | str]) -> list[ConditionResult]:
        """Return the conditions' outcomes, in their order: see `decided`."""
        return [decided(name, condition, name in self.required, cases) for name, condition in self.by_name.items()]


def selected_conditions(
    names: Mapping[str, object], known: Mapping[str, Condition], where: str
) -> dict[str, Condition]:
    """Return conditions by name, with the limits that a table gives them; false leaves one out. Raises ValueError, one
    line, for a name that is not `known` and for a limit of another kind; `where` names the table."""
    conditions: dict[str, Condition] = {}
    for name, limit in names.items():
        condition = known.get(name)
        if condition is None:
            near = difflib.get_close_matches(name, known, 1)
            meant = f"{near[0]} meant?" if near else f"choose from {', '.join(known)}"
            raise ValueError(f"{where}: {name!r}: no such condition; {meant}")
        if isinstance(limit, Condition) or limit is True:
            if limit is True and not condition.switch:
                raise ValueError(f"{where}: {name}: expected a number, such as {condition.limit:g}")
            conditions[name] = condition
        elif isinstance(limit, int | float) and limit is not False:
            if condition.switch:
                raise ValueError(f"{where}: {name}: expected true or false, got {limit:g}")
            if not 0 <= limit < 1e12:
                raise ValueError(f"{where}: {name}: expected a number from 0 on, got {limit:g}")
            conditions[name] = replace(condition, limit=float(limit))
        elif limit is not False:
            raise ValueError(f"{where}: {name}: expected {'true or false' if condition.switch else 'a number'}, "
                             f"got {str(limit)[:40]!r}")
    return conditions
