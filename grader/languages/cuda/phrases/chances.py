"""Messages about undefined behaviour: a kernel leaves its result to chance, though a GPU may often get it right."""

from __future__ import annotations

from grader.languages.phrases import Chance, Chances

ORDER = (
    "Blocks of a launch run in any order, and __syncthreads() is for the threads of one block: other blocks may read "
    "what a block stores only after the grid.sync() of a cooperative launch, or in the next launch. A sum over blocks "
    "needs atomicAdd, or a second launch."
)
_SYNC = "Call __syncthreads() between the store and the load, where all threads of the block come by."


def _failure(seen: str, look: str) -> Chance:
    return Chance("undefined", seen, look)


CHANCES: Chances = {
    "lanes": _failure(
        "Several threads store different values to element {element:,} of {tensor}{line} at once, in block {program}: "
        "which of them stays is left to chance.",
        "Give each element one thread: is threadIdx.y, or blockIdx times blockDim, missing from the index, or does a "
        "condition let an index pass the end of its row, into the next one? What threads have in common is summed "
        "first, in shared memory or with atomicAdd."),
    "reorder": _failure(
        "The answer depends on an order{line} that CUDA does not define.", "Compute each element from its own index."),
    "hint": _failure(
        "What __builtin_assume, __restrict__ or an aligned cast promises{line} is not so.",
        "Promise only what holds for every size, 1 and primes among them."),
    "pipeline": _failure(
        "The result of an asynchronous copy or of wgmma is used{line} before anybody has waited for it.",
        "Sums of wgmma are there after wgmma.commit_group and wgmma.wait_group 0. Copies are there once their group is "
        "committed and no longer among the last ones that wait_group N or __pipeline_wait_prior(N) leaves out (an "
        "empty group counts), or after a wait for their barrier; other threads see them after a __syncthreads() that "
        "follows."),
    "index": _failure(
        "The last warp of block {program} is not full, and the shuffle{line} reads lanes that it does not have: what "
        "is found there is left to chance.",
        "Launch whole warps, (threads + 31) / 32 * 32, of which those without an element take part with a value that "
        "changes nothing: `blockDim.x / 32` does not count a warp that is not full."),
    "reduction": _failure(
        "The answer depends on the order in which values are added or compared{line}.",
        "Let the threads of a block reduce in a fixed order, in shared memory or with __shfl_down_sync."),
    "programs": _failure(
        "Blocks {program} and {other} of one launch both use element {element:,} of {tensor}{line}, and at least one "
        "of them stores to it: in a different order they give a different answer.", ORDER),
    "unordered": _failure(
        "The load{line} of element {element:,} of {tensor} in block {other} may come before what block {program} "
        "writes there: nothing orders the two.",
        "Call __threadfence() between a store and the atomic that tells others of it, and let the others load behind "
        "the atomic that saw it. Simpler: let the next launch load."),
    "ticket": _failure(
        "The answer depends on which block gets which number from the atomic operation{line}: blocks arrive in any "
        "order.",
        "Take blockIdx for the block's own place, or let the number decide what is loaded and where it is stored."),
    "descriptor": Chance(
        "exception", "No GPU takes the tensor map of {tensor} that is used{line}.",
        "Load with ordinary loads: x[i], or float4 where rows are multiples of 16 bytes."),
    "unwaited": _failure(
        "The load{line} reads what the previous launch stores to {tensor}, and {kernel} may begin before those stores "
        "are done.",
        "Leave the launch attribute out, or call cudaGridDependencySynchronize() in {kernel} before the load."),
    "visible": Chance(
        None, "The load{line} reads what the previous launch stores to {tensor}, and {kernel} does not wait for it.",
        "Call cudaGridDependencySynchronize() in {kernel} before the load."),
    "barrier": _failure(
        "The load{line} reads an element of {tensor} that another thread of block {program} has stored, without "
        "__syncthreads() between: it may not be there yet.", _SYNC),
    "warp": Chance(
        None, "Threads of one warp exchange values through {tensor}{line} without __syncwarp() between, in block "
        "{program}: since Volta the threads of a warp need not run in step.",
        "Call __syncwarp() between the store and the load, or exchange values with __shfl_down_sync."),
    "relaxed": Chance(
        None, "The load{line} reads what block {program} stored to {tensor} before the atomic that tells of it, and no "
        "__threadfence() stands between the two: another block may see the atomic first.",
        "Call __threadfence() after the store and before the atomic."),
    "tuner": Chance(
        None, "{kernel} adds to what is there, and is launched several times on the same memory{line}.",
        "Set the memory to 0 with cudaMemset before each launch."),
    "spin": _failure(
        "The loop{line} waits for other blocks by a plain load: the compiler may load once and wait for ever.",
        "Let the next launch do what comes after all blocks; or load through a `volatile` pointer or with an atomic, "
        "in a cooperative launch."),
    "assume": _failure(
        "The assumption of __builtin_assume{line} does not hold, and the compiler builds on it.",
        "Assume only what holds for every size, 1 and primes among them, or leave it out."),
    "fresh": _failure(
        "The load{line} reads elements of {tensor} that nothing has written, and the answer depends on what happens to "
        "be there.",
        "Store every element before it is read: cudaMalloc and __shared__ leave what was there before. cudaMemset sets "
        "the GPU's memory to 0."),
    "unset": _failure(
        "The answer depends on a register or on local memory that nothing has set{line}: a GPU has anything there.",
        "Give each variable a value before it is read, in every branch, and each element of a local array."),
    "places": _failure(
        "The answer depends on where {kernel} runs, or on where its memory lies: an address, or the number of a "
        "multiprocessor.",
        "Compute from blockIdx, threadIdx and what the pointers point to."),
    "approximate": _failure(
        "The answer rests on {tensor}{line}, which a GPU only approximates: it is wrong for some elements with the "
        "error that NVIDIA documents for this instruction.",
        "Compute it with the functions of CUDA C++, such as tanhf, expf, logf and a plain division: they are nearly as "
        "precise as a float can be."),
    "shared": _failure(
        "Threads of block {program} use one element of the shared array {tensor}{line} at the same time, at "
        "least one of them stores to it, and no __syncthreads() orders them.", _SYNC),
    "divergent": _failure(
        "The __syncthreads(){line} is not reached by all threads of block {program}: a GPU may wait for ever, or go on "
        "too early.",
        "Take __syncthreads() out of the `if`, and let no thread return before it: put `if (i < n)` around loads and "
        "stores alone."),
    "streams": Chance(
        None,
        "The operations{earlier} and{line} use {tensor} in two streams, one of them writes to it, and neither stream "
        "waits for the other: in the other order, which a GPU may take, the answer is wrong.",
        "Make the stream of the later operation wait before it: cudaEventRecord in the one stream, "
        "cudaStreamWaitEvent in the other."),
    "pinned": Chance(
        None,
        "The operation{earlier} uses pinned memory, and host code does not wait for it before it changes that memory "
        "for the operation{line}: the change may come first, and the answer is then wrong.",
        "Call cudaEventSynchronize or cudaStreamSynchronize before, or take two buffers in turn."),
}  # fmt: skip
