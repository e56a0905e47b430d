"""Messages about what kernels and host code did, about how a wrong answer looks, and about where to look in the
file."""

from __future__ import annotations

from grader.languages.cuda.phrases.chances import ORDER
from grader.languages.cuda.phrases.mistakes import MISTAKES
from grader.languages.phrases import AnswerPhrases, Calls, Names, Sights

NAMES = Names(
    program_id="blockIdx", program_ids=("blockIdx.x", "blockIdx.y", "blockIdx.z"),
    blocks="({count} + {block} - 1) / {block}", load="load", store="store", atomic="atomic operation",
    launch_opens=">>>(",
    terms={
        "program": "block", "lane": "thread", "mask": "condition", "block": "part", "//": "/",
        "where a tile has": "where a block has",
        "of its tile": "of its block",
        "along axis 0": "along x", "along axis 1": "along y", "along axis 2": "along z",
        "in steps of the block": "in steps of as many as a block takes",
        "Look at which elements it takes, at what it starts from":
            "Look at whether the parts of all threads, warps and blocks reach it, at which elements it takes, at what "
            "it starts from",
        "and from the root of a negative number":
            "from the root of a negative number, and from a variable that nothing has set",
        "Is this tensor allocated for as many programs, rows or blocks as use it":
            "Is it allocated for as many blocks, rows or parts as use it, in bytes (count * sizeof(float))",
        "the block that the grid is counted with must be the kernel's":
            "count the grid with as many elements as a block of the kernel has",
    },
    mistakes=MISTAKES,
    own_named="your own array {tensor}", own_unnamed="memory of your own",
    threads=True,
)

SIGHTS = Sights(
    masked_remark="Threads of {tensor}{line} that a condition leaves out take part in the answer.",
    assertion="The assert{line} does not hold in block {program}",
    granule="A GPU writes 16 bytes at a time here, also past the end of the tensor: store so only where a row is a "
            "multiple of 16 bytes.",
    far_outside="What are blockIdx, blockDim and threadIdx multiplied by, and what is added? Element (row, column) of "
                "a matrix with cols columns lies at row * cols + column.",
    unmasked="The last block has threads past the end: put this {call} into an `if` {sizes}.",
    unmasked_load="",
    flat_sizes="such as if (i < n), with the names of this line",
    unwritten="cudaMalloc does not clear memory, which may hold anything: store every element before it is read (or "
              "use cudaMemset), and compare the index that is read with the one that is stored.",
    unwritten_between="They lie in the gaps between stored rows: rows of {0} bytes begin {1} bytes apart. Use the same "
                      "row stride, in elements, for stores and loads.",
    unwritten_shared="__shared__ does not clear memory. Either no thread stores to these elements, as where a "
                     "condition leaves some out, or another index is read than the one that is stored: do both have "
                     "the same parts in the same order, and rows of the same length?",
    no_program="A size divided with / rounds down, to 0 where it is smaller than what it is divided by, here or in a "
               "line before: (n + d - 1) / d rounds n / d up.",
    overflow="An int holds up to 2147483647: convert a factor of the product first, as in (size_t)row * cols.",
    overflow_of_bytes="Sums and products wrap around when they are stored in so few bits: compute in int or float, "
                      "and convert at the end.",
    race="Each element belongs to one thread: is blockIdx.x * blockDim.x + threadIdx.x the index, does the condition "
         "end where the next block begins, and is the width of the row that of this very matrix? A sum over blocks "
         "takes atomicAdd, or a second launch.",
    unordered=ORDER,
    recast="Leave the pointer's type as it is: convert what was loaded, as in (float)x[i].",
    misaligned="A load or store of {bytes} bytes needs an address that is a multiple of {bytes}: where a row, a plane "
               "or a part begins elsewhere, move its elements one by one. The sizes of the call decide whether one "
               "does.",
    no_shared="The launch gives no bytes for it: an `extern __shared__` array has as many as the third value between "
              "<<< and >>> says, as in <<<blocks, threads, threads * sizeof(float)>>>.",
    outside_shared="A shared array is as large as its declaration says, an `extern` one as the bytes in the launch's "
                   "third value: does the index count threadIdx with the right width, and is the array as large "
                   "as what counts in it?",
    outside_shared_load=" Or should threads beyond its end read nothing, and take what changes nothing: 0 in a sum, "
                        "-INFINITY in a maximum?",
    block_library="cub::Block",
    block_library_look="cub::BlockReduce<float, 128> and its like are made for blocks of 128 threads, the number in "
                       "their brackets: does the launch start as many, and is the shared array their TempStorage?",
    left_early="Some threads of a block have left before the __syncthreads(){line}, and load and store nothing from "
               "there on.",
    left_early_look="Their stores, and their loads for others, are missing: let no thread return before a barrier, "
                    "and put an `if` around the loads and stores alone.",
    passed_by="Some threads do not come by the __syncthreads(){line}, which orders only those that do: take it "
              "out of the `if` or the loop, and let no thread return before it.",
    not_added_yet="The load in line {line} reads {tensor}, to which all blocks of this launch add in line {adds}: "
                  "others may not have added yet.",
    not_added_yet_look="Blocks do not wait for each other, and __syncthreads() is for the threads of one block: read "
                       "the sum in a second launch.",
    same_thread="Is threadIdx missing from the index, as in blockIdx.x * blockDim.x + threadIdx.x?",
    several="Each thread moves {count} elements at once, which leaves a rest of {rest} without a whole group: take "
            "those one by one, by some threads more.",
    copied_bytes="Sizes, widths and pitches of copies count bytes: elements times sizeof(element).",
    set_in_part="cudaMemset counts bytes: elements times sizeof(element).",
)

