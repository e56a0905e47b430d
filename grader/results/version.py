"""Versions of the judge and of the rule for points. A person raises them, so that no comment makes a grade
stale.

Add a row in the same commit as the change: one sentence, or two. CHANGELOG.md has the rest.

* `JUDGE_CHANGES`: if a submission can get another verdict, hint, tolerance, input or time. The next `kernelmark grade`
  grades submissions again that an older version has graded. `make verdicts` then records what the corpus gets.
* `POINTS_CHANGES`: if the same checks and times give other points. `kernelmark rescore` then gives new points to grades
  of an older version. It runs no submission.
"""

from __future__ import annotations

JUDGE_CHANGES = {
    1: "Grades name the judge by this number, no longer by a hash of its sources.",
    2: "A course that refuses inline assembly refuses it without a GPU, too.",
    3: "Hints that guess from values alone are only those that the corpus needs. Planned bfloat16 scalars are rounded.",
    4: "A change that makes every case right replaces guesses in a hint. Cases of bits hold -0 and numbers at edges.",
    5: "A right kernel runs once more as its compiler leaves it. A second language is judged.",
    6: "The simulator runs maps of functions, scaled products, gathers and casts toward zero. A right kernel that only "
       "compiles slowly needs a GPU.",
    7: "A hint names its output, and contents of cases besides sizes. Compiling without a GPU has a time of its own.",
    8: "Hints that a proved change makes needless are gone. A change in several lines names all of them.",
    9: "A cp.async copy that is used before it is waited for is wrong. Softmax and RMSNorm have a case of "
       "four rows of odd length.",
    10: "Hints cover stages of shared memory, warps that are not full and wgmma. The matrix product has a case of more "
        "tiles than multiprocessors, transpose one of eight rows of odd length.",
    11: "An unrolled access counts once. Beside a proved change a hint says nothing of distances.",
    12: "A C++ kernel is wrong if it relies on another block's stores in the same launch. Host code in C++ may read a "
        "host input in any order. Hints and changes cover many more mistakes.",
    13: "A GPU, too, reports the line of a loop that does not end, also if a compiler fails on it.",
    14: "No file can take itself out of the count: code that the grader does not support is a run-time error. Softmax "
        "and cross entropy have rows with a peak. Samples come from the whole output; a search has 60 s.",
    15: "Each line and each simulator's largest case run in another order. A store to shared memory races with readers "
        "of two warps.",
    16: "Programs that wait for each other fail at sizes that do not fit on a GPU at once. Unwritten memory holds "
        "large numbers, too. Races in shared memory at large sizes fail on a GPU, too.",
    17: "Hints use the terms of the file's language everywhere. Kernels in Gluon are judged.",
    18: "Addresses of shared memory wrap at 32 bits, flags with fences order warps, and functions that are not inlined "
        "may use variables: such kernels were called wrong. Some ninety hints are worded anew. Fewer changes that do "
        "not compile are tried. Atomics race with other blocks' loads and stores.",
    19: "Flags order warps of different blocks: blocks that store in turns pass, and a flag in relaxed order needs a "
        "fence. Races are looked for within blocks that may wait. Hints name a grid whose axes threads exchange, and "
        "contents that an earlier call has copied. A barrier orders those who meet there, and no others.",
    20: "Blocks that wait for each other also run one half after the other. A flag or an atomic with the scope of a "
        "block orders no other blocks. Remarks name a fence behind the flag, a flag loaded in relaxed order, volatile "
        "data loaded before it, and bulk copies without a fence. A barrier in memory is set up before others use it. "
        "No right answer rests on lanes without a part in a shuffle. Hints name both lines of a race, and why threads "
        "miss a barrier. No change only adds idle work.",
    21: "An order of streams that nothing keeps, and a pinned buffer that is filled too early, fail. Remarks name "
        "loads through the read-only cache of what the launch has stored, and local arrays that nothing sets; one that "
        "holds for several lines is made once. Hints distinguish a missing semicolon from a missing brace, name blocks "
        "and threads that are exchanged, half precision, a partial step after a full one, a fence on the wrong side of "
        "its flag, and the return of blocks that store nothing, and ask how a name is spelt that a language lacks.",
    22: "A bulk copy or wgmma of what threads have stored, without a fence between, fails: an H200 was seen to take "
        "old values. Copies of 16 bytes are checked for their alignment with a source size, too, and copies of pinned "
        "memory in every language follow their streams. Assignments have a size that 4, 8 or 16 divide and no block "
        "does. A gap at a large size counts once all programs have run. A time limit at a size that no simulator runs "
        "names the line where programs wait for each other.",
}
"""Changes of the judge, by its version."""

POINTS_CHANGES = {
    1: "Grades name the rule for points by this number, no longer by a hash of its sources.",
}
"""Changes of the rule that turns checks and times into points, by its version."""

JUDGE_VERSION = max(JUDGE_CHANGES)
POINTS_VERSION = max(POINTS_CHANGES)
