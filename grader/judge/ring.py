"""The memory of timed calls: slots of distinct inputs, and for each side, student and baseline, outputs of its own.

Each call of a batch works on a slot of its own, so that none finds in a cache what the call before has left there.
"""

from __future__ import annotations

import hashlib
import math
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy
import torch
from torch import Tensor

from grader.assignment import Assignment, Case, Input, Inputs, Scalar, shape_of
from grader.catalogue import answer_and_tolerance
from grader.judge.buffers import DTYPES, HostTensor, Shared, share
from grader.judge.compare import Comparison, compare, poison_, same_bits
from grader.judge.graphs import timed
from grader.judge.inputs import draw
from grader.judge.rows import row_check
from grader.judge.samples import Samples
from grader.judge.veil import Veil
from grader.judge.withheld import Withheld
from grader.plan import wire
from grader.result import Worst

# Of one output, secret places that are looked at in the moment of "done".
SAMPLES = 1024
# Of one input whose call is spot-checked, secret places that must not have changed.
INPUT_SAMPLES = 4096
# float64 elements of an answer that are compared at a time: comparing takes some ten times its memory.
CHUNK = 1 << 24
# Of outputs with more elements secret rows are compared, where rows can be had one by one.
LARGE = 1 << 21


@dataclass(frozen=True)
class Wrong:
    """What was found wrong with a slot after a batch: "late", "values", or "input" and its name.

    Of values, how many of the `total` looked at are wrong, how many of those were never written, and the worst: no
    tensors, since the memory they would look into is given back before anybody asks.
    """

    what: str
    slot: int
    count: int = 0
    total: int = 0
    unwritten: int = 0
    worst: Worst | None = None


def _wrong_values(slot: int, comparison: Comparison, first: int = 0) -> Wrong:
    """`comparison` is of a part of the output, from row `first` on."""
    worst = comparison.worst
    worst = worst.model_copy(update={"index": [worst.index[0] + first, *worst.index[1:]]})
    return Wrong("values", slot, comparison.count, comparison.total, comparison.unwritten_count, worst)


def _spot_check(
    assignment: Assignment, case: Case
) -> Callable[[Inputs, torch.Generator], Callable[[Inputs, Tensor], Tensor]] | None:
    """How an answer is checked without being compared as a whole; None for those that are."""
    rows, *rest = shape_of(assignment.output, case)
    if assignment.spot_check is None and assignment.rows is not None and rows * math.prod(rest) > LARGE:
        return partial(row_check, assignment, rows)
    return assignment.spot_check


def slot_bytes(assignment: Assignment, case: Case, only: Collection[str] | None = None) -> int:
    """Bytes of a slot with the output of one side, or of those of its tensors that `only` names."""
    return sum(
        torch.Size(shape_of(p, case)).numel() * DTYPES[p.dtype].itemsize
        for p in assignment.parameters if not isinstance(p, Scalar) and (only is None or p.name in only))


