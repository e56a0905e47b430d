"""The contract of a torch.autograd.Function: `forward` and `backward` run one after the other, as PyTorch runs them,
with a context of ours between them. The tensors that they return or save become the outputs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.autograd.function import Function, FunctionCtx
from torch.utils._pytree import tree_leaves

from grader.host.handles import dtype_name, memory_of
from grader.host.record import AutogradError, session
from grader.plan.messages import Given, GivenTensor


class MissingError(AutogradError, AttributeError):
    """An error: `backward` asks for an attribute that `forward` has not set."""


class Context(FunctionCtx):
    """The context of a call. It saves tensors for `backward`, and has any other value as an attribute."""

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        vars(self).update(needs_input_grad=needs_input_grad, to_save=(), non_differentiable=())

    def save_for_backward(self, *tensors: Any) -> None:
        for number, value in enumerate(tensors, start=1):
            if not isinstance(value, torch.Tensor | None):
                raise AutogradError(
                    f"argument {number} of ctx.save_for_backward is of type {type(value).__name__}, and it saves "
                    "tensors alone; set ctx.name = value for anything else")
        vars(self)["to_save"] = tensors

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        if not self.to_save:
            raise AutogradError("no tensor is saved; call ctx.save_for_backward(…) in forward")
        return self.to_save

    def mark_non_differentiable(self, *args: Any) -> None:
        vars(self)["non_differentiable"] = args

    def __setattr__(self, name: str, value: Any) -> None:
        if any(isinstance(leaf, torch.Tensor) for leaf in tree_leaves(value)):
            raise AutogradError(
                f"ctx.{name} is set to a tensor, which PyTorch does not see there; pass it to "
                "ctx.save_for_backward(…), and read it from ctx.saved_tensors")
        vars(self)[name] = value

    def __getattr__(self, name: str) -> Any:
        raise MissingError(f"ctx.{name} is not set; set it in forward")


class Contract:
    """The roles of the parameters: those that `forward` takes (inputs and numbers), those that it returns and saves
    (outputs, and those that are `saved`), the gradients that `backward` takes (inputs that are a `gradient_of` an
    output), and the gradient of each argument of `forward`, which `backward` returns, None for one that has none."""

    def __init__(self, given: Sequence[Given]) -> None:
        self.given = given
        tensors = [parameter for parameter in given if isinstance(parameter, GivenTensor)]
        gradients = {tensor.gradient_of: tensor for tensor in tensors if tensor.gradient_of}
        self.inputs = [parameter for parameter in given
                       if not isinstance(parameter, GivenTensor) or not (parameter.output or parameter.gradient_of)]
        self.returned = [tensor for tensor in tensors if tensor.output and not (tensor.saved or tensor.gradient_of)]
        self.saved = [tensor for tensor in tensors if tensor.saved]
        self.incoming = [gradients[tensor.name] for tensor in self.returned if tensor.name in gradients]
        self.gradients = [gradients.get(parameter.name) for parameter in self.inputs]

    def check(self, name: str, candidate: Any) -> None:
        """Raise AutogradError if `candidate`, which the file names so, is no autograd Function for these parameters."""
        if not (isinstance(candidate, type) and issubclass(candidate, Function)):
            raise AutogradError(
                f"{name} is not a torch.autograd.Function; write class {name}(torch.autograd.Function)",
                _first_line(candidate))
        context = [] if _sets_up(candidate) else ["ctx"]
        wanted = {"forward": [*context, *(parameter.name for parameter in self.inputs)]}
        if self.incoming:
            wanted["backward"] = ["ctx", *(tensor.name for tensor in self.incoming)]
        for method, names in wanted.items():
            shown = f"{method}({', '.join(names)})"
            function = getattr(candidate, method)
            if function is getattr(Function, method):
                raise AutogradError(
                    f"{name} has no {method}; define {shown} in it, a @staticmethod", _first_line(candidate))
            if not isinstance(inspect.getattr_static(candidate, method), staticmethod):
                raise AutogradError(
                    f"{method} of {name} is not a staticmethod; write @staticmethod above it", _first_line(function))
            try:
                inspect.signature(function).bind(*names)
            except TypeError:
                raise AutogradError(
                    f"{method} is defined as {method}{inspect.signature(function)}; define it as {shown}",
                    _first_line(function)) from None
            except ValueError:
                continue

    def call(self, function: Any, arguments: Sequence[Any]) -> list[Any]:
        """Run both directions on `arguments`, one for each parameter. Return the arguments with the tensors that were
        returned or saved in the outputs' places. Raises AutogradError."""
        values = dict(zip((parameter.name for parameter in self.given), arguments, strict=True))
        ctx = Context(tuple(gradient is not None for gradient in self.gradients))
        results: dict[str, Any] = {}
        with torch.no_grad():
            taken = [values[parameter.name] for parameter in self.inputs]
            if _sets_up(function):
                returned = function.forward(*taken)
                function.setup_context(ctx, tuple(taken), returned)
            else:
                returned = function.forward(ctx, *taken)
            results |= self._returned(returned, function.forward)
            if self.incoming and any(tensor is result for tensor in ctx.non_differentiable
                                     for result in results.values()):
                raise AutogradError(
                    "forward marks its output as non-differentiable, so PyTorch does not call backward; leave it out "
                    "of ctx.mark_non_differentiable(…)", _last_line(function.forward))
            results |= {tensor.name: _saved_tensor(tensor, ctx, function.forward) for tensor in self.saved}
            if self.incoming:
                returned = function.backward(ctx, *(values[tensor.name] for tensor in self.incoming))
                results |= self._gradients(returned, function.backward)
        return [_output(parameter, results[parameter.name], value)
                if isinstance(parameter, GivenTensor) and parameter.output else value
                for parameter, value in zip(self.given, arguments, strict=True)]

    def _returned(self, returned: Any, forward: Any) -> dict[str, Any]:
        several = returned if isinstance(returned, tuple) else (returned,)
        if len(several) != len(self.returned):
            saved = "".join(f", and save {tensor.name} with ctx.save_for_backward(…)" for tensor in self.saved)
            raise AutogradError(f"forward returns {len(several)} values; return {_names(self.returned)}{saved}",
                                _last_line(forward))
        for tensor, value in zip(self.returned, several, strict=True):
            _check(tensor, value, f"forward returns {{}} for {tensor.name}; return", _last_line(forward))
        return {tensor.name: value for tensor, value in zip(self.returned, several, strict=True)}

    def _gradients(self, returned: Any, backward: Any) -> dict[str, Any]:
        several, line = returned if isinstance(returned, tuple) else (returned,), _last_line(backward)
        wanted = _names(self.gradients)
        # PyTorch lets further ones be None.
        if len(several) < len(self.inputs) or any(gradient is not None for gradient in several[len(self.inputs):]):
            raise AutogradError(
                f"backward returns {len(several)} {'gradient' if len(several) == 1 else 'gradients'} for the "
                f"{len(self.inputs)} arguments of forward; return {wanted}", line)
        for taken, gradient, value in zip(self.inputs, self.gradients, several, strict=False):
            if gradient is not None:
                _check(gradient, value, f"backward returns {{}} for {gradient.name}; return {wanted}, with", line)
            elif value is not None:
                raise AutogradError(
                    f"backward returns a gradient for {taken.name}, which has none; return {wanted}", line)
        return {gradient.name: value for gradient, value in zip(self.gradients, several, strict=False)
                if gradient is not None}


