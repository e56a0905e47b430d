"""Trivial answers that do not solve an assignment, and must fail: zeros, the input, an earlier answer, fewer digits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from grader.authoring.subject import EARLIER, SEEDS, CaseData, Subject
from grader.course.assignment import Assignment
from grader.course.cases import dtype_of, strides_of
from grader.course.parameters import DType, Input, Inputs, Scalar, Update
from grader.judging.running.buffers import DTYPES
from grader.plan.plan import memory_span

# Fewer digits must exceed the allowed error by this factor, so that no draw makes them pass by chance.
FEWER_DIGITS_RATIO = 3.0


@dataclass(frozen=True)
class Aim:
    """A case with two draws of its inputs, `drawn` and `earlier`, for the output that `view` is about."""

    subject: Subject
    view: Assignment
    drawn: CaseData
    earlier: CaseData

    @property
    def right(self) -> Tensor:
        return self.drawn.right[self.view.output.name]

    @property
    def dtype(self) -> DType:
        return dtype_of(self.view.output, self.drawn.case)


@dataclass(frozen=True)
class Null:
    """A trivial answer. `answer` returns it, or None in a case that has none. It passes if its worst error is at most
    `least` times the allowed error. It must fail in every case; or, if `somewhere` says how to draw a case in which it
    fails, in at least one."""

    answer: Callable[[Aim], Tensor | None]
    least: float = 1.0
    somewhere: str = ""


def wrong_answers(subject: Subject) -> Iterator[str]:
    """Check that trivial answers fail, except where they are right by nature."""
    by_nature, known, used = subject.assignment.right_by_nature, dict[str, None](), set[str]()
    passing: dict[str, tuple[bool, str]] = {}
    for case in subject.cases:
        draws, earlier = [subject.draw(case, seed) for seed in SEEDS], subject.draw(case, EARLIER)
        for of_output, view in subject.views():
            aims, unsaid = [Aim(subject, view, draw, earlier) for draw in draws], list[str]()
            all_of_it = f"{case.name}: {view.output.name}"
            for name, null in nulls(subject, view).items():
                known[name] = None
                about = f"{case.name}: {of_output}{name}"
                passed = {subject.ratio(view, aim.drawn, answer) <= null.least
                          for aim in aims if (answer := null.answer(aim)) is not None}
                if null.somewhere:
                    if passed:
                        before, _ = passing.get(of_output + name, (True, ""))
                        passing[of_output + name] = before and True in passed, null.somewhere
                    continue
                used |= {about} if passed else set()
                used |= {all_of_it} if True in passed else set()
                why = by_nature.get(about)
                if True in passed and why is None and all_of_it not in by_nature:
                    unsaid.append(name)
                elif passed == {False} and why is not None:
                    yield f"{about} fails, but right_by_nature says that it passes ({why})"
            if unsaid:
                # If several answers pass, right_by_nature may name the output once for all of them.
                key = all_of_it if len(unsaid) > 1 else f"{case.name}: {of_output}{unsaid[0]}"
                yield (f"{case.name}: {of_output}{', '.join(unsaid)} would pass; change the sizes or the inputs, or "
                       f'say why {"they are" if len(unsaid) > 1 else "it is"} right: right_by_nature={{"{key}": "…"}}')
    for about, (passes, remedy) in passing.items():
        used |= {about} if passes else set()
        if passes and about not in by_nature:
            yield (f"{about} would pass in every case; {remedy}, or say why it is right: "
                   f'right_by_nature={{"{about}": "…"}}')
    for unknown in by_nature.keys() - used:
        yield f"right_by_nature: {unknown!r} is no case with a wrong answer; the answers are {', '.join(known)}"


def nulls(subject: Subject, view: Assignment) -> Mapping[str, Null]:
    """Return the trivial answers for the output that `view` is about, by name."""
    others = [output.name for output in subject.outputs if output.name != view.output.name]
    strided = [p.name for p in view.parameters if isinstance(p, Input | Update)
               and any(p.name in case.strides for case in subject.cases)]
    return {
        **NULLS,
        **({"as it was": Null(lambda aim: aim.drawn.inputs[view.output.name])} if isinstance(view.output, Update)
           else {}),
        **{f"the answer of {name}": Null(_of_another(name)) for name in others},
        **{f"{name} as if contiguous": Null(_as_if_contiguous(name)) for name in strided},
    }


def _of_another(name: str) -> Callable[[Aim], Tensor | None]:
    def answer(aim: Aim) -> Tensor | None:
        another = aim.drawn.right[name]
        return another if another.shape == aim.right.shape else None

    return answer


def _as_if_contiguous(name: str) -> Callable[[Aim], Tensor | None]:
    """Return the answer of a kernel that ignores an input's strides. The answer is None if the kernel would read
    between the elements, where no element lies."""
    def answer(aim: Aim) -> Tensor | None:
        case, x = aim.drawn.case, aim.drawn.inputs[name]
        if name not in case.strides:
            return None
        parameter = next(p for p in aim.view.parameters if p.name == name)
        assert not isinstance(parameter, Scalar)
        strides = strides_of(parameter, case)
        places = torch.zeros(memory_span(x.shape, strides), dtype=torch.int64)
        places.as_strided(x.shape, strides).copy_(torch.arange(1, x.numel() + 1).view(x.shape))
        first = places[: x.numel()]
        if bool((first == 0).any()):
            return None
        return _answered(aim, {**aim.drawn.inputs, name: x.reshape(-1)[first - 1].view(x.shape)})

    return answer


def _answered(aim: Aim, inputs: Inputs) -> Tensor:
    """Return the oracle's answer to other inputs, for the output that `aim` is about."""
    sample = aim.subject.baseline(aim.drawn.case, inputs) if aim.view.conditions else {}
    return aim.subject.right(inputs, sample)[aim.view.output.name]