class Ring:
    """`count` slots for a case. Raises BufferError if there is no memory."""

    def __init__(self, assignment: Assignment, case: Case, count: int, sides: Sequence[str], *, cuda: bool) -> None:
        self.count = count
        self._assignment = assignment
        self._case = case
        self._cuda = cuda
        self._key = secrets.token_bytes(32)
        self._drawn = 0
        # Numbers travel with the message that maps a slot, and stay.
        self._scalars: list[Inputs] = [{} for _ in range(count)]
        self._inputs: list[dict[str, Shared]] = []
        self._outputs: dict[str, list[Shared]] = {side: [] for side in sides}
        self._samples: dict[str, Samples] = {}
        self.on_host = assignment.renew is not None
        # For each slot the check of its answer, made with the inputs; and what stands at secret places of each input.
        self._spot_check = None if self.on_host else _spot_check(assignment, case)
        self._checks: dict[int, Callable[[Inputs, Tensor], Tensor]] = {}
        self._input_samples: dict[str, Samples] = {}
        # On the host no pass over all inputs would be short: there some of what is renewed in place is withheld.
        self._veiled = [p.name for p in assignment.parameters if isinstance(p, Input) and p.place == "device"]
        # Of how many slots the contents are those of the last drawing.
        self._filled = 0
        self._passes: dict[tuple[str, int], Callable[[], float]] = {}
        # Seeded by nobody: torch's own starts from a number that everybody knows.
        self._generator = torch.Generator("cuda" if cuda else "cpu").manual_seed(secrets.randbits(63))
        self._veil = Veil(self._generator)
        # Where inputs are changed in place there is nothing to draw again: the answers are kept instead.
        self._expected: dict[int, tuple[Tensor, Tensor | None]] = {}
        self._withheld = Withheld()
        self._timed = count
        try:
            for _ in range(count):
                inputs: dict[str, Shared] = {}
                self._inputs.append(inputs)
                for parameter in assignment.parameters:
                    if isinstance(parameter, Input):
                        on_device = cuda and parameter.place == "device"
                        inputs[parameter.name] = share(shape_of(parameter, case), parameter.dtype, cuda=on_device)
                for outputs in self._outputs.values():
                    outputs.append(share(shape_of(assignment.output, case), assignment.output.dtype, cuda=cuda))
            for side, shared in self._outputs.items():
                self._samples[side] = Samples([one.tensor for one in shared], SAMPLES, self._generator)
            for name in self._veiled:
                tensors = [inputs[name].tensor for inputs in self._inputs]
                self._input_samples[name] = Samples(tensors, INPUT_SAMPLES, self._generator)
            self._veil.cover([inputs[name].tensor for inputs in self._inputs for name in self._veiled])
        except BaseException:
            self.close()
            raise

    def use(self, timed: int, warm: int = 0) -> None:
        """From now on only the first `timed` slots are filled, sampled and checked, and `warm` after them, which have
        calls before the clock starts."""
        self.count, self._timed = timed + warm, timed

    @property
    def host_bytes(self) -> int:
        """Host memory of the slots and one side's outputs: what a worker that maps them all has been given."""
        shared = [s for inputs in self._inputs for s in inputs.values()] + next(iter(self._outputs.values()), [])
        return sum(s.tensor.nbytes for s in shared if not s.tensor.is_cuda)

    def requests(self, side: str, next_seq: Callable[[], int]) -> Iterator[tuple[wire.Map, list[int]]]:
        """What a worker is sent to have its view of every slot, once they are filled: messages, and the descriptors
        beside them."""
        for slot in range(self.count):
            descriptors: list[int] = []
            arguments: list[wire.Argument] = []
            for parameter in self._assignment.parameters:
                if isinstance(parameter, Scalar):
                    arguments.append(wire.ScalarArgument(value=self._scalars[slot][parameter.name]))
                elif isinstance(parameter, Input):
                    arguments.append(self._inputs[slot][parameter.name].argument(descriptors))
                else:
                    arguments.append(self._outputs[side][slot].argument(descriptors))
            yield wire.Map(seq=next_seq(), slot=slot, arguments=arguments), descriptors

    def fill(self) -> None:
        """New contents for every slot: on the device under a veil, for `turn` to take off, on the host all but what
        `complete` writes. They are there on return.

        No worker may be running: what it could change meanwhile would be taken for given.
        """
        self._drawn += 1
        self._filled = self.count
        self._veil.renew()
        self._withheld.forget()
        for samples in self._input_samples.values():
            samples.choose()
        for slot in range(self.count):
            if self._assignment.renew is None:
                self._make_anew(slot)
            else:
                self._renew(slot)
        self._synchronize()

    def _make_anew(self, slot: int) -> None:
        """Other inputs, and what a look at the answer to them needs."""
        drawn = self._draw(slot)
        for name in self._veiled:
            self._veil.write(self._veil_of(slot, name), drawn[name])
            self._input_samples[name].expect(slot, drawn[name])
        self._scalars[slot] = {name: value for name, value in drawn.items() if not isinstance(value, Tensor)}
        if self._spot_check is not None:
            self._checks[slot] = self._spot_check(drawn, self._generator)

    def _renew(self, slot: int) -> None:
        """New values in place, and the answer to them."""
        assert self._assignment.renew is not None
        renewal = self._assignment.renew(self._given(slot), numpy.random.default_rng(secrets.randbits(128)))
        self._expected[slot] = answer_and_tolerance(self._assignment, renewal.inputs)
        shared = self._inputs[slot][renewal.name]
        assert isinstance(shared, HostTensor)
        if slot < self._timed:
            self._withheld.write(shared, renewal)
        else:
            renewal.elements.copy_(renewal.values)

    def complete(self) -> None:
        """The last of the inputs, for the clock to start now."""
        self._withheld.complete()

    def turn(self, side: str) -> float:
        """Takes the veil off, or if it is off puts it on again, and fills the outputs of `side` with poison: one pass.

        Returns the seconds that it took, by the device's own clock on a GPU: longer than alone, if anything else
        computed there meanwhile.
        """
        key = side, self.count
        if key not in self._passes:
            self._passes[key] = self._one_pass(side, self.count)
        self._samples[side].choose()
        self._synchronize()
        return self._passes[key]()

    def _one_pass(self, side: str, count: int) -> Callable[[], float]:
        def one_pass() -> None:
            for slot in range(count):
                for name in self._veiled:
                    self._veil.turn(self._veil_of(slot, name))
            # After all inputs, so that the device's cache holds the same for either side.
            for shared in self._outputs[side][:count]:
                poison_(shared.tensor)

        return timed(one_pass, cuda=self._cuda)

    def _veil_of(self, slot: int, name: str) -> int:
        return slot * len(self._veiled) + self._veiled.index(name)

    def poison(self, side: str) -> None:
        """Outputs of `side` full of poison, as `turn` leaves them; the inputs stay."""
        for shared in self._outputs[side][: self.count]:
            poison_(shared.tensor)
        self._samples[side].choose()
        self._synchronize()

    def unchanged(self) -> bool:
        """Whether the inputs on the device are as they were filled in, as far as secret places show; False if the last
        `fill` left slots out."""
        if self.count > self._filled:
            return False
        looks = [samples.changed(self.count) for samples in self._input_samples.values()]
        return not looks or not bool(torch.cat(looks).any())

    def still_poisoned(self, side: str) -> bool:
        """Whether nothing has been written to the outputs of `side`, as far as secret places show."""
        return self._samples[side].unwritten(self.count)

    def _synchronize(self) -> None:
        if self._cuda:
            torch.cuda.synchronize()

    def _given(self, slot: int) -> Inputs:
        """The inputs as they stand in shared memory."""
        return {**{name: shared.tensor for name, shared in self._inputs[slot].items()}, **self._scalars[slot]}

    def sample(self, side: str) -> None:
        """Keeps what stands at secret places of the outputs now; `check` compares."""
        self._samples[side].take()

    def check(self, side: str) -> Wrong | None:
        """The first thing wrong with what the last batch left in the outputs of `side`, and with the inputs."""
        outputs = [shared.tensor for shared in self._outputs[side][: self.count]]
        slots: Iterable[int] = range(self.count)
        late = [False] * self.count
        if self._spot_check is not None:
            doubtful = self._doubtful(outputs)
            # The device is waited for here alone.
            late, in_doubt = torch.stack([self._samples[side].changed(self.count), doubtful]).tolist()
            slots = [slot for slot in slots if in_doubt[slot]]
            if not slots and not any(late):
                return None
        wrong = next((wrong for slot in slots if (wrong := self._check(slot, outputs[slot])) is not None), None)
        # After the answers: what is written while they are looked at is late as well.
        again = self._samples[side].changed(self.count).tolist()
        for slot in range(self.count if wrong is None else wrong.slot + 1):
            if late[slot] or again[slot]:
                return Wrong("late", slot)
        return wrong

    def _doubtful(self, outputs: list[Tensor]) -> Tensor:
        """For each output, a bool on the device: whether its spot check failed or its inputs are not as they were.

        Drawing inputs again would cost more than all else. Instead INPUT_SAMPLES secret places of each are looked at:
        who changes a share p of n inputs is found with probability 1 − (1 − p)^(n·INPUT_SAMPLES). What is too little to
        be seen so must gain nothing: that is for the spot check, which was made from the inputs that were given. The
        places are looked at last, so that what is changed while answers are checked is seen as well; what is changed
        and put back meanwhile, by work that is still on the device, does not fool what the spot check has kept.
        """
        ratios = [self._checks[slot](self._given(slot), output) for slot, output in enumerate(outputs)]
        doubtful = (torch.stack(ratios) <= 1).logical_not_()
        for samples in self._input_samples.values():
            doubtful |= samples.changed(len(outputs))
        return doubtful

    def _check(self, slot: int, output: Tensor) -> Wrong | None:
        if self._expected:
            comparison = compare(output, *self._expected[slot])
            return None if comparison.passed else _wrong_values(slot, comparison)
        # Drawn again: a private copy of every slot would double the memory. Also after a spot check that failed: what
        # is wrong is to be told, and known for certain.
        inputs = self._draw(slot)
        for name, shared in self._inputs[slot].items():
            if not same_bits(shared.tensor, inputs[name]):
                return Wrong(f"input {name}", slot)
        for first, part, its_inputs in self._parts(inputs, output):
            comparison = compare(part, *answer_and_tolerance(self._assignment, its_inputs))
            if not comparison.passed:
                return _wrong_values(slot, comparison, first)
        return None

    def _parts(self, inputs: Inputs, output: Tensor) -> Iterator[tuple[int, Tensor, Inputs]]:
        """Rows of the output, with the inputs that give them."""
        rows_of = self._assignment.rows
        if rows_of is None:
            yield 0, output, inputs
            return
        rows = output.shape[0]
        step = max(1, CHUNK * rows // output.numel())
        for first in range(0, rows, step):
            part = slice(first, min(rows, first + step))
            yield first, output[part], rows_of(inputs, part)

    def _draw(self, slot: int) -> Inputs:
        """The inputs of a slot since the last `fill`: the same each time, and not to be known beforehand."""
        drawn = draw(self._assignment, self._case, self._seed(slot), cuda=self._cuda)
        return {**drawn, **self._scalars[slot]}

    def _seed(self, slot: int) -> int:
        text = f"{self._drawn}/{slot}".encode()
        return int.from_bytes(hashlib.blake2b(text, key=self._key, digest_size=8).digest(), "big") >> 1

    def close(self) -> None:
        """Gives the memory back; no worker may have it open any more."""
        for inputs in self._inputs:
            for shared in inputs.values():
                shared.close()
        for outputs in self._outputs.values():
            for shared in outputs:
                shared.close()
        self._inputs.clear()
        self._outputs.clear()
        self._samples.clear()
        self._input_samples.clear()
        self._checks.clear()
        self._passes.clear()
        self._withheld.forget()
        self._veil.cover([])