def _saved_tensor(tensor: GivenTensor, ctx: Context, forward: Any) -> Any:
    """Return the tensor that is saved for an output of the contract: it is recognised by its shape."""
    fitting = [value for value in ctx.to_save if value is not None and [*value.shape] == tensor.shape]
    if len(fitting) != 1:
        raise AutogradError(
            f"forward saves {len(fitting) or 'no'} {'tensors' if fitting else 'tensor'} of the shape of {tensor.name}, "
            f"{tuple(tensor.shape)}; pass {tensor.name}, and no other of this shape, to ctx.save_for_backward(…)",
            _last_line(forward))
    _check(tensor, fitting[0], f"forward saves {{}} for {tensor.name}; save", _last_line(forward))
    return fitting[0]


def _check(tensor: GivenTensor, value: Any, words: str, line: int) -> None:
    """Raise AutogradError if a value cannot be an output. `words` has a place for what is wrong with it."""
    wrong = ""
    if not isinstance(value, torch.Tensor):
        wrong = "None" if value is None else f"a value of type {type(value).__name__}"
    elif [*value.shape] != tensor.shape:
        wrong = f"a tensor of shape {tuple(value.shape)}"
    elif not value.is_contiguous():
        wrong = f"a tensor of strides {value.stride()}"
    elif not value.is_cuda:
        wrong = "a tensor in host memory"
    elif of := memory_of(value).given:
        wrong = f"{of}, or a view of it,"
    if wrong:
        raise AutogradError(
            f"{words.format(wrong)} a contiguous tensor of shape {tuple(tensor.shape)} on the GPU, allocated for it",
            line)


def _output(output: GivenTensor, tensor: Any, own: Any) -> Any:
    """Return the tensor of an output: the given one itself, where it can take the output's place, or else the output's
    `own`, to which it is copied."""
    memory = memory_of(tensor)
    if memory.given:
        raise AutogradError(f"{output.name} and {memory.given} share memory; allocate a tensor for each")
    if memory.made_in != session().call or memory.bytes != output.bytes or dtype_name(
            tensor.dtype) != output.dtype:
        return own.copy_(tensor)
    memory.given, memory.output = output.name, True
    return tensor


def _sets_up(function: Any) -> bool:
    """Return whether a Function has PyTorch's newer form, whose `forward` takes no context."""
    return function.setup_context is not Function.setup_context


def _names(parameters: Sequence[Given | None]) -> str:
    return ", ".join("None" if parameter is None else parameter.name for parameter in parameters)


def _lines(function: Callable[..., Any]) -> list[int]:
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None or code.co_filename != session().file:
        return []
    return [code.co_firstlineno, *(line for *_, line in code.co_lines() if line)]


def _first_line(function: Any) -> int:
    """Return the line where a function of the student's file begins; 0 if it is none."""
    return min(_lines(function), default=0)


def _last_line(function: Any) -> int:
    """Return the line where a function of the student's file ends, mostly by its `return`; 0 if it is none."""
    return max(_lines(function), default=0)
