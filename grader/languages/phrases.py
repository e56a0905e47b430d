"""A front end's phrases for the judge's findings, in the words of its language: the judge decides which to use, and
puts names and numbers into these templates.

Places in braces are filled by name. A front end gives every key of a `TypedDict` and every field of a dataclass that
has no default: mypy reports what is missing. The judge itself words what holds in every language: how many elements are
wrong, and where.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NotRequired, TypedDict

from grader.plan import compiled
from grader.plan.findings import OutOfBounds, Undefined

Failing = Literal["exception", "import_error", "compile_error", "syntax_error", "time_out", "out_of_memory"]
"""Kinds of failure whose message may come from the language's own tools."""
RAISED: frozenset[Failing] = frozenset({"exception", "import_error", "compile_error"})


@dataclass(frozen=True)
class Clue:
    """A hint for failures of these `kinds`: the pattern `message` is found in the message, and the pattern `line`
    matches at the start of the failing line. Named groups of `message` fill places in `line`; named groups of both fill
    the hint. {name} is the first group that took part, {function} and {signature} are the assignment's, {constants} are
    the compile-time constants that the line names, {all} those of the kernel that differ from 1. An empty hint means
    that the message itself says what to do."""

    hint: str
    message: str = ""
    line: str = ""
    kinds: frozenset[Failing] = RAISED


@dataclass(frozen=True)
class Failures:
    """Hints for submissions that give no answer. `clues` are tried in order before the hint for the kind of failure,
    `absent` on the exception of a skipped line. {file} and {signature} are the assignment's.

    `gave_up` has hints for kernels that the compiler gave up on, by the reason alone. `unwrap` takes away what the
    compiler prints around its objection. `no_module` returns the hint for an import of a module that is missing, from
    its name. `wrong_memory` is for a process that an access to memory ended (SIGSEGV, SIGBUS), `aborts` for SIGABRT,
    `ends` for a signal without a hint of its own, `exits` for a process that ended itself."""

    clues: tuple[Clue, ...]
    absent: tuple[Clue, ...]
    gave_up: Mapping[compiled.Reason, str]
    unwrap: Callable[[str], str]
    no_module: Callable[[str], str]
    missing_function: str
    wrong_signature: str
    not_attempted: str
    syntax_error: str
    import_error: str
    compile_error: str
    exception: str
    wrong_memory: str
    aborts: str
    ends: str
    exits: str


@dataclass(frozen=True)
class Wording:
    """The words of a refusal. `asked` continues "Line 14 "; `why` says why that cannot be, `instead` what to do.
    {operator} is what was called, as code, {out} the name of the output."""

    asked: str
    instead: str
    why: str


class Refusals(TypedDict):
    """One `Wording` for each `grader.plan.messages.Refusal`."""

    arithmetic: Wording
    reduction: Wording
    comparison: Wording
    matmul: Wording
    random: Wording
    copy: Wording
    transposed_copy: Wording
    cast: Wording
    gather: Wording
    in_place: Wording
    read_number: Wording
    read_values: Wording
    truth: Wording
    numpy: Wording
    dlpack: Wording
    resize: Wording
    set_data: Wording
    input_written: Wording
    address: Wording
    library: Wording
    option: Wording
    process: Wording
    network: Wording
    other: Wording


@dataclass(frozen=True)
class Skip:
    """The reason why a statement was skipped, and what to do `instead` if a name is missing because of that."""

    why: str
    instead: str = ""


class Skips(TypedDict):
    """One `Skip` for each reason of `grader.plan.messages.Skipped`."""

    numbers: Skip
    benchmark: Skip
    process: Skip
    network: Skip
    module: Skip
    exception: Skip
    print: Skip


@dataclass(frozen=True)
class Chance:
    """The words for undefined behaviour: `seen` says what was seen, `look` what to do. `kind` is the kind of failure;
    None makes it a remark, for behaviour that nobody promises though GPUs are known to get it right. {line} and
    {earlier} are " in line 12" or nothing; {tensor} and {kernel} are names, {program} and {other} programs, {element}
    is a number."""

    kind: Literal["undefined", "exception"] | None
    seen: str
    look: str


class Chances(TypedDict):
    """One `Chance` for each `grader.plan.findings.Undefinable` that the language's simulator can find."""

    lanes: Chance
    reorder: Chance
    hint: Chance
    pipeline: Chance
    index: Chance
    reduction: Chance
    programs: Chance
    unordered: Chance
    ticket: Chance
    descriptor: Chance
    unwaited: Chance
    visible: Chance
    barrier: Chance
    warp: Chance
    relaxed: Chance
    tuner: Chance
    spin: Chance
    assume: Chance
    fresh: Chance
    shared: NotRequired[Chance]
    divergent: NotRequired[Chance]
    unset: NotRequired[Chance]
    places: NotRequired[Chance]
    streams: NotRequired[Chance]
    pinned: NotRequired[Chance]
    approximate: NotRequired[Chance]


