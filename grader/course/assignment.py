"""An assignment: the function that students write, the cases it is checked on, and what counts as right.

Each `assignments/<name>/assignment.py` defines one `ASSIGNMENT` of this type, with names from `grader.kit.author`.
`grader.course.catalogue` finds it by scanning.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import PurePath
from typing import Any, NamedTuple, Self

from pydantic import Field, model_validator

from grader import languages
from grader.course.cases import Case, TimedCase, shape_of, strides_of
from grader.course.conditions import CONDITIONS
from grader.course.forms import SUFFIX, Form, WrittenParameter, file_of, read_form
from grader.course.parameters import (
    DType,
    Input,
    Inputs,
    Output,
    Parameter,
    Scalar,
    Update,
    check_directions,
    directions,
    given,
)
from grader.languages import FrontEnd
from grader.results.record import Table
from grader.results.structure import Condition, selected_conditions

# The dtypes that typed languages give to numbers.
_NUMBERS: Mapping[str, DType] = {"float": "float32", "int": "int32", "bool": "bool"}


class Work(Table):
    """The least work that any kernel must do.

    `bytes` are read from and written to device memory, each counted once. `flop` is the arithmetic of fp16 matrix
    products alone, since no other arithmetic has a roof here. `host_bytes` come from host memory.
    """

    bytes: float = 0
    flop: float = 0
    host_bytes: float = 0


class Baseline(Table):
    """The names in reports of two PyTorch versions of an assignment.

    `assignments/<name>/baseline.py` defines both, with the assignment's parameters: `eager(…)`, against which a
    submission's speed is graded, and `compiled(…)`, made by torch.compile, which is reported beside it. Each returns
    its answer or writes it into the output, whichever costs PyTorch less. The file runs in an executor of its own.
    """

    name: str
    compiled: str


class Mistake(Table):
    """A wrong answer that students give, and the hint for a student whose output equals it.

    `answer(**inputs)` returns the mistaken kernel's output, or None in a case where the mistake cannot be recognised.
    The output is in float64 (for whole numbers: in their dtype) and has the output's shape. If `answer` has a parameter
    of the output's name, it is given the student's answer there, and returns the nearest mistaken output: where digits
    are lost, no two kernels lose the same ones. `output` names the output if there are several; "" is the first.
    """

    name: str
    hint: str
    answer: Callable[..., Any]
    output: str = ""


class Renewal(NamedTuple):
    """A small change of the inputs that changes the right answer, for inputs that are too slow to draw again.

    `elements` is a one-dimensional view of the input `name`, and `values` are its new contents. The answer depends on
    each of these elements and on nothing else. `inputs` are other, smaller inputs with the same right answer.
    """

    name: str
    elements: Any
    values: Any
    inputs: Inputs


class Answer(Table):
    """The rules for judging one of several outputs, if they differ from the other outputs' rules: see `Assignment`."""

    tolerance: Callable[[Inputs, Any], Any] | None = None
    rows: Callable[[Inputs, Any], Inputs] | None = None
    columns: Callable[[Inputs, Any], Inputs] | None = None
    spot_check: Callable[[Sequence[Inputs], Any], Callable[[Sequence[Inputs], Sequence[Any]], Any]] | None = None


