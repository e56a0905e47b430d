"""Operations of a plan from the records of a call. Buffers keep their numbers in the recording."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import get_args

from grader.languages.cuda.confined.built import BuiltEntry, Contents, HostLines
from grader.languages.cuda.confined.planner import outcomes, views
from grader.languages.cuda.confined.planner.kinds import is_structure, number
from grader.languages.cuda.confined.planner.memories import Memories, RecordedMemory
from grader.languages.cuda.confined.planner.parameters import HOST_ADDRESSES, launched, words
from grader.languages.cuda.confined.planner.records import HostRecord, Kind
from grader.languages.cuda.confined.planner.staging import (
    ComputedBytes,
    ConstantPiece,
    CutOff,
    GatheredPiece,
    PastTheEnd,
    Piece,
    TooManyPieces,
    pieces,
    size_of,
)
from grader.languages.cuda.confined.planner.tokens import WORD, TokenSource
from grader.plan.messages import Given, GivenTensor
from grader.plan.plan import (
    DATA_BYTES,
    INT64,
    ITEM_BYTES,
    MOST_OPERATIONS,
    POINTER_BYTES,
    Argument,
    Copy,
    Data,
    InnerPointer,
    Launch,
    Malformed,
    Operation,
    Pointer,
    Structure,
    memory_span,
)  # fmt: skip
from grader.plan.streams import Step, StreamOrder

_TOO_MANY = ("host code gathers more pieces than a plan holds, as they do not all lie one distance apart: is each "
             "taken from its own row? Gather at a fixed distance, or copy larger pieces")

_STEPS = get_args(Step)


class RecordReader:
    """Reader of the records of loading and of calls, which turns them into operations."""

    def __init__(
        self, contents: Contents, given: Sequence[Given], lines: HostLines, memories: Memories, seeds: Sequence[int],
        *, copies: bool,
    ) -> None:
        self._contents, self._given, self._lines = contents, given, lines
        self._memories, self._seeds, self._copies = memories, seeds, copies
        self._sources: list[TokenSource] = []
        self.call = -1
        self.resource_queries: set[int] = set()
        self._variables: dict[str, RecordedMemory] = {}
        self.initial: list[Operation] = []
        self.operations: list[Operation] = []
        self._order = StreamOrder()
        self._staging = views.Staging()

    def read(self, rows: Sequence[Sequence[HostRecord]], call: int) -> list[Operation]:
        """Return the operations of a call; `rows` are its records in each recording. Raises NoPlan, Malformed."""
        self.call, self.operations, self._order = call, [], StreamOrder()
        self._staging = views.Staging.of([row for row in rows[0] if row.kind == Kind.STAGED])
        for index, record in enumerate(rows[0]):
            line = self._lines.line(record.frames)
            if self._memories.note(record, call, line):
                if record.kind == Kind.BUFFER:
                    self._add_source(self._memories.all[-1])
                elif record.kind == Kind.FREE:
                    # A call that frees memory waits for all streams, or for one.
                    self._order.note("finish_all")
                continue
            count = len(self.operations)
            match record.kind:
                case Kind.LAUNCH:
                    self.operations.append(self._launch(record, line))
                case Kind.COPY:
                    self._copy(record, line)
                case Kind.STAGED:
                    self._staged(record, [row[index].text for row in rows], line)
                case Kind.FILL:
                    self._fill(record, line)
                case Kind.CONTENTS:
                    memory = self._memories.at(record.numbers[0])
                    self._add_contents(memory, record.numbers[1], [row[index].text for row in rows], line)
                case Kind.ORDER:
                    step, stream, event = record.numbers
                    self._order.note(_STEPS[step], stream, event)
                case Kind.ASKED:
                    self.resource_queries.add(record.numbers[0])
                case _:
                    continue
            self.operations[count:] = [self._ordered(operation, record) for operation in self.operations[count:]]
        return self.operations

    def _ordered(self, operation: Operation, record: HostRecord) -> Operation:
        # When a copy from pageable memory returns, it has read that memory.
        waits = record.kind == Kind.STAGED or (record.kind == Kind.COPY and not record.text.endswith(b"Async"))
        return self._order.order(
            operation, lambda number: self._memories.all[number].place, record.numbers[-1], asynchronous=not waits)

    def _add_source(self, memory: RecordedMemory) -> None:
        if not memory.is_given:
            return
        parameter = self._given[memory.given] if memory.given < len(self._given) else None
        if not isinstance(parameter, GivenTensor):
            raise Malformed("memory of a parameter that is none")
        if memory.place != "device" and not parameter.output:
            self._sources.append(TokenSource(memory.number, memory.given, memory.call, memory.bytes))

    def _launch(self, record: HostRecord, line: int) -> Launch:
        index, *numbers, shared, cooperative, _ = record.numbers
        entry, given = launched(record, self._contents.entries)
        if entry.unplanned:
            raise outcomes.failed("unsupported", entry.unplanned, entry.line or line)
        arguments = [self._argument(entry, type_, contents, line) for type_, contents in given]
        arguments += [Pointer(buffer=self._variable(variable.symbol, entry).number) for variable in entry.variables]
        return Launch(
            kernel=index, grid=(numbers[0], numbers[1], numbers[2]), block=(numbers[3], numbers[4], numbers[5]),
            shared=shared, cooperative=bool(cooperative), arguments=arguments, line=line)

    def _argument(self, entry: BuiltEntry, type_: str, contents: bytes, line: int) -> Argument:
        if is_structure(type_):
            return self._structure(entry, contents, line)
        for _, address in words(type_, contents):
            if (memory := self._memory_at(entry, address, line)) is not None:
                return Pointer(buffer=memory.number, offset=address - memory.base)
            if address in HOST_ADDRESSES:
                # The judge reports host memory that a kernel may not get.
                memory = self._memories.new(0, "host", self.call, line)
                return Pointer(buffer=memory.number)
        return number(type_, contents)

    def _structure(self, entry: BuiltEntry, contents: bytes, line: int) -> Argument:
        pointers, values = [], bytearray(contents)
        for at, address in words("b8", contents):
            memory = self._memory_at(entry, address, line) if address else None
            if memory is not None:
                pointers.append(InnerPointer(at=at, buffer=memory.number, offset=address - memory.base))
                values[at : at + POINTER_BYTES] = bytes(POINTER_BYTES)
        return Structure(contents=base64.b64encode(values).decode(), pointers=pointers)

    def _memory_at(self, entry: BuiltEntry, address: int, line: int) -> RecordedMemory | None:
        memory = self._memories.find(address)
        if memory is not None and memory.freed and not memory.is_given:
            raise outcomes.failed("exception", f"the launch gives {entry.name} memory that was freed before", line)
        return memory

    def _variable(self, symbol: str, entry: BuiltEntry) -> RecordedMemory:
        """Return the buffer of a module's variable; its first use adds the initial contents to `initial`."""
        if symbol not in self._variables:
            built = next(variable for variable in entry.variables if variable.symbol == symbol)
            recorded = next((memory for memory in self._memories.all if memory.variable == symbol), None)
            memory = recorded or self._memories.new(built.bytes, "device", -1, variable=symbol)
            self._variables[symbol] = memory
            contents = base64.b64decode(built.initial) if built.initial else bytes(memory.bytes)
            self.initial += self._constant(memory, 0, contents[: memory.bytes], 0)
        return self._variables[symbol]

    def _check_target(self, memory: RecordedMemory, call: str, line: int) -> None:
        """Check that a call does not write to an input. Raises NoPlan."""
        parameter = self._given[memory.given] if memory.is_given else None
        if memory.is_given and not (isinstance(parameter, GivenTensor) and parameter.output):
            name = self._contents.parameters[memory.given].name
            raise outcomes.refused("input_written", call, f"{call} writes to the input `{name}`", line)

    def _fill(self, record: HostRecord, line: int) -> None:
        address, pitch, width, height, value, _ = record.numbers
        memory = self._memories.at(address)
        self._check_target(memory, record.text.decode(errors="replace"), line)
        self.operations.append(views.fill(memory, address - memory.base, pitch, width, height, value & 255, line))

    def _copy(self, record: HostRecord, line: int) -> None:
        """Add the operations of a copy. Copies in a loop stay separate, so that they can be timed. They are merged if a
        plan has no room for all of them; no plan that is timed has that many."""
        count, *steps = record.numbers[6:9]
        target_step, source_step = (step - 2 * INT64 if step >= INT64 else step for step in steps)

        def single(number: int) -> Copy:
            return self._single(record, number * target_step, number * source_step, line)

        if count > 1 and len(self.operations) + count > MOST_OPERATIONS:
            merged = views.repeated(single(0), single(count - 1), count)
            if merged is None:
                raise outcomes.failed("too_large", f"{count:,} copies in a loop; a plan has {MOST_OPERATIONS:,} "
                                                   "operations at most: copy larger pieces", line)
            self.operations.append(merged)
        else:
            self.operations += [single(number) for number in range(count)]

    def _single(self, record: HostRecord, further: int, source_further: int, line: int) -> Copy:
        target_at, target_pitch, source_at, source_pitch, width, height, *_ = record.numbers
        target_at, source_at = target_at + further, source_at + source_further
        target, source = self._memories.at(target_at), self._memories.at(source_at)
        call = record.text.decode(errors="replace")
        self._check_target(target, call, line)
        self._check_elements(source, call, width, line)
        to = views.Rows(target, target_at - target.base, target_pitch)
        copy = views.copy(to, views.Rows(source, source_at - source.base, source_pitch), width, height, line)
        size = memory_span(copy.target.shape) * ITEM_BYTES[copy.target.dtype]
        whole = not copy.target.offset and size == target.bytes
        if not self._copies and not (whole and not source.is_given and views.is_in_order(copy.target)
                                     and views.is_in_order(copy.source)):
            raise outcomes.refused("copy", call, f"{call} does a kernel's work here: launch one that copies", line)
        return copy

    def _check_elements(self, source: RecordedMemory, call: str, width: int, line: int) -> None:
        parameter = self._given[source.given] if source.is_given else None
        if isinstance(parameter, GivenTensor) and (item := ITEM_BYTES[parameter.dtype]) and width % item:
            name = self._contents.parameters[source.given].name
            raise outcomes.failed("exception", f"{call} copies {width} byte{'s' * (width > 1)} of `{name}` and "
                                               f"ends within an element of {item} bytes", line)

    def _staged(self, record: HostRecord, texts: Sequence[bytes], line: int) -> None:
        """Add a copy from host code's own memory. Constants are written to the target; otherwise a buffer of the host
        is filled with the same contents and copied."""
        target_at, target_pitch, _, source_pitch, width, height, _ = record.numbers
        target = self._memories.at(target_at)
        self._check_target(target, "cudaMemcpy", line)
        if size_of(texts[0]) != width * height:
            raise Malformed("a copy of other bytes than it says")
        offset = target_at - target.base
        staged = self._pieces(texts, line)
        constants = [piece.contents for piece in staged if isinstance(piece, ConstantPiece)]
        if len(constants) == len(staged):
            contents = b"".join(constants)
            dense = height == 1 or target_pitch == width
            for row, begin in enumerate([0] if dense else range(0, width * height, width)):
                part = contents if dense else contents[begin : begin + width]
                self.operations += self._constant(target, offset + row * target_pitch, part, line)
            return
        stage, start = self._staging.place(self._memories, record, self.call, line)
        self._add_pieces(stage, start, staged, line)
        pitch = source_pitch if self._staging.is_shared(record) else width
        self.operations.append(views.copy(
            views.Rows(target, offset, target_pitch), views.Rows(stage, start, pitch), width, height, line))

    def _add_contents(self, memory: RecordedMemory, offset: int, texts: Sequence[bytes], line: int) -> None:
        self._add_pieces(memory, offset, self._pieces(texts, line), line)

    def _pieces(self, texts: Sequence[bytes], line: int) -> list[Piece]:
        try:
            return pieces(texts, self._sources, self._seeds)
        except ComputedBytes:
            names = " and ".join(f"`{self._contents.parameters[index].name}`"
                                 for index in sorted({source.given for source in self._sources}))
            if not names:
                raise outcomes.failed(
                    "exception", "host code copies something else to the GPU each time it is called, with the same "
                                 "arguments", line) from None
            sentence = f"host code computes with values of {names}, and copies the results: compute in a kernel"
            raise outcomes.refused("arithmetic", "cudaMemcpy", sentence, line) from None
        except PastTheEnd as error:
            name = self._contents.parameters[error.source.given].name
            raise outcomes.failed("exception", f"host code reads past the end of `{name}`, which has "
                                               f"{error.source.bytes} bytes", line) from None
        except CutOff as error:
            raise outcomes.failed("exception", f"host code copies {error.bytes} bytes, which ends within an element of "
                                               f"{WORD} bytes", line) from None
        except TooManyPieces:
            raise outcomes.failed("too_large", _TOO_MANY, line) from None

    def _add_pieces(self, memory: RecordedMemory, offset: int, staged: Sequence[Piece], line: int) -> None:
        """Add operations that write the pieces to memory."""
        for piece in staged:
            if isinstance(piece, GatheredPiece):
                source = self._memories.all[piece.source.number]
                self.operations.append(views.gather(source, piece, memory, offset + piece.at, line))
            else:
                self.operations += self._constant(memory, offset + piece.at, piece.contents, line)

    def _constant(self, memory: RecordedMemory, offset: int, contents: bytes, line: int) -> list[Operation]:
        """Return operations that write these bytes: a fill for each run of equal elements, or one `Data` if they fill a
        temporary and differ. Raises NoPlan for too many fills."""
        fills = views.fills(memory, offset, contents, line)
        whole = offset == 0 and len(contents) == memory.bytes and not memory.is_given
        if len(fills) == 1 or not whole or len(contents) > DATA_BYTES:
            if len(fills) > views.MOST_FILLS:
                raise outcomes.failed("too_large", "host code copies more constants than a plan holds: compute them in "
                                                   "a kernel", line)
            return list(fills)
        return [Data(buffer=memory.number, contents=base64.b64encode(contents).decode(), line=line)]
