"""Words for undefined behaviour: Triton or a GPU does not define the result, though it may come out right.

Kinds that are failures were seen to go wrong on an H200; the others came out right there.
"""

from __future__ import annotations

from grader.languages.phrases import Chance, Chances

CHANCES: Chances = {
    "lanes": Chance(
        "undefined",
        "Several lanes of one store{line} have different values for element {element:,} of {tensor}, in program "
        "{program}: which of them stays is left to chance, and the answer depends on it.",
        "Give each element one lane, by its offset or by the mask; what lanes have in common takes tl.sum or tl.max "
        "first."),
    "reorder": Chance(
        "undefined",
        "The reshape or concatenation{line} may give its elements in any order (can_reorder=True), and the answer "
        "depends on their order.",
        "Leave can_reorder out of tl.reshape, and take tl.join with tl.permute and tl.reshape in place of tl.cat, "
        "where it matters which element lies where."),
    "hint": Chance(
        "undefined",
        "The promise of tl.multiple_of, tl.max_contiguous or tl.max_constancy{line} does not hold, and loads or stores "
        "rely on it: a GPU moves whole groups of elements where it is told that they lie together.",
        "Promise only what holds for every size, 1 and primes among them, or leave the hint out: Triton finds most of "
        "them itself."),
    "pipeline": Chance(
        "undefined",
        "The load{line} reads what this loop stores to {tensor} in an earlier round, and a pipelined loop makes its "
        "loads rounds ahead: on a GPU it finds the old values.",
        "Keep the value in a variable from round to round, or take num_stages=1 for this loop."),
    "index": Chance(
        "undefined",
        "An index of the tl.gather{line} lies outside its source, and the answer depends on what is found there.",
        "Keep indices at 0 or more and below the size of the axis: choose with tl.where what takes the place of the "
        "others, after tl.minimum and tl.maximum."),
    "reduction": Chance(
        "undefined",
        "The answer depends on the order in which the reduction or scan{line} takes its elements, and Triton promises "
        "none.",
        "The function must give the same however its elements are grouped, and for a reduction whichever comes first: "
        "to pick one element take tl.sum of tl.where(lane == wanted, x, 0)."),
    "programs": Chance(
        "undefined",
        "Programs {program} and {other} of one launch both use element {element:,} of {tensor}{line}, and at least one "
        "of them stores to it: in a different order they give a different answer.",
        "Programs of a launch run in any order, and none waits for another: only a later launch can rely on what a "
        "program stores. A sum over programs needs tl.atomic_add, or a second launch."),
    "unordered": Chance(
        "undefined",
        "The load{line} of element {element:,} of {tensor} in program {other} may come before what program {program} "
        "writes there: no atomic operation orders the two, and with the value from before the answer is wrong.",
        "An atomic operation orders what one program did before it and what another does after one on the same "
        "address: store first, then draw the ticket, set the flag or open the lock, and load only after the ticket is "
        "drawn, the flag seen or the lock taken."),
    "unwaited": Chance(
        "undefined",
        "The load{line} reads what the previous launch stores to {tensor}. This launch has launch_pdl=True and does "
        "not wait: it may begin before those stores are done.",
        "Call tl.extra.cuda.gdc_wait() in {kernel} before the first load of what an earlier launch writes."),
    "descriptor": Chance(
        "exception",
        "No GPU takes the descriptor of {tensor} that is used{line}: its start, or one of its strides, is not a "
        "multiple of 16 bytes.",
        "Use a descriptor where every stride but the last is a multiple of 16 bytes, and tl.load and tl.store with a "
        "mask for other sizes."),
    "spin": Chance(
        "undefined",
        "The loop{line} waits for other programs by a plain load: a compiler takes such a loop out, and on a GPU "
        "nothing waits.",
        "Load with volatile=True or by an atomic, or let the next launch do what comes after all programs."),
    "assume": Chance(
        "undefined",
        "The assumption of tl.assume{line} does not hold, and a compiler builds on it: on a GPU the kernel may do "
        "anything.",
        "Assume only what holds for every size, 1 and primes among them, or leave tl.assume out."),
    "fresh": Chance(
        "undefined",
        "The load{line} reads elements of {tensor} that nothing has written, and the answer depends on what happens to "
        "be there.",
        "Allocate it with torch.zeros or torch.full, or mask the load."),
    "visible": Chance(
        None,
        "The load{line} reads what the previous launch stores to {tensor}, and {kernel}, launched with "
        "launch_pdl=True, does not wait for it.",
        "It comes out right as long as the first launch does not call gdc_launch_dependents: call "
        "tl.extra.cuda.gdc_wait() before the load."),
    "barrier": Chance(
        "undefined",
        "The load{line} reads elements of {tensor} that another lane of the same program has stored, without a barrier "
        "between: where that lane belongs to another warp, they may not be there yet.",
        "Call tl.debug_barrier() between the store and the load, or keep the values in a variable."),
    "warp": Chance(
        None,
        "The load{line} reads elements of {tensor} that another lane of the same program has stored, without a barrier "
        "between: with one warp they are there, and Triton does not promise it.",
        "Call tl.debug_barrier() between the store and the load, or keep the values in a variable."),
    "relaxed": Chance(
        None,
        "The atomic operation{line} does not order what programs store before it and load after it, and they rely on "
        "it to see what others have stored to {tensor}: Triton does not promise that they do.",
        "Leave sem and scope out, which gives sem=\"acq_rel\", scope=\"gpu\"."),
    "ticket": Chance(
        "undefined",
        "The answer depends on which program gets which number from the atomic operation{line}: programs arrive in any "
        "order.",
        "Take tl.program_id(0) for the program's own place, or let the number that the atomic gave decide both what is "
        "loaded and where it is stored."),
    "tuner": Chance(
        None,
        "{kernel} changes a tensor that it reads, and triton.autotune tries every configuration on that same tensor: "
        "on a GPU the first call, which tunes, gives a wrong answer.",
        "List each such tensor in triton.autotune(..., restore_value=[...])."),
    "streams": Chance(
        None,
        "The operations{earlier} and{line} use {tensor} in two streams, one of them writes to it, and neither stream "
        "waits for the other: in the other order, which a GPU may take, the answer is wrong.",
        "Make the stream of the later operation wait before it, by stream.wait_stream(...) or stream.wait_event(...)."),
    "pinned": Chance(
        None,
        "The operation{earlier} uses pinned memory, and host code does not wait for it before it uses that memory "
        "again{line}: host code may come first, and the answer is then wrong.",
        "Call synchronize() of an event or of the stream before, or take two buffers in turn."),
}  # fmt: skip