class Assignment(Table):
    """A kernel to write.

    `oracle(**inputs)` returns the right answer, in float64 (for whole numbers: in the output's dtype) and in the
    output's shape; for several outputs, a tuple in the order of their parameters. If the oracle has a parameter of an
    output's name, it is given the student's answer there, and returns the nearest right answer. For example, a dropout
    has to leave x / (1 − p) or 0, and the kernel chooses which. Such an oracle must accept any finite answer: a
    student's index may point anywhere. `statistic(inputs, answer)` then returns a sentence on what is wrong with the
    answer as a whole, or "". `answers` gives, by name, the rules for some of several outputs; everything else here
    holds for the others.
    `choices` are the values that a size may have, by the size's name: `{"head_dim": (64, 128)}`. `fits(sizes)` says
    whether sizes go together, as k and N do for the k largest of N.
    `make_inputs(case, generator)` returns a tensor or number for every input and scalar, drawn from the
    `torch.Generator` that it is given. `distributions(case)` describes the same as data (`grader.kit.inputs`), by
    parameter name; timed cases with inputs on the device need it. `tolerance(inputs, expected)` returns the absolute
    error allowed for each element (float64, broadcastable to `expected`, which is float64, too); None means that every
    bit must match.
    `right_by_nature` names trivial answers that are right in a case after all, with the reason: `{"1x1: the input":
    "one element: its transpose is itself"}`. The names are those of `grader.authoring.verify`.
    `operators` are the dispatched operators that a submission may use beyond allocation and views.
    `rows(inputs, index)` returns the inputs that give the rows `index` of the output (a slice, or a tensor of row
    numbers), so that large answers can be compared in parts; None if the whole output needs the whole inputs.
    `columns(inputs, index)` does the same for the columns of a matrix; None if rows are small enough.
    `spot_check(inputs, generator)` checks timed answers, for many calls at once, where the oracle would cost much more
    than the calls. It is called before the calls with the inputs of each, saves a few of them, and returns
    `check(inputs, outputs)`, which is called afterwards with the inputs as they are then. `check` returns for each call
    (float64) the largest error found over the error allowed, so at most 1 passes; infinity for NaN. A kernel may change
    its inputs, so everything that depends on all of them must be computed before the calls. The checked elements are
    drawn from the judge's own generator, on the device of the tensors. None if the oracle is cheap enough.
    `renew(inputs, generator)` returns what is to be written into inputs on the host before each batch of timed calls,
    if `make_inputs` takes seconds; everything else in them is zero. It writes nothing itself. The generator is NumPy's,
    since torch's on the CPU have only 2^32 sequences. Timed cases with inputs on the host need `renew`, and must have
    all inputs on the host.
    `timed` are the cases for speed; `work(case)` is the least data that a case must move and the least arithmetic.
    `suffix` is the suffix of the file that students fill in; it decides the language, unless `language` names another
    one with this suffix.
    `structure` are conditions on how kernels work, which a course may switch on: true or a limit for those of
    `grader.course.conditions`, or a `Condition` of the assignment's own, by name.
    `forms` are the forms of the function in languages that give it another name or pass it sizes, by language
    (`grader.course.forms`): `{"cuda": "gemm(A=a, B=b, C=out, M, N, K)"}`. Tensors stay in their order.
    `autograd` is the name of the torch.autograd.Function that students write in place of a function, "" for none.
    Inputs and outputs then say by `gradient_of` and `saved` which of its two directions takes and returns them.
    """

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    title: str
    formula: str
    order: int = 0
    parameters: tuple[Parameter, ...]
    oracle: Callable[..., Any]
    cases: tuple[Case, ...]
    baseline: Baseline
    make_inputs: Callable[[Case, Any], Inputs]
    distributions: Callable[[Case], Mapping[str, Any]] | None = None
    tolerance: Callable[[Inputs, Any], Any] | None = None
    mistakes: tuple[Mistake, ...] = ()
    right_by_nature: Mapping[str, str] = {}
    operators: frozenset[str] = frozenset()
    rows: Callable[[Inputs, Any], Inputs] | None = None
    columns: Callable[[Inputs, Any], Inputs] | None = None
    renew: Callable[[Inputs, Any], Renewal] | None = None
    spot_check: Callable[[Sequence[Inputs], Any], Callable[[Sequence[Inputs], Sequence[Any]], Any]] | None = None
    timed: tuple[TimedCase, ...] = ()
    work: Callable[[Case], Work] | None = None
    suffix: str = SUFFIX
    language: str = ""
    forms: Mapping[str, str] = {}
    autograd: str = Field("", pattern=r"^(?:[A-Za-z]\w*)?$")
    answers: Mapping[str, Answer] = {}
    choices: Mapping[str, tuple[int, ...]] = {}
    fits: Callable[[Mapping[str, int]], bool] | None = None
    statistic: Callable[[Inputs, Any], str] | None = None
    structure: Mapping[str, bool | int | float | Condition] = {}
    subject: str = ""

    def written(self, file: str, text: str = "") -> Self:
        """Return the assignment in the language of a file of this name and text; unchanged if no language has the
        file's suffix."""
        suffix = PurePath(file).suffix
        return self._in(languages.by_text(suffix, text)) if suffix in languages.suffixes() else self

    def _in(self, language: FrontEnd) -> Self:
        own = "" if language.claims is None else language.name
        return self.model_copy(update={"suffix": language.suffix, "language": own})

    @property
    def front_end(self) -> FrontEnd:
        return languages.front_ends()[self.language] if self.language else languages.by_suffix(self.suffix)

    def in_languages(self, counted: Sequence[str] = ()) -> list[Self]:
        """Return the assignment in each language that counts: its own first, then languages for which it has a form."""
        known = languages.front_ends()
        others = [known[name] for name in self.forms if name in known and name in (counted or known)]
        mine = [self] if self.front_end.name in (counted or known) else []
        return [*mine, *map(self._in, others)]

    @property
    def file(self) -> str:
        return file_of(self.name, self.suffix)

    @property
    def function(self) -> str:
        """Return the name of the function in the file's language."""
        form = self.form()
        return self.autograd or (self.name if form is None else form.function)

    def form(self) -> Form | None:
        """Return the function's form in the file's language; None if the function simply takes the parameters."""
        text = self.forms.get(self.front_end.name)
        return None if text is None else read_form(text)

    @property
    def takes(self) -> list[WrittenParameter]:
        """Return the function's parameters in the file's language."""
        kinds = {p.name: p for p in self.parameters}
        form = self.form()
        named = [(p.name, (p.name,)) for p in self.parameters] if form is None else form.parameters
        return [WrittenParameter(name, "size" if (own := kinds.get(of[0])) is None else own.kind, of,
                                 "int32" if own is None else
                                 _NUMBERS[own.type] if isinstance(own, Scalar) else own.dtype)
                for name, of in named]

    @property
    def outputs(self) -> list[Output | Update]:
        """Return the parameters that the function writes, in their order: the oracle answers with one value for
        each."""
        return [p for p in self.parameters if isinstance(p, Output | Update)]

    @property
    def output(self) -> Output | Update:
        """Return the output that `about` has chosen, or else the first."""
        return next(p for p in self.outputs if self.subject in ("", p.name))

    @property
    def conditions(self) -> frozenset[str]:
        """Return the outputs whose answers by the student the oracle is given."""
        return frozenset(p.name for p in self.parameters if isinstance(p, Output)).intersection(
            inspect.signature(self.oracle).parameters)

    @property
    def known_conditions(self) -> dict[str, Condition]:
        """Return all conditions that a course may ask for, by name."""
        own = {name: condition for name, condition in self.structure.items() if isinstance(condition, Condition)}
        return CONDITIONS | own

    def own_conditions(self) -> dict[str, Condition]:
        """Return the conditions of `structure`, with their limits. Raises ValueError."""
        return selected_conditions(self.structure, self.known_conditions, "structure")

    def about(self, name: str) -> Self:
        """Return the assignment for one output alone: its oracle answers that output only, and tolerance, rows,
        columns, spot check and mistakes belong to that output."""
        if self.subject == name or (not self.subject and len(self.outputs) == 1):
            return self
        assert not self.subject, f"about {name}, of an assignment that is about {self.subject}"
        names = [p.name for p in self.outputs]
        own, at = self.answers.get(name), names.index(name)

        @wraps(self.oracle)
        def oracle(**inputs: Any) -> Any:
            return self.oracle(**inputs)[at]

        return self.model_copy(update={
            "subject": name, "oracle": oracle,
            "mistakes": tuple(mistake for mistake in self.mistakes if (mistake.output or names[0]) == name),
            **({} if own is None else dict(own))})

    def views(self) -> list[Self]:
        """Return the assignment about each of its outputs; only itself if it is already about one."""
        return [self] if self.subject else [self.about(output.name) for output in self.outputs]

    @property
    def signature(self) -> str:
        """Return the signature as a student writes it: `silu(x, out)`, or that of an autograd Function, `Silu(...):
        forward(ctx, x), backward(ctx, dout)`."""
        if self.autograd:
            several = [f"{name}({', '.join(taken)})" for name, taken in directions(self.parameters).items()]
            return f"{self.autograd}(torch.autograd.Function): {', '.join(several)}"
        return self.front_end.signature(self.function, self.takes)

    @property
    def on_host(self) -> bool:
        """Return whether an input lies in host memory: the clock of a timed call then includes the host."""
        return any(isinstance(p, Input) and p.place == "host" for p in self.parameters)

    def cases_for(self, device: str) -> tuple[Case, ...]:
        """Return the cases of a grading on `device`, "cpu" or "cuda"."""
        return tuple(c for c in self.cases if c.needs == "any" or device != "cpu")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.suffix not in (known := languages.suffixes()):
            raise ValueError(f"suffix: expected one of {', '.join(known)}, got {self.suffix!a}")
        names = [p.name for p in self.parameters]
        if not self.outputs or len(set(names)) != len(names):
            raise ValueError("parameters: no Output or Update, or two of one name; give one, and each a name")
        for language, text in self.forms.items():
            self._check_form(language, read_form(text))
        if self.autograd and (self.forms or self.on_host):
            raise ValueError("autograd: goes with no forms, and with no inputs on the host; leave them out")
        check_directions(self.parameters, bool(self.autograd))
        self._check_cases()
        self._check_places()
        self._check_answers()
        self.own_conditions()
        if any(not re.fullmatch(r"aten::\w+", name) for name in self.operators):
            raise ValueError("operators: a name is not of an operator; write names such as aten::copy_")
        return self

    def _check_cases(self) -> None:
        names = [c.name for c in self.cases]
        if not names or len(set(names)) != len(names):
            raise ValueError("cases: none, or two of one name; give each a name of its own")
        if self.cases[0].hidden or any(case.hidden for case in self.timed):
            raise ValueError("cases: the first or a timed one is hidden; make them public")
        tensors = {p.name: p for p in self.parameters if not isinstance(p, Scalar)}
        needed = {size for p in tensors.values() for size in p.size_names}
        for case in (*self.cases, *(case for timed in self.timed for case in timed.siblings())):
            if missing := needed - set(case.sizes):
                raise ValueError(f"case {case.name}: sizes lack {', '.join(sorted(missing))}; name and give them")
            if any(value < 1 for value in case.sizes.values()):
                raise ValueError(f"case {case.name}: a size is 0 or less; give sizes of at least 1")
            if self.fits is not None and not self.fits(case.sizes):
                raise ValueError(f"case {case.name}: sizes do not go together; give others, or change fits")
            for size, allowed in self.choices.items():
                if (got := case.sizes.get(size)) not in allowed:
                    raise ValueError(f"case {case.name}: {size} is {got}; choose from {', '.join(map(str, allowed))}")
            if unknown := (set(case.strides) | set(case.dtypes)) - set(tensors):
                raise ValueError(f"case {case.name}: {min(unknown)} is no tensor; name one of {', '.join(tensors)}")
            if case.dtypes and self.forms:
                raise ValueError(f"case {case.name}: dtypes of its own; forms in other languages have one dtype alone")
            for tensor in tensors.values():
                try:
                    shape, strides = shape_of(tensor, case), strides_of(tensor, case)
                except KeyError as error:
                    raise ValueError(
                        f"case {case.name}: strides of {tensor.name}: {error} is no size of the case; take one of "
                        f"{', '.join(case.sizes)}") from None
                except ZeroDivisionError:
                    raise ValueError(
                        f"case {case.name}: an extent or a stride of {tensor.name} divides by 0; give other sizes, or "
                        "change the expression") from None
                if min(shape, default=1) < 1:
                    raise ValueError(f"case {case.name}: {tensor.name} has the shape {shape}; extents are at least 1: "
                                     "give larger sizes")
                check_strides(case.name, tensor.name, shape, strides)

    def _check_places(self) -> None:
        on_device = [p.name for p in self.parameters if isinstance(p, Input | Update) and p.place == "device"]
        on_host = [p.name for p in self.parameters if isinstance(p, Input) and p.place == "host"]
        if self.timed and on_device and on_host:
            raise ValueError(f"timed: {on_host[0]} is on the host, {on_device[0]} on the device; put all in one place")
        if self.renew is not None and on_device:
            raise ValueError(f"renew: {on_device[0]} is on the device; it is for inputs on the host alone")
        numbers = [p.name for p in self.parameters if isinstance(p, Scalar)]
        if self.renew is not None and numbers:
            raise ValueError(f"renew: {numbers[0]} is a number; it is for tensors alone")
        if self.timed and on_host and self.renew is None:
            raise ValueError("renew: missing; timed cases with inputs on the host need it")
        if on_host and len(self.outputs) > 1:
            raise ValueError(f"parameters: {on_host[0]} is on the host; that goes with one output alone")

    def _check_answers(self) -> None:
        outputs = [p.name for p in self.outputs]
        if unknown := {*self.answers, *(wrong.output for wrong in self.mistakes if wrong.output)} - set(outputs):
            raise ValueError(f"answers, mistakes: {min(unknown)} is no output; name one of {', '.join(outputs)}")
        names = [p.name for p in given(self.parameters)]
        functions = {"oracle": self.oracle, **{f"mistake {wrong.name!r}": wrong.answer for wrong in self.mistakes}}
        for about, function in functions.items():
            taken = inspect.signature(function)
            answered = [p.name for p in self.parameters if isinstance(p, Output) and p.name in taken.parameters]
            try:
                taken.bind(**dict.fromkeys([*names, *(answered if function is self.oracle else [])]))
            except TypeError:
                raise ValueError(f"{about}: expected the parameters ({', '.join(names)}), got {taken}") from None

    def _check_form(self, language: str, form: Form) -> None:
        tensors = [p.name for p in self.parameters if not isinstance(p, Scalar)]
        own = {p.name for p in self.parameters}
        meant = [of for _, of in form.parameters]
        if [of[0] for of in meant if of[0] in tensors] != tensors or not own <= {of[0] for of in meant}:
            raise ValueError(f"forms: {language}: expected every parameter, tensors in their order: {', '.join(own)}")
        known = own | set(self.cases[0].sizes)
        if wrong := [name for of in meant for name in of if name not in known or (len(of) > 1 and name in own)]:
            raise ValueError(f"forms: {language}: {wrong[0]} is neither a parameter nor a size")


def check_strides(case: str, name: str, shape: Sequence[int], strides: Sequence[int]) -> None:
    """Check the strides of a tensor. Raises ValueError if they do not fit the shape, or if two elements may share
    memory."""
    if len(strides) != len(shape):
        raise ValueError(f"case {case}: {name} has {len(shape)} dimensions, {len(strides)} strides; give one for each")
    reached = 0
    for stride, extent in sorted(zip(strides, shape, strict=True)):
        if extent > 1 and stride <= reached:
            raise ValueError(f"case {case}: two elements of {name} may share memory; give larger strides")
        reached += (extent - 1) * stride if extent > 1 else 0
