"""Messages of CUDA's runtime, of its compiler and of host code that ends, and what to do about each."""

from __future__ import annotations

from collections.abc import Mapping

from grader.languages.cuda.phrases.compiling import CLUES, unwrap
from grader.languages.phrases import Clue, Failures
from grader.plan import compiled

SHARED = (
    "Use smaller shared arrays. A kernel declares at most 48 KiB of shared memory; a launch can ask for more as its "
    "third value, kernel<<<blocks, threads, bytes>>>, once cudaFuncSetAttribute(kernel, "
    "cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) allows it."
)
GIVES_UP = (
    "NVIDIA's assembler fails on this kernel without naming a line: unroll less, use smaller arrays, and leave out "
    "parts of the kernel until it compiles."
)

GAVE_UP: Mapping[compiled.Reason, str] = {
    "shared_memory": SHARED,
    "too_slow": "Loops that are unrolled become instructions, each step its own: leave #pragma unroll out of long "
                "loops, "
    "and take fewer template values.",
    "too_large": GIVES_UP,
    "crash": GIVES_UP,
}

MESSAGES = (
    # Refused launches: the message states the limit.
    (r"a block has 1 to 1024 threads",
     "Launch fewer threads in a block and more blocks: threads = 256, blocks = (n + threads - 1) / threads. "
     "cudaGetLastError() behind a launch tells of this."),
    (r"__launch_bounds__ of this kernel allows",
     "Launch no more threads in a block than __launch_bounds__ says, or write a larger number there."),
    (r"at most 64 threads along z", "Let x count what z counts: it may have 1024 threads."),
    (r"a grid has at least one block",
     "A size divided with / rounds down, to 0 where it is smaller than what it is divided by, here or in a line "
     "before: (n + d - 1) / d rounds n / d up. A "
     "launch of no blocks fails, and cudaGetLastError() tells so."),
    (r"blocks along x and 65535 along y",
     "Let x count the larger size, or let each block do several rows in a loop."),
    (r"bytes of shared memory unless cudaFuncSetAttribute|cudaFuncSetAttribute: a block has at most", SHARED),
    (r"this is no kernel", "A launch takes a function with __global__ in front of it, in this file."),
    (r"fewer arguments than its kernel", "Pass as many arguments as the kernel has parameters, in their order."),
    # Copies and memory.
    (r"is host memory, and this copy (?:reads from|writes to) the GPU's",
     "Which of the two lies where? cudaMemcpy(target, source, bytes, kind): cudaMemcpyHostToDevice reads from the "
     "CPU's memory, cudaMemcpyDeviceToHost from the GPU's, cudaMemcpyDefault looks by itself."),
    (r"GPU memory(?: already)?, and this copy (?:reads from|writes to) the host's",
     "Which of the two lies where? Parameters lie in the GPU's memory unless the handout says “host”: pass them to the "
     "kernel as they are, without copies in memory of your own."),
    (r"was freed before", "Free memory after the last launch or copy that uses it."),
    (r"cudaMalloc of \d+ bytes|bytes of pinned memory",
     "Allocate no more than the sizes of the inputs need: bytes are count * sizeof(float), and a product of ints wraps "
     "around beyond 2147483647."),
    (r"is no __device__ or __constant__ variable|is no __device__ variable",
     "Name the variable itself, as in cudaMemcpyToSymbol(weights, source, bytes), without & and quotes."),
    (r"ends within an element", "Sizes, widths and pitches of copies count bytes: elements times sizeof(element). "
     "cudaMemcpy2D takes the bytes of a row first, and then the number of rows."),
    (r"copies \d+ bytes (?:to|from) where",
     "Is the number of bytes count * sizeof(element)? sizeof of a pointer is 8, whatever it points to. In cudaMemcpy2D "
     "each side has a pitch of its own: that of elements which lie side by side is sizeof(element)."),
    (r"the variable has \d+ bytes", "Copy no more bytes than the variable has: sizeof(variable)."),
    (r"pitch is less than the width",
     "The pitch is the distance of two rows in bytes: cols * sizeof(float) for rows without a gap."),
    (r"there is one GPU", "Leave cudaSetDevice out, or pass 0."),
    # Host code that ends.
    (r"divides a whole number by zero", "The divisor may be 0: sizes are 1 at least, but n / 256 is 0 for small "
                                        "n."),
    (r"memory that is not there",
     "A pointer of host code leads nowhere: is an index beyond its array, or a pointer never set? Pointers to the "
     "GPU's memory cannot be read on the CPU: launch a kernel."),
    (r"host code ends its process$",
     "It ended without a word, as where an array of host code is written far past its end: is one of a fixed size, "
     "such as float column[8192], too small for other sizes? Take std::vector, with as many elements as this call "
     "needs."),
    (r"host code ends its process: exit|_Exit|quick_exit",
     "Leave exit() out: it is usually in a macro that checks for errors. What failed before it? A check of "
     "cudaGetLastError() may be one of them."),
    (r"host code ends its process: \w+\(SIG",
     "Leave the signal out: it ends any process that sends it to itself."),
    (r"an assertion of host code fails", "The assertion does not hold for these sizes: sizes are arbitrary, "
                                         "and 1 is one."),
    (r"pinned memory.*after a call with other sizes",
     "The memory that a static variable keeps has the size of the earlier call: allocate anew where this call needs "
     "more."),
    (r"host code throws", "Catch what is thrown, or see to it that nothing is: sizes are arbitrary, and 1 is one of "
                          "them."),
    (r"something else (?:to the GPU )?each time",
     "Let sizes alone decide, so that every call is the same: leave out rand() and clocks, set each variable before it "
     "is read, and let one thread of the host launch."),
    # A GPU and its driver.
    (r"[Mm]isaligned address",
     "A float4 is loaded from addresses that are multiples of 16: does each row begin at one? Rows of cols floats do "
     "if cols is a multiple of 4."),
    (r"[Dd]evice-side assert", "An assert() of the kernel does not hold: sizes and values are arbitrary."),
    (r"[Tt]oo many resources requested|out of resource",
     "A block needs more registers or shared memory than there are: launch fewer threads in a block, or write "
     "__launch_bounds__(threads) in front of the kernel's name."),
    (r"[Uu]nspecified launch failure|[Ii]llegal instruction|[Ii]nvalid program counter",
     "The GPU stopped in the middle of a kernel, usually after a load or store far outside its array."),
    (r"[Ll]aunch timed out", "The kernel ran too long: is there a loop in it that does not end?"),
    (r"too large in cooperative launch|cooperative",
     "All blocks of a cooperative launch run at the same time: ask cudaOccupancyMaxActiveBlocksPerMultiprocessor how "
     "many fit, and loop in the kernel."),
    (r"No CUDA compiler", ""),
)

