"""Planner: records what a student's host code asks of CUDA, and makes a plan of these records.

Only child processes load the object and run host code. Their records are not trusted: a plan is data that the judge
checks.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from dataclasses import replace

from grader.languages.cuda.confined.built import Contents, HostLines, read_built, read_files
from grader.languages.cuda.confined.edits import edits_of
from grader.languages.cuda.confined.planner import agreement, earlier, outcomes
from grader.languages.cuda.confined.planner.assemble import PlanAssembly, RecordedCalls, kernel_of
from grader.languages.cuda.confined.planner.child import CallSession
from grader.languages.cuda.confined.planner.earlier import NeedsEarlier
from grader.languages.cuda.confined.planner.memories import LOADING, Memories
from grader.languages.cuda.confined.planner.operations import RecordReader
from grader.languages.cuda.confined.planner.outcomes import NoPlan
from grader.languages.cuda.confined.planner.recording import Recording, record
from grader.languages.cuda.confined.planner.records import HostRecord
from grader.languages.cuda.confined.planner.tokens import TOKEN_SIZES
from grader.languages.cuda.source import stub_line
from grader.plan import serving
from grader.plan.device import Device
from grader.plan.edits import EDITED_PLAN_BYTES
from grader.plan.frames import Channel
from grader.plan.messages import (
    EDITING_REQUEST,
    Failed,
    Given,
    GivenTensor,
    Listed,
    ListEdits,
    Load,
    Loaded,
    PlanCall,
    PlanEdited,
    Planned,
    PlannedEdited,
    Refused,
    Resources,
    Texts,
    kernel_key,
)
from grader.plan.plan import PLAN_BYTES, Data, Malformed, Plan, write_plan

SEEDS, WITHOUT_NUMBERS = 4, 2
"""The number of recordings of a call, each under its own seed, with inputs on the host and without. Without them host
code has no value to read, so that seeds change nothing, and a difference follows from chance."""
# Threads of host code may ask in a different order each time: recordings that differ get a second attempt.
_ATTEMPTS = 2
AT_RANDOM = "host code asks the GPU for something else each time it is called, with the same arguments"
_SECONDS = 60.0
"""The limit in seconds for a request that gives none."""


def serve(channel: Channel) -> None:
    """Answer the judge until it hangs up."""
    planner: _HostPlanner | None = None

    def answer(
        request: Load | PlanCall | ListEdits | PlanEdited, files: Sequence[int]
    ) -> Loaded | Planned | Refused | Failed | Listed | PlannedEdited:
        nonlocal planner
        if isinstance(request, ListEdits):
            edits = edits_of(serving.contents(files[0]).decode(errors="replace"), lines=request.lines)
            return Listed(seq=request.seq, bytes=os.pwrite(files[1], edits.model_dump_json().encode(), 0))
        if isinstance(request, Load):
            try:
                lines, contents = read_built(serving.contents(files[1]))
            except Malformed as error:
                return Failed(seq=request.seq, failure="unsupported", message=str(error)[:2000])
            # The request's own descriptor is closed when it is answered.
            planner = _HostPlanner(request, os.dup(files[1]), lines, contents, serving.contents(files[0]))
            return Loaded(seq=request.seq)
        if isinstance(request, PlanEdited):
            return _plan_edited(request, files)
        assert planner is not None
        return planner.plan(request, files[0])

    serving.serve(channel, EDITING_REQUEST, answer)


def _plan_edited(request: PlanEdited, files: Sequence[int]) -> PlannedEdited:
    texts, plans, built = files
    call, sizes = request.call.model_copy(update={"seconds": request.seconds}), list[int]()
    try:
        lines, contents = read_files(serving.contents(built))
    except Malformed:
        contents = {}
    for number, text in enumerate(Texts.model_validate_json(serving.contents(texts, request.bytes)).texts):
        own, size = contents.get(number), 0
        if own is not None:
            reply = _HostPlanner(request.load, built, lines, own, text.encode()).plan(
                call, plans, at=number * EDITED_PLAN_BYTES)
            size = reply.bytes if isinstance(reply, Planned) and reply.bytes <= EDITED_PLAN_BYTES else 0
        sizes.append(size)
    return PlannedEdited(seq=request.seq, plans=sizes)


class _HostPlanner:
    """Planner of one submission, or of an edited copy, in a builder's object. `library` is a descriptor of the object,
    which stays open."""

    def __init__(self, request: Load, library: int, lines: HostLines, contents: Contents, source: bytes) -> None:
        self._library, self._lines, self._contents = library, lines, contents
        self._device: Device = request.device
        # Indices of kernels whose text cannot be compiled.
        self._unplanned = {index for index, entry in enumerate(self._contents.entries) if entry.unplanned}
        # The arguments of the earlier call: memory that host code keeps shows where its sizes are not those of the
        # planned call.
        self._first = list(request.given)
        self._stub_line = stub_line(source.decode(errors="replace"), request.function)
        # Seeds follow from the kernels, so that tokens are the same whenever a file is graded.
        kernels = "".join(entry.text for entry in self._contents.entries).encode()
        hashes = [hashlib.sha256(b"%d" % index + kernels).digest()[:8] for index in range(SEEDS)]
        # The last two bits of a seed choose how the inputs' numbers look.
        self._seeds = [int.from_bytes(digest, "little") & ~3 | index % TOKEN_SIZES
                       for index, digest in enumerate(hashes)]

    def plan(self, request: PlanCall, file: int, at: int = 0) -> Planned | Refused | Failed:
        """Write a call's plan to a file, `at` bytes from its beginning."""
        if len(request.given) != len(self._contents.parameters):
            return Failed(seq=request.seq, failure="wrong_signature", message="another number of parameters")
        recordings: list[Recording] = []
        resources = self._resources(request)
        try:
            plan = self._planned(request, resources, recordings)
            written = write_plan(plan)
            if len(written) > PLAN_BYTES:
                raise outcomes.failed("too_large", f"a plan of {len(written):,} bytes; {PLAN_BYTES:,} at most")
        except NoPlan as stopped:
            return self._reply(stopped, recordings, resources, request.seq, file)
        except (Malformed, ValueError, LookupError, OverflowError, MemoryError) as error:
            # Records that host code has forged may hold anything.
            reason = str(error) if isinstance(error, Malformed) else type(error).__name__
            return Failed(
                seq=request.seq, failure="exception", message=f"host code disturbs its planning: {reason}"[:2000])
        if self._stub_line and not (plan.setup or plan.first or plan.steady):
            return Failed(seq=request.seq, failure="not_attempted", line=self._stub_line,
                          message="The function asks the GPU for nothing yet, as in the template.")
        os.pwrite(file, written, at)
        return Planned(seq=request.seq, bytes=len(written))

    def _planned(self, request: PlanCall, resources: dict[int, Resources], recordings: list[Recording]) -> Plan:
        """Return the plan of calls that follow an earlier call with other sizes. They stand alone if there is no such
        call, or if the plan needs what it was given. Raises NoPlan, Malformed."""
        begin, seconds = time.monotonic(), request.seconds or _SECONDS
        session = CallSession(self._library, self._contents, self._device, request.given, resources)
        stopped: NoPlan | None = None
        if request.given != self._first:
            after = replace(session, earlier=self._first)
            try:
                self._record(after, begin + seconds / 2, recordings)
                plan = self._assembled(after, request.copies, recordings)
                return self._dated(plan, session, request.copies, begin + seconds)
            except NeedsEarlier:
                pass
            except NoPlan as error:
                stopped = error if earlier.ended(recordings[-1]) else None
        self._record(session, begin + seconds, recordings)
        plan = self._assembled(session, request.copies, recordings)
        if stopped is not None and isinstance(stopped.reply, Failed) and stopped.reply.failure == "exception":
            raise outcomes.failed(
                "exception", f"{stopped.reply.message}, after a call with other sizes", stopped.reply.line)
        return plan

    def _dated(self, plan: Plan, session: CallSession, copies: bool, until: float) -> Plan:
        """Return a plan that follows an earlier call, with its stale lines."""
        if not any(isinstance(operation, Data) and operation.line for operation in plan.setup):
            return plan
        recordings: list[Recording] = []
        try:
            self._record(session, until, recordings)
            alone = self._assembled(session, copies, recordings)
        except NoPlan:
            return plan
        return plan.model_copy(update={"stale": earlier.stale_lines(plan.setup, alone.first)})

    def _record(self, session: CallSession, until: float, recordings: list[Recording]) -> None:
        """Record the calls under all seeds, and check that recordings agree. Raises NoPlan, Malformed."""
        difference: HostRecord | None = None
        for _ in range(_ATTEMPTS):
            recordings.clear()
            seeds = self._seeds if _on_host(session.given) else self._seeds[:WITHOUT_NUMBERS]
            for recording in record(session, seeds, until):
                recordings.append(recording)
                if (stopped := outcomes.ending(recording, self._lines)) is not None:
                    raise stopped
            if (difference := agreement.disagreement(recordings, self._contents.entries)) is None:
                return
        if difference is not None:
            line = self._lines.line(difference.frames)
            if not _on_host(session.given) or self._by_chance(session, until):
                raise outcomes.failed("exception", AT_RANDOM, line)
            raise outcomes.refused(
                "truth", "if", "what host code asks for depends on values that it reads: it may depend on sizes alone",
                line)

    def _by_chance(self, session: CallSession, until: float) -> bool:
        """Return whether recordings under one seed differ, too. Raises Malformed."""
        alike = list(record(session, self._seeds[:1] * WITHOUT_NUMBERS, until))
        return all(recording.last is not None for recording in alike) and (
            agreement.disagreement(alike, self._contents.entries) is not None)

    def _assembled(self, session: CallSession, copies: bool, recordings: Sequence[Recording]) -> Plan:
        """Return the plan assembled from the recordings. Raises NoPlan, NeedsEarlier, Malformed."""
        memories = Memories()
        reader = RecordReader(self._contents, session.given, self._lines, memories, self._seeds[: len(recordings)],
                      copies=copies)
        loading, *before, first, second = (
            reader.read([recording.phases()[index] for recording in recordings], call)
            for index, call in enumerate((LOADING, *(number for number, _ in session.calls))))
        kept = [operation for operations in before
                for operation in earlier.lasting(operations, [*first, *second], memories.all)]
        recorded = RecordedCalls(
            [*reader.initial, *loading, *kept], first, second, memories.all,
            reader.resource_queries - session.resources.keys() - self._unplanned)
        return PlanAssembly(recorded, self._contents.entries, session.given).plan()

    def _resources(self, request: PlanCall) -> dict[int, Resources]:
        """Return the known resources of kernels, by the index of their entry."""
        known = request.answers.resources
        if not known:
            return {}
        resources_of = {
            index: known.get(kernel_key(kernel_of(entry))) for index, entry in enumerate(self._contents.entries)}
        return {index: resources for index, resources in resources_of.items() if resources is not None}

    def _reply(
        self, stopped: NoPlan, recordings: Sequence[Recording], resources: dict[int, Resources], seq: int, file: int
    ) -> Refused | Failed:
        """Return why there is no plan; the file gets the kernels of whose resources host code got a guess."""
        queries = {query.numbers[0] for recording in recordings for query in recording.resource_queries()}
        queries -= resources.keys() | self._unplanned
        entries = self._contents.entries
        return serving.with_resource_queries(
            stopped.reply.model_copy(update={"seq": seq}),
            [kernel_of(entries[index]) for index in sorted(queries) if index < len(entries)], file)


def _on_host(given: Sequence[Given]) -> bool:
    return any(isinstance(parameter, GivenTensor) and parameter.place != "device" for parameter in given)
