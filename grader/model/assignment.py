"""An assignment: the function that students write, the cases it is checked on, and what counts as right.

An `assignments/<name>/assignment.py` defines one `ASSIGNMENT` of this type, with the words of `grader.kit.author`;
`grader.model.catalogue` finds it by scanning.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from grader import frontends
from grader.model.forms import SUFFIX, Form, WrittenParameter, file_of, read_form
from grader.model.record import Table

DType = Literal["float32", "float16", "uint8"]
Inputs = Mapping[str, Any]
"""Argument name to value: a torch tensor for each `Input`, a float for each `Scalar`; never the output."""


class Input(Table):
    """A tensor the judge fills. `shape` names sizes of the case, `("M", "N")`; a number is the same in every case, as
    the channels of a picture: `(3, "H", "W")`."""

    kind: Literal["input"] = "input"
    name: str
    shape: tuple[str | int, ...]
    dtype: DType = "float32"
    place: Literal["device", "host"] = "device"

    @property
    def size_names(self) -> tuple[str, ...]:
        return tuple(size for size in self.shape if isinstance(size, str))


class Scalar(Table):
    """A Python float passed by value."""

    kind: Literal["scalar"] = "scalar"
    name: str


class Output(Table):
    """The tensor the student writes; it arrives full of NaN, or of one arbitrary byte."""

    kind: Literal["output"] = "output"
    name: str = "out"
    shape: tuple[str, ...]
    dtype: DType = "float32"

    @property
    def size_names(self) -> tuple[str, ...]:
        return self.shape


Parameter = Annotated[Input | Scalar | Output, Field(discriminator="kind")]


class Case(Table):
    """One set of sizes and one distribution of inputs.

    `name` is part of a pytest id and of result.json, so it stays short and plain: `5x9`, `1009-tiny`.
    `values` names a distribution that the assignment's `make_inputs` knows.
    `needs` is "gpu" for sizes that the simulator would take too long for.
    `visibility` is "hidden" for a case of which students learn only the kind of failure.
    """

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=60)
    sizes: dict[str, int]
    values: str = "mixed"
    needs: Literal["any", "gpu"] = "any"
    visibility: Literal["public", "hidden"] = "public"

    @property
    def hidden(self) -> bool:
        return self.visibility == "hidden"


class TimedCase(Case):
    """A case whose calls are timed on a GPU. `smaller` are sizes for devices with less memory, the largest first."""

    smaller: tuple[dict[str, int], ...] = ()

    def siblings(self) -> Iterator[Case]:
        """This case, then the smaller ones, each named after its sizes."""
        yield self
        for sizes in self.smaller:
            yield Case(name="x".join(map(str, sizes.values())), sizes=sizes, values=self.values)


class Work(Table):
    """The least work that any kernel must do.

    `bytes` are read from and written to device memory, each counted once; `flop` is arithmetic of fp16 matrix products
    alone, since no other arithmetic has a roof here; `host_bytes` come from host memory.
    """

    bytes: float = 0
    flop: float = 0
    host_bytes: float = 0


class Baseline(Table):
    """The names in reports of two PyTorch versions of the work.

    `assignments/<name>/baseline.py` defines them with the assignment's parameters: `eager(…)`, which a submission's
    speed is graded against, and `compiled(…)`, by torch.compile, which is reported beside it. Each returns its answer,
    or writes it into the output, whichever costs PyTorch less. The file runs in an executor of its own.
    """

    name: str
    compiled: str


class Mistake(Table):
    """A wrong answer that students give, and the hint for a student whose output equals it.

    `answer(**inputs)` returns the mistaken kernel's output in float64, of the output's shape, or None for a case where
    the mistake cannot be recognised.
    """

    name: str
    hint: str
    answer: Callable[..., Any]


class Renewal(NamedTuple):
    """A small change of the inputs that changes the right answer, for inputs that take too long to draw again.

    `elements` is a one-dimensional view of the input `name`, and `values` are its new contents: the answer depends on
    each of them and on nothing else. `inputs` are other, small inputs with the same right answer.
    """

    name: str
    elements: Any
    values: Any
    inputs: Inputs


class Assignment(Table):
    """A kernel to write.

    `oracle(**inputs)` returns the right answer, in float64 and of the output's shape.
    `make_inputs(case, generator)` returns a tensor or float for every input and scalar, drawn from the
    `torch.Generator` it is given. `distributions(case)` describes the same as data (`grader.kit.inputs`), by the name
    of the parameter: timed cases with inputs on the device need it. `tolerance(inputs, expected)` returns the absolute
    error allowed for each element (float64, broadcastable to `expected`, itself float64); None means that every bit
    must match.
    `right_by_nature` names trivial answers that are right in a case all the same, with the reason:
    `{"1x1: the input": "one element: its transpose is itself"}`; the names are those of `grader.author.verify`.
    `operators` are the dispatched operators that a submission may use beyond allocation and views.
    `rows(inputs, index)` returns the inputs that give the rows `index` of the output (a slice, or a tensor of their
    numbers), so that large answers can be compared in parts; None where the whole output needs the whole inputs.
    `columns(inputs, index)` does the same for the columns of a matrix; None where rows are small enough.
    `spot_check(inputs, generator)` checks timed answers whose oracle costs much more than they do, for many calls at
    once. It is called before the calls with the inputs of each. It keeps a little of them, and returns
    `check(inputs, outputs)`, which is called afterwards with the inputs as they are then. That returns for each call
    (float64) the largest error found over the error allowed, so at most 1 passes; infinity for NaN. Because a kernel
    may change its inputs, everything that depends on all of them must be computed beforehand. The elements to look at
    are drawn from the judge's own generator, on the device of the tensors. None where the oracle is cheap enough.
    `renew(inputs, generator)` returns what to write into inputs on the host before each batch of timed calls, if
    `make_inputs` takes seconds; all else in them is zero. It writes nothing itself. The generator is NumPy's, since
    torch's on the CPU have only 2^32 sequences. Timed cases with inputs on the host need it, and must have all there.
    `timed` are the cases for speed; `work(sizes)` is the least that they must move and compute.
    `suffix` is the suffix of the file that students fill in, and decides the language.
    `forms` are the forms of the function in languages that give it another name or pass it sizes, by the language
    (`grader.model.forms`): `{"cuda": "gemm(A=a, B=b, C=out, M, N, K)"}`. Tensors keep their order.
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
    work: Callable[[Mapping[str, int]], Work] | None = None
    suffix: str = SUFFIX
    forms: Mapping[str, str] = {}

    def written(self, file: str) -> Self:
        """The assignment in the language of a file of this name; as it is, if no language has the file's suffix."""
        suffix = PurePath(file).suffix
        return self.model_copy(update={"suffix": suffix}) if suffix in frontends.suffixes() else self

    def in_languages(self, counted: Sequence[str] = ()) -> list[Self]:
        """The assignment in each of its languages, its own first: those that it has a form for, and that count."""
        known = frontends.front_ends()
        others = [known[name].suffix for name in self.forms if name in known and name in (counted or known)]
        own = frontends.by_suffix(self.suffix).name
        mine = [self] if own in (counted or known) else []
        return [*mine, *(self.model_copy(update={"suffix": suffix}) for suffix in others)]

    @property
    def file(self) -> str:
        return file_of(self.name, self.suffix)

    @property
    def function(self) -> str:
        """The name of the function in the file's language."""
        form = self.form()
        return self.name if form is None else form.function

    def form(self) -> Form | None:
        """The function's form in the file's language; None if it is that of the parameters."""
        text = self.forms.get(frontends.by_suffix(self.suffix).name)
        return None if text is None else read_form(text)

    @property
    def takes(self) -> list[WrittenParameter]:
        """The function's parameters in the file's language."""
        kinds = {p.name: p for p in self.parameters}
        form = self.form()
        named = [(p.name, (p.name,)) for p in self.parameters] if form is None else form.parameters
        return [WrittenParameter(name, "size" if (own := kinds.get(of[0])) is None else own.kind, of,
                                 "float32" if own is None or isinstance(own, Scalar) else own.dtype)
                for name, of in named]

    @property
    def output(self) -> Output:
        return next(p for p in self.parameters if isinstance(p, Output))

    @property
    def signature(self) -> str:
        """The signature as a student writes it: `silu(x, out)`."""
        return frontends.by_suffix(self.suffix).signature(self.function, self.takes)

    @property
    def on_host(self) -> bool:
        """Whether an input lies in host memory: the host is then in the clock of a timed call."""
        return any(isinstance(p, Input) and p.place == "host" for p in self.parameters)

    def cases_for(self, device: str) -> tuple[Case, ...]:
        """The cases of a grading on `device`, "cpu" or "cuda"."""
        return tuple(c for c in self.cases if c.needs == "any" or device != "cpu")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.suffix not in (known := frontends.suffixes()):
            raise ValueError(f"suffix: expected one of {', '.join(known)}, got {self.suffix!a}")
        if sum(isinstance(p, Output) for p in self.parameters) != 1:
            raise ValueError("parameters: not exactly one Output; give one")
        for language, text in self.forms.items():
            self._check_form(language, read_form(text))
        names = [c.name for c in self.cases]
        if not names or len(set(names)) != len(names):
            raise ValueError("cases: none, or two of one name; give each a name of its own")
        if self.cases[0].hidden or any(case.hidden for case in self.timed):
            raise ValueError("cases: the first or a timed one is hidden; make them public")
        needed = {size for p in self.parameters if not isinstance(p, Scalar) for size in p.size_names}
        smaller = [case for timed in self.timed for case in timed.siblings()]
        for case in (*self.cases, *smaller):
            if missing := needed - set(case.sizes):
                raise ValueError(f"case {case.name}: sizes lack {', '.join(sorted(missing))}")
            if any(value < 1 for value in case.sizes.values()):
                raise ValueError(f"case {case.name}: sizes are at least 1")
        on_device = [p.name for p in self.parameters if isinstance(p, Input) and p.place == "device"]
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
        given = [p.name for p in self.parameters if not isinstance(p, Output)]
        answers = {"oracle": self.oracle, **{f"mistake {wrong.name!r}": wrong.answer for wrong in self.mistakes}}
        for about, answer in answers.items():
            try:
                inspect.signature(answer).bind(**dict.fromkeys(given))
            except TypeError:
                got = inspect.signature(answer)
                raise ValueError(f"{about}: expected the parameters ({', '.join(given)}), got {got}") from None
        if any(not re.fullmatch(r"aten::\w+", name) for name in self.operators):
            raise ValueError("operators: a name is not of an operator; write names such as aten::copy_")
        return self


    def _check_form(self, language: str, form: Form) -> None:
        tensors = [p.name for p in self.parameters if not isinstance(p, Scalar)]
        own = {p.name for p in self.parameters}
        meant = [of for _, of in form.parameters]
        if [of[0] for of in meant if of[0] in tensors] != tensors or not own <= {of[0] for of in meant}:
            raise ValueError(f"forms: {language}: expected every parameter, tensors in their order: {', '.join(own)}")
        known = own | set(self.cases[0].sizes)
        if wrong := [name for of in meant for name in of if name not in known or (len(of) > 1 and name in own)]:
            raise ValueError(f"forms: {language}: {wrong[0]} is neither a parameter nor a size")


