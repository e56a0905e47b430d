"""The way from a kernel's text to PTX: Triton's own stages."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from grader.languages.cuda import text as machine
from grader.languages.triton.confined import api
from grader.languages.triton.options import options_of
from grader.languages.triton.text import descriptor
from grader.plan.compiled import DescriptorPart, Metadata, Operand, PlainArgument, ScratchAddress, TensorMap, Zeros
from grader.plan.plan import Kernel, Malformed

# Triton numbers the types of tensor maps as the device has them; the host's numbers differ in these.
_HOST_TYPES = {8: 10, 9: 8, 10: 9}


def canonical(texts: Sequence[str], capability: int) -> list[str]:
    """Return kernels' texts parsed and printed again by Triton, with each attribute in its usual place, so that a
    reader of the text and the compiler read the same. "" stands for a text that Triton does not take. A kernel in Gluon
    is PTX."""
    context = api.context_of(api.make_backend(api.target_of(capability)))
    printed = []
    for text in texts:
        if text.startswith(".version"):
            printed.append(machine.canonical(text))
            continue
        try:
            printed.append(str(_parsed(text, context)))
        except Malformed:
            printed.append("")
    return printed


def without_checks(text: str) -> str:
    """Return a canonical text without Triton's checks of assertions and overflow. Triton's first stage removes the
    operations that only these checks used."""
    return "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("tt.assert "))


class Stages:
    """A kernel on its way through Triton's stages, from a canonical text.

    The text is the front end's output, so all stages are run; `triton.compile` of a file skips the first. Raises
    Malformed for a text that Triton does not take. A stage that gives up raises RuntimeError, with its diagnostics on
    stderr.
    """

    def __init__(self, kernel: Kernel, capability: int) -> None:
        backend = api.make_backend(api.target_of(capability))
        asked = options_of(kernel)
        self.options = backend.parse_options(asked.model_dump())
        self._capability = capability
        self._module = _parsed(kernel.text if asked.debug else without_checks(kernel.text), api.context_of(backend))
        self._stages = api.stages(backend, self.options)
        self.metadata: dict[str, Any] = {"num_warps": self.options.num_warps}

    def run(self, *stages: str) -> str:
        """Run these stages, which follow those already run, and return the text after them."""
        with api.with_lines():
            for stage in stages:
                self._module = self._stages[stage](self._module, self.metadata)
        return str(self._module)

    def shared_memory(self) -> int:
        """Return the bytes of shared memory of a program. The last stage run is "ttgir", and no other may follow."""
        return api.shared_memory(self._module, self.options, self._capability)


def to_ptx(kernel: Kernel, capability: int) -> tuple[str, Metadata]:
    """Return a kernel as PTX, with line numbers of its source, and a launcher's metadata. Raises as `Stages` does."""
    stages = Stages(kernel, capability)
    ptx = stages.run("ttir", "ttgir", "llir", "ptx")
    return ptx, metadata_of({**stages.metadata, "num_ctas": stages.options.num_ctas}, kernel.signature)


def metadata_of(triton: Mapping[str, Any], signature: Sequence[str]) -> Metadata:
    """Return a launcher's metadata, from the metadata that Triton's stages leave. The operands are in the order of
    Triton's own launcher: see triton/backends/nvidia/driver.py, `make_launcher`."""
    maps = list(triton["tensordesc_meta"] or [])
    operands: list[Operand] = []
    for number, entry in enumerate(signature):
        described = descriptor(entry)
        operands += [PlainArgument(argument=number)] if described is None else _descriptor(
            number, len(described[1]), maps.pop(0) if maps else None)
    # The last is a profiler's scratch memory.
    operands += [ScratchAddress(bytes=triton["global_scratch_size"]), Zeros(bytes=8)]
    return Metadata(
        name=triton["name"], shared=triton["shared"], cluster=triton["num_ctas"], operands=operands)


def _descriptor(number: int, rank: int, compiled: Mapping[str, Any] | None) -> list[Operand]:
    """Return the operands of a descriptor: a tensor map if the kernel was `compiled` for one, parts if not. Its shape
    and strides follow in both cases."""
    def parts(of: Literal["size", "stride"], type: Literal["i32", "i64"]) -> list[Operand]:
        return [DescriptorPart(argument=number, of=of, axis=axis, type=type) for axis in range(rank)]

    follow = [*parts("size", "i32"), *parts("stride", "i64")]
    if compiled is None:
        rounds = [Zeros(bytes=1)] if api.descriptors_round() else []
        return [
            DescriptorPart(argument=number, of="address", type="u64"), *parts("size", "i64"), *parts("stride", "i64"),
            DescriptorPart(argument=number, of="nan", type="i1"), *rounds, *follow]
    element = int(compiled["elem_type"])
    # Not strict: Triton's numbers may have types of Triton's own.
    return [TensorMap.model_validate({
        "argument": number, "elem_type": _HOST_TYPES.get(element, element), "block_size": compiled["block_size"],
        **{name: compiled[name] for name in ("swizzle", "elem_size", "fp4_padded") if name in compiled}},
        strict=False), *follow]


def _parsed(text: str, context: Any) -> Any:
    with _file(text) as path:
        try:
            return api.parse(path, context)
        except RuntimeError:
            raise Malformed("a kernel whose text Triton does not take") from None


@contextmanager
def _file(text: str) -> Iterator[str]:
    """Write a file with this text for the block: in a folder of its own, or in memory if there is no folder, as in a
    fork server. Yields its path."""
    with ExitStack() as stack:
        try:
            path = Path(stack.enter_context(TemporaryDirectory())) / "kernel.ttir"
        except FileNotFoundError:
            descriptor = os.memfd_create("kernel.ttir")
            stack.callback(os.close, descriptor)
            path = Path(f"/proc/self/fd/{descriptor}")
        path.write_text(text)
        yield str(path)

