"""The parameters of an assignment's function: tensors, whose shapes follow from the sizes of a case, and numbers."""

from __future__ import annotations

import ast
import operator
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, Field

from grader.results.record import Table

DType = Literal["float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2",
                "int64", "int32", "int16", "int8", "uint8", "bool"]
DTYPES: tuple[DType, ...] = get_args(DType)
Value = float | int | bool
Inputs = Mapping[str, Any]
"""Values by the names of arguments: a torch tensor for each `Input` and `Update`, a number for each `Scalar`; outputs
are never among them."""

# The operations in an expression of sizes. All of them work on whole numbers.
_OPERATIONS: dict[type[ast.operator], Any] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod}


@cache
def _syntax_tree(extent: str) -> ast.expr:
    """Return the syntax tree of an expression of sizes. Raises ValueError."""
    try:
        tree = ast.parse(extent, mode="eval").body
    except SyntaxError:
        tree = None
    if tree is None or not all(
            (isinstance(node, ast.Name | ast.Load | ast.operator)
            and (not isinstance(node, ast.operator) or type(node) in _OPERATIONS))
            or isinstance(node, ast.BinOp) or (isinstance(node, ast.Constant) and type(node.value) is int)
            for node in ast.walk(tree)):
        raise ValueError(f'{extent!a}: no size; write a name, or an expression such as "M // 2" of + - * // %')
    return tree


def names_in(extent: int | str) -> tuple[str, ...]:
    """Return the sizes that an extent depends on, each once: `"M + N"` on M and N."""
    if isinstance(extent, int):
        return ()
    return tuple(dict.fromkeys(node.id for node in ast.walk(_syntax_tree(extent)) if isinstance(node, ast.Name)))


def value_of(extent: int | str, sizes: Mapping[str, int]) -> int:
    """Return the value of an extent or stride: `"M // 2"` with `{"M": 5}` is 2. Raises KeyError for an unknown size,
    and ZeroDivisionError."""
    return extent if isinstance(extent, int) else _value(_syntax_tree(extent), sizes)


def _value(node: ast.expr, sizes: Mapping[str, int]) -> int:
    if isinstance(node, ast.BinOp):
        value: int = _OPERATIONS[type(node.op)](_value(node.left, sizes), _value(node.right, sizes))
        return value
    if isinstance(node, ast.Name):
        return sizes[node.id]
    assert isinstance(node, ast.Constant) and isinstance(node.value, int)
    return node.value


def _known(shape: tuple[str | int, ...]) -> tuple[str | int, ...]:
    for extent in shape:
        names_in(extent)
    return shape


Shape = Annotated[tuple[str | int, ...], AfterValidator(_known)]
"""A shape. An extent is a size of the case, as in `("M", "N")`; a number that is the same in every case, such as the
channels of a picture: `(3, "H", "W")`; or an expression of sizes: `("M // 2", "2 * N")`."""


class Tensor(Table):
    kind: Literal["input", "output", "update"]
    name: str
    shape: Shape
    dtype: DType = "float32"
    place: Literal["device", "host"] = "device"
    gradient_of: str = ""

    @property
    def size_names(self) -> tuple[str, ...]:
        """Return the sizes that the tensor's shape depends on."""
        return tuple(dict.fromkeys(name for extent in self.shape for name in names_in(extent)))


class Input(Tensor):
    """A tensor that the judge fills and the student reads. `gradient_of` names an output of an autograd Function: the
    tensor is its gradient, which `backward` takes."""

    kind: Literal["input"] = "input"
    place: Literal["device", "host"] = "device"


class Output(Tensor):
    """A tensor that the student writes. Before, it is full of NaN, or of an arbitrary number.

    An autograd Function returns it: from `backward` if it is the gradient of an input (`gradient_of`), else from
    `forward`; or `forward` saves it for `backward` (`saved`), and no other tensor of its shape.
    """

    kind: Literal["output"] = "output"
    name: str = "out"
    place: Literal["device"] = "device"
    saved: bool = False


class Update(Tensor):
    """A tensor that the judge fills and the student changes in place, such as a cache. The oracle gets its contents
    before the call, and returns the contents that it must have afterwards."""

    kind: Literal["update"] = "update"
    place: Literal["device"] = "device"


class Scalar(Table):
    """A Python number passed by value."""

    kind: Literal["scalar"] = "scalar"
    name: str
    type: Literal["float", "int", "bool"] = "float"


Parameter = Annotated[Input | Scalar | Output | Update, Field(discriminator="kind")]


def given(parameters: Sequence[Parameter]) -> list[Input | Scalar | Update]:
    """Return the parameters that the judge fills: the parameters of an oracle."""
    return [parameter for parameter in parameters if not isinstance(parameter, Output)]


def extents(parameter: Tensor, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """Return the shape of a tensor: `(3, "M", "N // 2")` with `{"M": 5, "N": 9}` is `(3, 5, 4)`."""
    return tuple(value_of(extent, sizes) for extent in parameter.shape)


def directions(parameters: Sequence[Parameter]) -> dict[str, list[str]]:
    """Return the arguments of the directions of an autograd Function: of `backward` only if some output is a
    gradient."""
    incoming = [p.name for p in parameters if isinstance(p, Input) and p.gradient_of]
    taken = [p.name for p in parameters if isinstance(p, Input | Scalar) and p.name not in incoming]
    return {"forward": ["ctx", *taken], **({"backward": ["ctx", *incoming]} if incoming else {})}


def check_directions(parameters: Sequence[Parameter], autograd: bool) -> None:
    """Check what parameters say of the directions of an autograd Function; nothing if there is none. Raises
    ValueError."""
    tensors = [p for p in parameters if isinstance(p, Tensor)]
    outputs = [p for p in tensors if isinstance(p, Output)]
    inputs = {p.name for p in tensors if isinstance(p, Input) and not p.gradient_of}
    returned = {p.name for p in outputs if not p.gradient_of and not p.saved}
    incoming = {p.gradient_of for p in tensors if isinstance(p, Input) and p.gradient_of}
    gradients = {p.gradient_of for p in outputs if p.gradient_of}
    if not autograd:
        if incoming or gradients or any(p.saved for p in outputs):
            raise ValueError('autograd: missing; gradient_of and saved need it: name the class, autograd="Silu"')
    elif wrong := (incoming - returned) | (gradients - inputs):
        raise ValueError(f"gradient_of: {min(wrong)} is neither an input of forward nor an output that it returns")
    elif not returned or bool(incoming) != bool(gradients) or (incoming and incoming != returned) or any(
            isinstance(p, Update) for p in tensors):
        raise ValueError("autograd: give an Output that forward returns and no Update; for backward an Input for the "
                         "gradient of each such output, and an Output for the gradient of an input")
