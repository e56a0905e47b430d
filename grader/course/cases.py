"""The cases of an assignment: their sizes, and the distribution of their inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from pydantic import Field

from grader.course import parameters
from grader.results.record import Table


class Case(Table):
    """One set of sizes and one distribution of inputs.

    `name` is part of a pytest id and of result.json, so it stays short and plain: `5x9`, `1009-tiny`.
    `values` names a distribution that the assignment's `make_inputs` knows.
    `needs` is "gpu" for sizes on which the simulator would take too long. `visibility` is "hidden" for a case of which
    students only learn the kind of failure.
    `strides` has the strides, in elements, of tensors that are not contiguous, written as a shape is: `{"x": ("N + 3",
    1)}`. `dtypes` has the dtypes of tensors that differ from their parameter's: `{"x": "bfloat16"}`.
    """

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=60)
    sizes: dict[str, int]
    values: str = "mixed"
    needs: Literal["any", "gpu"] = "any"
    visibility: Literal["public", "hidden"] = "public"
    strides: Mapping[str, parameters.Shape] = {}
    dtypes: Mapping[str, parameters.DType] = {}

    @property
    def hidden(self) -> bool:
        return self.visibility == "hidden"


class TimedCase(Case):
    """A case whose calls are timed on a GPU. `smaller` are sizes for devices with less memory, the largest first."""

    smaller: tuple[dict[str, int], ...] = ()

    def siblings(self) -> Iterator[Case]:
        """Yield this case, then the smaller ones, each named after its sizes."""
        yield self
        for sizes in self.smaller:
            values = "" if self.values == "mixed" else f"-{self.values}"
            yield Case(name="x".join(map(str, sizes.values())) + values, sizes=sizes, values=self.values,
                       strides=self.strides, dtypes=self.dtypes)


def cases(
    sizes: str, names: str, *, gpu: str = "", visibility: Literal["public", "hidden"] = "public",
    strides: Mapping[str, parameters.Shape] | None = None, dtypes: Mapping[str, parameters.DType] | None = None,
) -> tuple[Case, ...]:
    """Make cases from names: `cases("M N", "5x9 67x127-extreme", gpu="8192x8192")` gives three, the last for a GPU
    alone. The part of a name after a dash is the case's `values`. Hidden cases are in a file of their own,
    `hidden.toml`."""
    def case(name: str, needs: Literal["any", "gpu"]) -> Case:
        return Case(name=name, sizes=_sizes(sizes, name), values=name.partition("-")[2] or "mixed", needs=needs,
                    visibility=visibility, strides=strides or {}, dtypes=dtypes or {})

    return (*(case(name, "any") for name in names.split()), *(case(name, "gpu") for name in gpu.split()))


def timed(
    sizes: str, *names: str, dtypes: Mapping[str, parameters.DType] | None = None
) -> tuple[TimedCase, ...]:
    """Make timed cases. Each of `names` holds a case's name, then its smaller sizes for devices with less memory, the
    largest first. The part of the first name after a dash is the case's `values`."""
    return tuple(
        TimedCase(name=first, sizes=_sizes(sizes, first), values=first.partition("-")[2] or "mixed",
                  dtypes=dtypes or {}, smaller=tuple(_sizes(sizes, name) for name in smaller))
        for first, *smaller in map(str.split, names))


def _sizes(sizes: str, name: str) -> dict[str, int]:
    names, numbers = sizes.split(), name.partition("-")[0].split("x")
    if len(numbers) != len(names) or not all(number.isdecimal() for number in numbers):
        raise ValueError(f"case {name!r}: not {len(names)} sizes; name it after {'x'.join(names)}")
    return dict(zip(names, map(int, numbers), strict=True))


def shape_of(parameter: parameters.Tensor, case: Case) -> tuple[int, ...]:
    """Return the shape of a tensor in a case: `(3, "M", "N")` with `{"M": 5, "N": 9}` is `(3, 5, 9)`."""
    return parameters.extents(parameter, case.sizes)


def dtype_of(parameter: parameters.Tensor, case: Case) -> parameters.DType:
    """Return the dtype of a tensor in a case."""
    return case.dtypes.get(parameter.name, parameter.dtype)


def strides_of(parameter: parameters.Tensor, case: Case) -> tuple[int, ...]:
    """Return the strides of a tensor in a case, in elements."""
    if (own := case.strides.get(parameter.name)) is not None:
        return tuple(parameters.value_of(stride, case.sizes) for stride in own)
    strides, step = [], 1
    for extent in reversed(shape_of(parameter, case)):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))
