"""The versions of what judges. They are raised by hand, so that a change of wording in a source file makes no grade
stale.

Raise a version by adding a row, in the same commit as the change:

* `JUDGE_CHANGES` where a submission can get another verdict, hint or tolerance, other inputs or another time. Grades
  of the version before are run again by the next `kernelmark grade`. `make verdicts` then writes what the corpus gets.
* `POINTS_CHANGES` where the same checks and times give other points. Grades of the version before get new points
  from `kernelmark rescore`, which runs nobody's code.
"""

from __future__ import annotations

JUDGE_CHANGES = {
    1: "Grades know the judge by this number. Before, they knew it by a hash over its sources.",
    2: "Inline assembly that a course refuses is refused without a GPU, too; counts of cases leave out other checks.",
    3: "Hints that guess from an output's values alone are only those that a mistake of the corpus needs, and none "
       "where a first call was right and the second is not. A number in bfloat16 is cut when it is planned. A missing "
       "beginning is no longer explained by too few programs, and a store may have the axes exchanged, not the grid.",
    4: "A change of the file that makes every case right, found by trying, is told before what is guessed from an "
       "answer. Mistakes that no single change mends have hints of their own. Cases of bits hold -0 and the other "
       "numbers at edges, which chance never drew.",
    5: "Kernels that are right are run once more as their compiler leaves them; another language is judged. A "
       "kernel that only takes the simulator long needs a GPU, and is not called endless.",
    6: "Without a GPU kernels are judged, too, that map a function over elements, multiply with scales, gather rows of "
       "a descriptor or cast toward zero. A cast to eight-bit floats saturates, as GPUs have it. A right kernel that "
       "only compiles for long needs a GPU. Places that follow from contents are nobody's stride, and blamed no more.",
    7: "Of several outputs a hint names the one that it means. Rows that are stored element by element are held "
       "against the rows of the output, and a view of another dtype is told. Cases are told apart by what their names "
       "say of contents, too, and less often by which of two sizes is larger. Digits that a variance loses are known. "
       "Without a GPU compiling for one has a time of its own.",
    8: "Hints that no mistake of the corpus needs beside the change that mends it are gone, such as periods, lanes and "
       "odd factors. A grid, a loop or a block that leaves elements out is told in one way. Of sizes it is told which "
       "differ and which are no whole blocks. Of a change in several lines all of them are told. A case that fills no "
       "block may take a simulator as long as one that does. A mask that stays while its loop moves on, an index of "
       "vectors that counts elements, a sum and a maximum of softmax that are not brought together are known. Changes "
       "that are tried set a sum again in each round, give a reduction its axis, and turn the layout of a fragment.",
    9: "A cp.async copy that is used before its thread has waited for it is wrong, by the look for races as well. A "
       "change that adds a line says before or after which, and of two places what each changes. Softmax and RMSNorm "
       "have a case of four rows whose length is odd.",
    10: "A race in shared memory says which stage of an array both lines use, and asks for a second barrier only "
        "where the array is written again. A warp that is not full is told, and that nothing clears shared memory. "
        "Changes that are tried exchange stages, a thread's numbers, quotients and rests and lengths of rows, end a "
        "tree a step later, launch whole warps and begin above -infinity. GELU's two constants are known by their "
        "place. What wgmma reads while a cp.async of it is not waited for is wrong. Programs that come to a store too "
        "few times are told from a mask that ends too early, and parts of a sum that nothing reads are told. Sizes "
        "that kernels are not given are no condition of what fails. The matrix product has a case of more tiles than a "
        "GPU has multiprocessors, transpose one of eight rows whose length is odd. What blocks read of each other "
        "without a __threadfence() is told, and costs nothing.",
    11: "Copies that an unrolled loop makes of a line are one access. Where a change is proved, nothing is said beside "
        "it of distances in a wrong answer. A maximum that begins at FLT_MIN, groups of elements that reach past the "
        "end, a grid that does not follow an autotuner's configuration, and rows that hold others' answers are told. "
        "Programs that reach outside a tensor are counted once.",
    12: "Programs that begin among what others store in a loop, a rest that begins at the number of groups, a mask "
        "that is computed before its loop, a condition on the first of several rows, sums of lanes that are not scaled "
        "and a launch without shared memory are told. Of a right number of programs it is said that it is right. From "
        "where on rows or columns are wrong is told where nothing else is known. Of a race in shared "
        "memory both lines are told, of elements that nothing has stored the rows between which they lie, of a grid "
        "that it is counted for another configuration. A change says whether a statement belongs elsewhere. Host code "
        "in C++ may read a host input in any order, and gather backwards. A right answer in C++ is wrong that "
        "rests on what another block stores in the same launch. Elements that hold others' answers are told, and bytes "
        "that are read with a sign. A proof tries some blocks in two directions. A change exchanges members of vectors "
        "and the sides of a difference, adds a factor that a branch lacks, or leaves out a statement whose result is "
        "set anew, and says so; one that cuts the last group says that. One wrong element in each group of 2, 4 or 8 "
        "is told; the root of a size in a factor, and a right answer upside down, are not. In C++ a change takes "
        "another constant of the file, gives a loop's variable a block's width, takes 1 off a count, and counts bytes; "
        "memory of which a cudaMemset sets a part is told. No change of a block's size or a grid is tried that only "
        "covers more. A path of whole blocks that is taken from one block on, a mask that ends behind its part of a "
        "sum, a rest that begins at its own length, a buffer of too narrow a type and a maximum that is set before its "
        "sum is scaled are mended.",
    13: "On a GPU, too, a loop that does not end is told with its line, also where a compiler fails on it, which was a "
        "run-time error.",
    14: "Nothing that a file does, or that a process of it says, takes it out of the count: what the grader does not "
        "support is a run-time error with its line and what to write instead, flagged for a person; a kernel that is "
        "never launched costs nothing. At sizes that only a GPU computes whole, places are drawn from all of the "
        "output, a fill is not taken for writing, and a case that takes the simulator too long is sampled. Softmax "
        "and cross entropy have rows with a peak far above first element, mean and block. Races within blocks are "
        "looked for behind the first 4,096 threads, too, and in samples in shared memory. A permuted signature, pairs "
        "of known mistakes, loops that "
        "never run and exchanged sizes of a launch are named; files that are not text, signs from web pages and "
        "functions of std in kernels have words of their own. Library kernels are known by where their code is. A "
        "file that sends itself a signal ends, a deeper stack is not supported. The search for a "
        "change has a minute of processor time, builds and proofs included.",
    15: "A store to shared memory races with readers of two warps, not with the last one alone, and so does an atomic; "
        "an exchange whose result nobody uses is no lock. "
        "A copy of a slice is called one into another layout, not order. Changes that are tried exchange the grid and "
        "the block of a launch. The largest case of a simulator's is always run in another order, "
        "and each line has runs of its own; what a line prints is not left out if it launches or changes "
        "anything; shared memory that a block has not written is known in samples, too. A remark names two operations "
        "of host code whose order neither a stream nor waiting rules out, where the answer hangs on it.",
    16: "Programs that wait for each other fail at sizes of which a GPU does not hold all programs. Memory that "
        "nothing has written, the output among it, holds large numbers, too, where a right answer runs again. Races "
        "for shared memory in large sizes fail on a GPU, too. Counts of structure leave out the programs at the ends "
        "of a grid. Functions of half precision are read. RMSNorm of a vector has tiny numbers at 131,101 elements, "
        "not at 1,048,576. The barrier that some threads do not come by is the one in the branch, a loop without a "
        "flag does not wait for others, no known mistake is told beside a race of a load and a store, and sums of one "
        "warp alone are known. Python files of another language are told apart by what they import.",
    17: "Hints say programs, blocks, lanes and threads as the file's language does, also about an output that is read. "
        "An input that changed beside an output that nothing wrote has one hint, without a guess. Kernels in Gluon "
        "are judged.",
    18: "An error of a language's compiler that does not say where has the line of its statement. A launch with "
        "threads before blocks is named.",
}
"""The changes that each version of the judge made."""

POINTS_CHANGES = {
    1: "Grades know the rule for points by this number. Before, they knew it by a hash over its sources.",
}
"""The changes that each version of the rule which turns checks and times into points made."""

JUDGE_VERSION = max(JUDGE_CHANGES)
POINTS_VERSION = max(POINTS_CHANGES)