# The builder has limits of time and memory, too.
_BUILDING = (
    Clue("Include less: thrust and CUB take the compiler seconds each. Take only the headers that are used, fewer "
         "values of templates, and no recursion among templates.",
         message="^Compiling ", kinds=frozenset({"time_out"})),
    Clue("Make the file smaller: fewer values of templates, shorter tables, and no macros or templates that repeat "
         "themselves.", message="^The compiler runs out of memory", kinds=frozenset({"out_of_memory"})),
)
# This clue holds for the host's memory and for the GPU's.
_MEMORY = Clue(
    "Memory counts until it is freed (new, malloc, std::vector, cudaMallocHost, cudaMalloc): allocate no more than the "
    "sizes of the inputs need, and free it in the same call.", kinds=frozenset({"out_of_memory"}))

FAILURES = Failures(
    clues=(*_BUILDING, _MEMORY, *(Clue(hint, message=f"(?i:{message})") for message, hint in MESSAGES), *CLUES),
    absent=(),
    gave_up=GAVE_UP,
    unwrap=unwrap,
    no_module=lambda name: f"{name} cannot be included: each file stands alone. Copy what it needs into it.",
    missing_function="Define `{signature}` in {file}, spelt exactly so, outside of any namespace or class, and not "
                     "static: it launches the kernels.",
    wrong_signature="Define it as `{signature}`, with these types in this order.",
    not_attempted="Write the function's body and a kernel, and take out the line `// not written yet`.",
    syntax_error="Look at the end of the line above, too: the compiler notices what is missing one word later.",
    import_error="Each file stands alone: copy what it needs of other files into it.",
    compile_error="The compiler's words name what it met. The first error counts: those after it often follow from it.",
    exception="Check what each call returns, as in cudaGetLastError() behind a launch. The function is called with "
              "sizes of all kinds, 1 among them.",
    wrong_memory="Host code accessed memory that is not its own: is an index beyond its array? Pointers to the GPU's "
                 "memory cannot be read on the CPU.",
    aborts="Host code ended itself with abort(): is an exception not caught, or memory freed twice?",
    ends="The process ended by a signal: leave one line after another out of host code to find the one that does it.",
    exits="Leave exit() out: the function returns when it has launched its kernels.",
)