@dataclass(frozen=True)
class Names:
    """The language's words in the judge's sentences. `program_ids` are along x, y and z, `program_id` any of them;
    `blocks` is the number of blocks of {block} elements that hold {count}; `launch_opens` is what stands between the
    grid and the arguments of a launch. `terms` maps terms of the judge to the language's: "program", "lane", "mask",
    "block" (a part of a tensor that a program works on), "//", and phrases that the language words in another way.
    `mistakes` does the same for the hints that assignments give for known mistakes. `own_named` and `own_unnamed` are
    words for a tensor that is no parameter: {tensor} is its name in the kernel. `threads`: each lane computes its own
    addresses."""

    program_id: str
    program_ids: tuple[str, str, str]
    blocks: str
    load: str
    store: str
    atomic: str
    launch_opens: str
    terms: Mapping[str, str] = field(default_factory=dict)
    mistakes: Mapping[str, str] = field(default_factory=dict)
    own_named: str = "your buffer {tensor}"
    own_unnamed: str = "a tensor of your own"
    threads: bool = False


@dataclass(frozen=True)
class Sights:
    """Phrases for what was seen while kernels ran. {line}, {tensor} and {program} are those of `Chance`.

    `masked_remark` says that the answer depends on lanes that a mask switched off, `padded_remark` that it depends on
    lanes that a call with `bounds_checked` in it leaves out. `granule`, `far_outside` and `unmasked` are for accesses
    outside their tensor. In `unmasked`, {call} is the load or store, {sizes} is what a mask has to compare
    (`flat_sizes` if there are no rows), {other} is `unmasked_load` for a load and nothing for a store. For a file with
    `block_pointer` in it, `block_pointer_look` replaces `unmasked`. `tuned_look` is for a grid that is too small for
    {count} elements in a file that `tuned` matches. `recast` is for a pointer that is cast to elements of another size.

    The others are for languages whose threads address memory themselves: `misaligned` for an access that is not at a
    multiple of its {bytes}; `outside_shared` for an access outside an array of a program's shared memory, followed by
    `outside_shared_load` for a load; `block_library_look` in its place for a file with `block_library` in it;
    `no_shared` for shared memory without a byte; `unwritten_shared` for a load of elements there that nothing has
    written; `unwritten_between` for such elements between rows of {0} bytes that begin {1} bytes apart. `left_early`
    says that threads ended before the barrier{line}, `passed_by` the same beside a race, `not_added_yet` that a kernel
    loads {tensor} in `line`, to which its programs add in line {adds}. `same_thread` is for an index without the
    thread's number, `several` for threads that move {count} elements at once and leave out the rest, {rest},
    `copied_bytes` for copies of too few bytes, `set_in_part` for memory of which host code sets only some bytes."""

    masked_remark: str
    assertion: str
    granule: str
    far_outside: str
    unmasked: str
    unmasked_load: str
    flat_sizes: str
    unwritten: str
    no_program: str
    overflow: str
    overflow_of_bytes: str
    race: str
    unordered: str
    recast: str
    block_pointer: str = ""
    block_pointer_look: str = ""
    bounds_checked: str = ""
    padded_remark: str = ""
    tuned: str = ""
    tuned_look: str = ""
    misaligned: str = ""
    no_shared: str = ""
    outside_shared: str = ""
    outside_shared_load: str = ""
    unwritten_shared: str = ""
    unwritten_between: str = ""
    block_library: str = ""
    block_library_look: str = ""
    left_early: str = ""
    left_early_look: str = ""
    passed_by: str = ""
    not_added_yet: str = ""
    not_added_yet_look: str = ""
    same_thread: str = ""
    several: str = ""
    copied_bytes: str = ""
    set_in_part: str = ""


@dataclass(frozen=True)
class AnswerPhrases:
    """Hints for an output to which nothing was stored, and for an input that was changed. {out} is the output's name.
    """

    nothing_stored: str
    keep_inputs: str


@dataclass(frozen=True)
class Calls:
    """Phrases for what host code does, and for what a plan asks. {out} is the output's name, {given} a parameter's.

    `copy_into` stands at {copy_into} in `returned` if the assignment allows copies. `skipped_print` has {lines} and
    {texts}, which are quoted. `library` is for languages in which kernels of libraries can be launched,
    `fewer_registers` for those in which threads may take more registers than a launch of them has."""

    returned: str
    copy_into: str
    no_copy: str
    not_passed: str
    no_launch: str
    beyond_buffer: str
    host_given: str
    host_own: str
    nothing_to_copy: str
    kernel_too_long: str
    too_many_kernels: str
    no_memory: str
    assembly: str
    assembly_unsimulated: str
    skipped_print: str
    library: str = ""
    fewer_registers: str = ""


@dataclass(frozen=True)
class Slip:
    """A part of a file that its author cannot mean: what is `seen` in a line, and where to `look`. `empties`: it may
    leave elements unwritten."""

    line: int
    seen: str
    look: str
    empties: bool = False


@dataclass(frozen=True)
class Phrases:
    """All words of a language. `slips` finds parts of a file's text that explain a wrong answer by themselves. `closer`
    returns the words for a finding, more specific ones if the file's text allows. `outside` returns what the text shows
    about an access outside its tensor; unless the language has `threads`, the judge asks only about accesses that reach
    outside in a later iteration of a loop."""

    failures: Failures
    refusals: Refusals
    skips: Skips
    chances: Chances
    names: Names
    sights: Sights
    answers: AnswerPhrases
    calls: Calls
    slips: Callable[[str], Iterable[Slip]] = lambda source: ()
    closer: Callable[[Chance, Undefined, str], Chance] = lambda chance, found, source: chance
    outside: Callable[[str, OutOfBounds], Slip | None] = lambda source, found: None