def _the_input(aim: Aim) -> Tensor:
    """Return the first input's elements in memory order, repeated or cut to fill the output."""
    flat, count = _first(aim.drawn.inputs).reshape(-1), aim.right.numel()
    return flat.repeat(-(-count // flat.numel()))[:count].view(aim.right.shape)


def _first(inputs: Inputs) -> Tensor:
    return next(value for value in inputs.values() if isinstance(value, Tensor))


def _fewer_digits(narrow: torch.dtype, *dtypes: DType) -> Callable[[Aim], Tensor | None]:
    """Return the most accurate answer in a narrower type, for outputs of these dtypes: inputs and answer are rounded,
    but no step between them."""
    def answer(aim: Aim) -> Tensor | None:
        if aim.dtype not in dtypes:
            return None
        wide = DTYPES[aim.dtype].is_floating_point
        narrowed = _answered(aim, {name: _rounded(value, narrow) for name, value in aim.drawn.inputs.items()})
        return narrowed.to(narrow) if wide else narrowed

    return answer


def _half_precision(aim: Aim) -> Tensor | None:
    """Return the answer in float16, or in bfloat16 where numbers lie beyond float16."""
    answer = _fewer_digits(torch.float16, "float32")(aim)
    beyond = answer is not None and not bool(answer.isfinite().all())
    return _fewer_digits(torch.bfloat16, "float32")(aim) if beyond else answer


def _rounded(value: object, narrow: torch.dtype) -> object:
    wider = isinstance(value, Tensor) and value.is_floating_point() and value.dtype.itemsize > narrow.itemsize
    return value.to(narrow).to(value.dtype) if isinstance(value, Tensor) and wider else value


def _places_of_fewer_digits(aim: Aim) -> Tensor | None:
    """Return the whole numbers that follow from inputs in half precision, where they have to be exact."""
    floats = any(isinstance(value, Tensor) and value.dtype in (torch.float32, torch.float64)
                 for value in aim.drawn.inputs.values())
    return _fewer_digits(torch.float16, *_WHOLE)(aim) if floats and aim.view.tolerance is None else None


def _two_more(aim: Aim) -> Tensor | None:
    """Return whole numbers that are wrong by 2, where they need not be exact."""
    if aim.view.tolerance is None or aim.dtype not in _WHOLE or aim.dtype == "bool":
        return None
    right = aim.right.to(torch.int64)
    return torch.where(right > torch.iinfo(DTYPES[aim.dtype]).max - 2, right - 2, right + 2)


_WHOLE: tuple[DType, ...] = ("int64", "int32", "int16", "int8", "uint8", "bool")
NULLS: Mapping[str, Null] = {
    "zeros": Null(lambda aim: torch.zeros_like(aim.right)),
    "ones": Null(lambda aim: torch.ones_like(aim.right)),
    "the input": Null(_the_input),
    "the mean": Null(lambda aim: _first(aim.drawn.inputs).double().mean().expand(aim.right.shape)),
    "an earlier answer": Null(lambda aim: aim.earlier.right[aim.view.output.name]),
    "single precision": Null(_fewer_digits(torch.float32, "float64"), FEWER_DIGITS_RATIO),
    "half precision": Null(_half_precision, FEWER_DIGITS_RATIO),
    "8-bit floats": Null(_fewer_digits(torch.float8_e4m3fn, "float16", "bfloat16"), FEWER_DIGITS_RATIO),
    "inputs in half precision": Null(
        _places_of_fewer_digits, somewhere="draw a case's floats as Whole(4060, 4100), which half precision rounds"),
    "numbers of 8 bits": Null(
        lambda aim: aim.right.to(torch.int8) if aim.dtype in ("int64", "int32", "int16") else None,
        somewhere="add a case whose answers lie beyond 127"),
    "two more": Null(_two_more),
}