ANSWERS = AnswerPhrases(
    nothing_stored="Does the kernel store through the output's pointer, inside a condition that is true for some "
                   "thread?",
    keep_inputs="Inputs must not be changed: store to {out} alone, and what else is needed to memory from cudaMalloc.",
)

CALLS = Calls(
    returned="Write into {out}: pass it to the kernel that stores the answer{copy_into}. What the function returns is "
             "ignored.",
    copy_into=", or copy into it with cudaMemcpy(..., cudaMemcpyDeviceToDevice)",
    no_copy="`{out} = ...` points to other memory: copy into the memory that {out} points to, with cudaMemcpy.",
    not_passed="Pass {out} itself to the kernel that stores the answer: what cudaMalloc gives is other memory.",
    no_launch="Launch it in the function, kernel<<<blocks, threads>>>(arguments), for all sizes.",
    beyond_buffer="Is the number of bytes count * sizeof(element), and does the pointer begin where it should? In "
                  "cudaMemcpy2D each side has a pitch of its own: that of elements which lie side by side is "
                  "sizeof(element).",
    host_given="Copy what is needed to the GPU first, with cudaMemcpy(..., cudaMemcpyHostToDevice).",
    host_own="Allocate it on the GPU: cudaMalloc(&pointer, bytes).",
    nothing_to_copy="Launch the kernel that writes it first. A graph launches nothing until cudaGraphLaunch.",
    kernel_too_long="Loops that are unrolled repeat their text: leave #pragma unroll out of long loops.",
    too_many_kernels="Each set of template values is a kernel of its own: pass what changes from launch to launch as "
                     "an ordinary parameter.",
    no_memory="Local arrays, shared arrays and cudaMalloc take memory: take smaller ones.",
    assembly="Write it in CUDA C++ alone, with its own functions such as __shfl_down_sync and __ldg.",
    assembly_unsimulated="A kernel in CUDA C++ alone can be checked here, too.",
    skipped_print="Skipped in {lines}{texts}: host code has no values to print or check. In a kernel use printf or "
                  "assert. This costs no points.",
    fewer_registers=" `__launch_bounds__(threads)` before a kernel's name lets the compiler keep to what there is.",
)
