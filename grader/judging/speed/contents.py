"""Contents of tensors on a device, for many slots at once: drawn from secret keys, from which they can be drawn
again."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from grader.course.assignment import Assignment
from grader.course.cases import Case
from grader.course.parameters import Scalar
from grader.device.guards import torch_dtype
from grader.judging.answers.compare import POISON
from grader.judging.plans.planning import given_tensor
from grader.judging.running.arena import Piece
from grader.judging.running.device import working
from grader.judging.speed.checks import FlatInput
from grader.kit.inputs import Distribution, Spread, Tables, draw, partner_tables, tables
from grader.plan.plan import memory_span


@dataclass(frozen=True)
class _SlotTensor:
    """A tensor in all slots: one of `pieces` for each slot, and `starts` (int64), the indices of their first elements
    in flat `memory`."""

    distribution: Distribution
    pieces: Sequence[Piece]
    memory: Tensor
    starts: Tensor

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.pieces[0].tensor.shape)


class SlotContents:
    """The contents of tensors in all slots. `pieces` has a tensor's pieces, one for each slot, by the name of the
    parameter."""

    def __init__(
        self, assignment: Assignment, case: Case, pieces: Mapping[str, Sequence[Piece]], generator: torch.Generator
    ) -> None:
        # A module of kernels: slow to import, and of use on a GPU only.
        from grader.kit import fused

        assert assignment.distributions is not None, f"{assignment.name} is timed, and has no distributions"
        distributions = assignment.distributions(case)
        self._fused = fused
        self._sizes = case.sizes
        self._generator = generator
        # This generator is seeded anew for each tensor that no kernel draws.
        self._own = torch.Generator(generator.device)
        self._filled = {
            name: _SlotTensor(distributions[name], own, _flat(own), torch.tensor(
                [piece.offset // piece.tensor.itemsize for piece in own], device=generator.device))
            for name, own in pieces.items()}
        self._keys: dict[str, list[int]] = {}
        self._on_device: dict[str, Tensor] = {}
        self._tables: dict[str, Tables] = {}
        self._partners: dict[str, Tensor] = {}

    def flat_inputs(self, names: Sequence[str]) -> list[FlatInput]:
        """Return these tensors in all slots, as whole numbers in flat memory."""
        return [FlatInput(tensor.memory.view(POISON[tensor.memory.dtype][0]), tensor.starts,
                     memory_span(tensor.shape, tensor.pieces[0].tensor.stride()))
                for tensor in (self._filled[name] for name in names)]

    def renew(self, count: int) -> None:
        """Draw new contents for the first `count` slots."""
        shapes = {name: slot_tensor.shape for name, slot_tensor in self._filled.items()}
        distributions = {name: slot_tensor.distribution for name, slot_tensor in self._filled.items()}
        self._partners = partner_tables(distributions, shapes, count, self._generator)
        for name, tensor in self._filled.items():
            self._keys[name] = [secrets.randbits(64) - (1 << 63) for _ in range(count)]
            # Copied before any kernel begins, since a copy to the device waits for running kernels.
            self._on_device[name] = torch.tensor(self._keys[name], device=self._generator.device)
            if isinstance(tensor.distribution, Spread) and self._by_kernel(tensor):
                self._tables[name] = tables(
                    tensor.distribution, tensor.shape, count, self._partners.get(name), self._generator)
        self._write(slice(0, count))

    def rewrite(self, slot: int) -> None:
        """Write the same contents of a slot once more."""
        self._write(slice(slot, slot + 1))

    def _by_kernel(self, tensor: _SlotTensor) -> bool:
        whole = tensor.pieces[0].tensor.is_contiguous()
        return whole and self._fused.draws(tensor.distribution, tensor.shape, tensor.memory.dtype, self._sizes)

    def _write(self, slots: slice) -> None:
        for name, tensor in self._filled.items():
            keys, table = self._keys[name][slots], self._tables.get(name)
            if self._by_kernel(tensor):
                self._fused.draw_all(
                    tensor.distribution, tensor.shape, tensor.memory, tensor.starts[slots][: len(keys)],
                    self._on_device[name][slots], table and _of(table, slots), self._sizes)
                continue
            partner = self._partners.get(name)
            for number, key in enumerate(keys, slots.start):
                tensor.pieces[number].tensor.copy_(draw(
                    tensor.distribution, tensor.shape, tensor.memory.dtype, self._sizes,
                    None if partner is None else partner[number : number + 1], self._own.manual_seed(key)))


def compile_draws(assignment: Assignment, case: Case) -> None:
    """Compile the kernels that draw a case's inputs, for which the first `SlotContents` would wait."""
    # A module of kernels: slow to import, and of use on a GPU only.
    from grader.kit import fused

    assert assignment.distributions is not None, f"{assignment.name} is timed, and has no distributions"
    generator = torch.Generator("cuda").manual_seed(0)
    given = [given_tensor(p, case) for p in assignment.parameters if not isinstance(p, Scalar)]
    shapes = {tensor.name: tensor.shape for tensor in given if tensor.filled and not tensor.strides}
    distributions = {name: distribution for name, distribution in assignment.distributions(case).items()
                     if name in shapes}
    with working():
        partners = partner_tables(distributions, shapes, 1, generator)
        one = torch.zeros(1, dtype=torch.int64, device="cuda")
    for tensor in given:
        dtype, distribution = torch_dtype(tensor.dtype), distributions.get(tensor.name)
        if distribution is None or not fused.draws(distribution, tensor.shape, dtype, case.sizes):
            continue
        with working():
            memory = torch.empty(1, dtype=dtype, device="cuda")
            drawn = tables(distribution, tensor.shape, 1, partners.get(tensor.name), generator) if isinstance(
                distribution, Spread) else None
        fused.draw_all(distribution, tensor.shape, memory, one, one, drawn, case.sizes, compile_only=True)


def _flat(pieces: Sequence[Piece]) -> Tensor:
    """Return the memory of the pieces' arena as one tensor of their dtype."""
    memory, dtype = pieces[0].arena.memory, pieces[0].tensor.dtype
    return memory[: len(memory) // dtype.itemsize * dtype.itemsize].view(dtype)


def _of(drawn: Tables, slots: slice) -> Tables:
    return replace(
        drawn, scale=drawn.scale[slots], offset=drawn.offset[slots],
        partner=None if drawn.partner is None else drawn.partner[slots])