def cases(
    sizes: str, names: str, *, gpu: str = "", visibility: Literal["public", "hidden"] = "public"
) -> tuple[Case, ...]:
    """Makes cases from names: `cases("M N", "5x9 67x127-extreme", gpu="8192x8192")` gives three, the last for a GPU
    alone. The part after a dash names the case's values. Hidden cases are in a file of their own, `hidden.toml`."""
    def case(name: str, needs: Literal["any", "gpu"]) -> Case:
        return Case(name=name, sizes=_sizes(sizes, name), values=name.partition("-")[2] or "mixed", needs=needs,
                    visibility=visibility)

    return (*(case(name, "any") for name in names.split()), *(case(name, "gpu") for name in gpu.split()))


def timed(sizes: str, *names: str) -> tuple[TimedCase, ...]:
    """Makes timed cases: each of `names` holds a case's name, then its smaller sizes for devices with less memory, the
    largest first."""
    return tuple(
        TimedCase(name=first, sizes=_sizes(sizes, first), smaller=tuple(_sizes(sizes, name) for name in smaller))
        for first, *smaller in map(str.split, names))


def _sizes(sizes: str, name: str) -> dict[str, int]:
    names, numbers = sizes.split(), name.partition("-")[0].split("x")
    if len(numbers) != len(names) or not all(number.isdecimal() for number in numbers):
        raise ValueError(f"case {name!r}: not {len(names)} sizes; name it after {'x'.join(names)}")
    return dict(zip(names, map(int, numbers), strict=True))


def shape_of(parameter: Input | Output, case: Case) -> tuple[int, ...]:
    """The shape of a tensor in a case: `(3, "M", "N")` with `{"M": 5, "N": 9}` is `(3, 5, 9)`."""
    return extents(parameter, case.sizes)


def extents(parameter: Input | Output, sizes: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(size if isinstance(size, int) else sizes[size] for size in parameter.shape)
