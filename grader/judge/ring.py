"""The memory of timed calls: slots of distinct inputs, and for each side, student and baseline, outputs of its own.

Each call of a batch works on a slot of its own, so that none finds in a cache what the call before has left there.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from grader.assignment import Assignment, Case, Input, Inputs, Scalar, shape_of
from grader.catalogue import right_answer
from grader.judge import wire
from grader.judge.buffers import DTYPES, Shared, share
from grader.judge.compare import Comparison, compare, poison_, same_bits, unwritten
from grader.judge.inputs import draw

# Of one output, secret places that are looked at in the moment of "done".
SAMPLES = 1024
# float64 elements of an answer that are compared at a time: comparing takes some ten times its memory.
CHUNK = 1 << 24
# Of outputs with more elements than LARGE, so many secret rows are compared.
LARGE = 1 << 21
ROWS = 256


@dataclass(frozen=True)
class Wrong:
    """What was found wrong with a slot after a batch. `comparison` is of a part of the output, from row `first` on."""

    what: str
    slot: int
    comparison: Comparison | None = None
    first: int = 0


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
        self._samples: dict[str, _Samples] = {}
        self._case_rows = shape_of(assignment.output, case)[0]
        # Of large answers, rows are looked at: which ones, and private copies of the inputs that they come from.
        large = torch.Size(shape_of(assignment.output, case)).numel() > LARGE
        on_host = any(isinstance(p, Input) and p.place == "host" for p in assignment.parameters)
        self._sampled = assignment.rows is not None and assignment.spot_check is None and large and not on_host
        self._watched: dict[int, tuple[Tensor, Inputs]] = {}
        # Seeded by nobody: torch's own starts from a number that everybody knows.
        self._generator = torch.Generator("cuda" if cuda else "cpu").manual_seed(secrets.randbits(63))
        # Where inputs are changed in place there is nothing to draw again: the answers are kept instead.
        self._expected: list[tuple[Tensor, Tensor | None]] = []
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
                self._samples[side] = _Samples([one.tensor.view(-1) for one in shared], self._generator)
        except BaseException:
            self.close()
            raise

    def use(self, count: int) -> None:
        """From now on only the first `count` slots are filled, sampled and checked."""
        self.count = count

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

    def fill(self, side: str) -> None:
        """New contents for every slot, and outputs of `side` full of poison. All of it is in place on return.

        No worker may be running: what it could change meanwhile would be taken for given.
        """
        self._drawn += 1
        renew = self._assignment.renew
        for slot in range(self.count):
            if renew is None or self._drawn == 1:
                drawn = self._draw(slot)
                for name, shared in self._inputs[slot].items():
                    shared.tensor.copy_(drawn[name])
                self._scalars[slot] = {name: value for name, value in drawn.items() if not isinstance(value, Tensor)}
                if self._sampled:
                    assert self._assignment.rows is not None
                    index = torch.randint(
                        self._case_rows, (ROWS,), generator=self._generator, device=self._generator.device)
                    self._watched[slot] = (index, self._assignment.rows(drawn, index))
            else:
                renew(self._given(slot), torch.Generator().manual_seed(self._seed(slot)))
        if renew is not None:
            self._expected = [self._answer(self._given(slot)) for slot in range(self.count)]
        # After all inputs, so that the device's cache holds the same for either side.
        for shared in self._outputs[side][: self.count]:
            poison_(shared.tensor)
        self._samples[side].choose()
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
        for slot in range(self.count):
            if not self._samples[side].still(slot):
                return Wrong("late", slot)
            wrong = self._check(slot, self._outputs[side][slot].tensor)
            if wrong is not None:
                return wrong
        return None

    def _check(self, slot: int, output: Tensor) -> Wrong | None:
        if self._expected:
            comparison = compare(output, *self._expected[slot])
            return None if comparison.passed else Wrong("values", slot, comparison)
        if self._sampled and self._sampled_rows_are_right(slot, output):
            return None
        # Drawn again: a private copy of every slot would double the memory.
        inputs = self._draw(slot)
        for name, shared in self._inputs[slot].items():
            if not same_bits(shared.tensor, inputs[name]):
                return Wrong(f"input {name}", slot)
        spot_check = self._assignment.spot_check
        if spot_check is not None and spot_check(inputs, output, self._generator) <= 1:
            return None
        # Also after a spot check that failed: what is wrong is to be told, and known for certain.
        for first, part, its_inputs in self._parts(inputs, output):
            comparison = compare(part, *self._answer(its_inputs))
            if not comparison.passed:
                return Wrong("values", slot, comparison, first)
        return None

    def _sampled_rows_are_right(self, slot: int, output: Tensor) -> bool:
        """Whether ROWS secret rows of an output are right, its inputs for them unchanged, and all of it written.

        Who leaves out a share p of all rows of n outputs gets by with probability (1 − p)^(n·ROWS): with 0.1 % of the
        rows in one of 20 where a dozen batches have one slot each, in one of 1e30 where they have thirty.
        """
        assert self._assignment.rows is not None
        index, inputs = self._watched[slot]
        now = self._assignment.rows(self._given(slot), index)
        unchanged = all(same_bits(now[name], was) for name, was in inputs.items() if isinstance(was, Tensor))
        return unchanged and not bool(unwritten(output).any()) and (
            compare(output[index], *self._answer(inputs)).passed)

    def _answer(self, inputs: Inputs) -> tuple[Tensor, Tensor | None]:
        """The right answer in float64, and the error allowed."""
        expected = right_answer(self._assignment, inputs)
        tolerance = self._assignment.tolerance
        return expected, None if tolerance is None else tolerance(inputs, expected)

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


class _Samples:
    """Of each output what stood at secret places when it was looked at. On a device the look is one launch, recorded
    beforehand as a graph: between launches the device would turn to whoever else has work, for milliseconds."""

    def __init__(self, outputs: list[Tensor], generator: torch.Generator) -> None:
        self._outputs = outputs
        self._generator = generator
        self._places = [
            torch.zeros(min(SAMPLES, flat.numel()), dtype=torch.int64, device=flat.device) for flat in outputs]
        self._taken = [flat[places] for flat, places in zip(outputs, self._places, strict=True)]
        self._graph: torch.cuda.CUDAGraph | None = None
        if generator.device.type == "cuda":
            torch.cuda.synchronize()
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph):
                self._take()

    def choose(self) -> None:
        """Other places."""
        for flat, places in zip(self._outputs, self._places, strict=True):
            places.random_(flat.numel(), generator=self._generator)

    def take(self) -> None:
        if self._graph is None:
            self._take()
        else:
            self._graph.replay()
            torch.cuda.synchronize()

    def still(self, number: int) -> bool:
        """Whether output `number` holds the same at those places as when it was looked at."""
        return same_bits(self._outputs[number][self._places[number]], self._taken[number])

    def _take(self) -> None:
        # The last come first, since a batch ends with them.
        for flat, places, taken in reversed(list(zip(self._outputs, self._places, self._taken, strict=True))):
            torch.index_select(flat, 0, places, out=taken)

