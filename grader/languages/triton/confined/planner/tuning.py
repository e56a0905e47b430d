"""Stand-ins for functions that time kernels: the judge names an autotuner's winner, and the planner times nothing."""

from __future__ import annotations

from typing import Any

from grader.host.record import Session, SkippedError
from grader.languages.triton.confined import api
from grader.plan.plan import Tuner

# The result of each benchmark in the graded function, in milliseconds.
MILLISECONDS = 1.0


class Tuning:
    """The configuration that each autotuner takes in a case: the judge answers in the order of the autotuners' calls.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.met: list[Tuner] = []
        self._tuners: list[Any] = []
        self._failed: dict[int, set[Any]] = {}

    def reset(self) -> None:
        """Clear all autotuners before a case, so that each tunes again."""
        self.met = []
        for tuner in self._tuners:
            api.reset(tuner)
        self._tuners = []
        self._failed = {}

    def choose(self, tuner: Any, configs: list[Any]) -> dict[Any, float]:
        """Return a time for each configuration: the judge's choice is fastest, and what did not compile is slowest."""
        answers = self.session.answers
        at = next((index for index, known_tuner in enumerate(self._tuners) if known_tuner is tuner), None)
        if at is None:
            at = len(self._tuners)
            self._tuners.append(tuner)
        failed = self._failed.setdefault(id(tuner), set())
        winner = answers.winners[at] if at < len(answers.winners) else -1
        chosen = winner if 0 <= winner < len(configs) else answers.candidate % len(configs)
        while configs[chosen] in failed and len(failed) < len(set(configs)):
            chosen = (chosen + 1) % len(configs)
        met = Tuner(
            kernel=tuner.base_fn.__name__[:200], line=api.definition(api.tuned_kernel(tuner)), candidates=len(configs),
            chosen=chosen, configuration=str(configs[chosen])[:500], resets=api.resets(tuner, configs))
        self.met[at:at + 1] = [met]
        return {config: float((index - chosen) % len(configs)) for index, config in enumerate(configs)}

    def exclude(self, tuner: Any) -> bool:
        """Exclude the configuration that was just tried; return whether another one is left."""
        config = api.best(tuner)
        failed = self._failed.setdefault(id(tuner), set())
        if len(tuner.configs) < 2 or config is None or config in failed:
            return False
        failed.add(config)
        api.reset(tuner)
        return True


def install(session: Session) -> Tuning:
    """Put the stand-ins in Triton's place."""
    tuning = Tuning(session)
    prune, run = api.autotuner()
    times: dict[int, dict[Any, float]] = {}

    def prune_configs(self: Any, kwargs: Any) -> Any:
        configs = list(prune(self, kwargs))
        if api.after_trials(self):
            session.refuse("option", "post_hook of triton.autotune")
        if len(self.configs) > 1:
            times[id(self)] = tuning.choose(self, configs)
        return configs

    def bench(self: Any, *args: Any, config: Any, **meta: Any) -> list[float]:
        conflicts = meta.keys() & config.kwargs.keys()
        if conflicts:
            raise ValueError(f"Conflicting meta-parameters: {', '.join(conflicts)}."
                             " Make sure that you don't re-define auto-tuned symbols.")
        return [times[id(self)].get(config, float("inf"))] * 3

    def run_one(self: Any, *args: Any, **kwargs: Any) -> Any:
        # Timings kept on disk are of another machine.
        self.cache_results = False
        while True:
            try:
                return run(self, *args, **kwargs)
            except (api.CompileTimeAssertionFailure, api.OutOfResources):
                # On a GPU such a configuration loses against all others.
                if not tuning.exclude(self):
                    raise

    def do_bench(fn: Any, warmup: Any = 25, rep: Any = 100, grad_to_none: Any = None, quantiles: Any = None,
                 return_mode: Any = "mean", **_: Any) -> Any:
        if not session.call:
            raise SkippedError("a benchmark")
        if quantiles is not None:
            return [MILLISECONDS] * len(quantiles) if len(quantiles) > 1 else MILLISECONDS
        return [MILLISECONDS] if return_mode == "all" else MILLISECONDS

    def report(self: Any, *args: Any, **kwargs: Any) -> Any:
        raise SkippedError("a benchmark")

    api.install_autotuner(prune_configs, bench, run_one)
    api.install_benchmarks(do_bench, report)
    return tuning
