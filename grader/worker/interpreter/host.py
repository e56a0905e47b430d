"""What a submission's host code asks of a device that is not there."""

from __future__ import annotations

import ast
from contextlib import AbstractContextManager, nullcontext
from types import CodeType
from typing import Any

from .patching import replace

# `assert x.is_cuda`, `assert x.device == DEVICE`, `assert torch.cuda.is_available()`.
DEVICE_WORDS = {"is_cuda", "device", "is_available", "DEVICE"}


class _WithoutDeviceAssertions(ast.NodeTransformer):
    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        words = {part.attr for part in ast.walk(node.test) if isinstance(part, ast.Attribute)}
        words |= {part.id for part in ast.walk(node.test) if isinstance(part, ast.Name)}
        return ast.copy_location(ast.Pass(), node) if words & DEVICE_WORDS else node


def compile_host(source: str, file: str) -> CodeType:
    """Compiles a submission, leaving out assertions that its tensors are on a GPU: without one they never are, and an
    honest kernel must not fail for it. Lines stay as they are. Raises what `compile` raises."""
    tree = _WithoutDeviceAssertions().visit(ast.parse(source, file))
    code: CodeType = compile(tree, file, "exec", dont_inherit=True)
    return code


def _no_device(device: Any = None) -> AbstractContextManager[None]:
    return nullcontext()


def install() -> None:
    """Let `with torch.cuda.device(x.device):` and `torch.cuda.device_of(x)` pass where there is no CUDA."""
    import torch

    if not torch.cuda.is_available():
        replace(torch.cuda, "device", _no_device)
        replace(torch.cuda, "device_of", _no_device)
