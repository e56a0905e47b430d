"""Messages of Python, PyTorch, Triton and the GPU's driver, and what to do about each."""

from __future__ import annotations

import re
from collections.abc import Mapping

from grader.frontends.phrases import RAISED, Clue, Failing, Failures
from grader.frontends.triton.phrases.refusals import ABSENT
from grader.plan import compiled

COMPILING: frozenset[Failing] = frozenset({"compile_error"})
READING: frozenset[Failing] = frozenset({"syntax_error"})

WARPS = "num_warps is 1, 2, 4, 8, 16 or 32, an integer: so many groups of 32 threads work on a program's blocks."
SHARED = (
    "One program needs more {name} than the GPU has: use smaller blocks, or a lower num_stages. The message says how "
    "much it needs and how much there is."
)
GIVES_UP = (
    "Triton's compiler fails on this kernel without naming a line: try smaller blocks and a lower num_stages, and "
    "leave out parts of the kernel until it compiles."
)
ALLOCATE = (
    "Host code reaches no GPU, and no memory of another library: allocate with torch.empty(..., device=\"cuda\"), and "
    "pass that to the kernel."
)
GPU_LIBRARIES = ("cupy", "numba", "pycuda", "cuda", "jax")
NO_MODULE = (
    "{name} cannot be imported: each file stands alone, and is graded with torch, triton, numpy and einops only. Copy "
    "what it needs from your other files into it, and leave out plots and tables."
)
ELEMENTS = (
    "A pointer or a block of a kernel is not indexed with [...]: load with tl.load(pointer + offsets, mask), and store "
    "with tl.store(pointer + offsets, value, mask)."
)
PRINTS = (
    "In a kernel, print takes a text first and then the block, without braces: tl.device_print(\"x\", x)."
)

GAVE_UP: Mapping[compiled.Reason, str] = {
    "shared_memory": SHARED.format(name="shared memory"),
    "too_slow": "A block of very many elements, and each step of a tl.static_range, becomes instructions of its own: "
    "use smaller blocks, and an ordinary `range` for long loops.",
    "crash": GIVES_UP,
    "too_large": GIVES_UP,
}

MESSAGES = (
    # A GPU and its driver.
    (r"[Mm]isaligned address",
     "An address is no multiple of its element's size: is a pointer cast to another type, or do tl.multiple_of, "
     "tl.max_contiguous or tl.assume promise what is not true for these sizes? Offsets count elements, not bytes."),
    (r"[Dd]evice-side assert",
     "A check on the GPU failed: a tl.device_assert of the kernel, or an index of a PyTorch call that lies "
     "outside its tensor."),
    (r"num_warps[ =]|out of resource: threads|for &: 'float' and 'float'", WARPS),
    (r"out of resource: (?P<name>[\w ]+), Required: \d+", SHARED),
    (r"^ValueError: (num_stages|num_ctas|maxnreg)=", ""),
    (r"no allocator was set",
     "A kernel that makes tensor descriptors needs room for them. Before the launch call triton.set_allocator(lambda "
     "size, alignment, stream: torch.empty(size, device=\"cuda\", dtype=torch.int8))."),
    (rf"allocate with torch\.empty|libcuda|libnv|No module named '({'|'.join(GPU_LIBRARIES)})\b", ALLOCATE),
    (r"invalid configuration argument|Triton Error \[CUDA\]: invalid argument",
     "The GPU cannot start this launch: the second and third size of a grid are at most 65,535, and num_warps "
     "is a power of two up to 32."),
    (r"[Uu]nspecified launch failure|[Ii]llegal instruction|[Ii]nvalid program counter",
     "The GPU stopped in the middle of a kernel, usually after a load or store far outside its tensor, or where a "
     "tl.device_assert failed."),
    (r"[Ll]aunch timed out", "The kernel ran too long: is there a loop in it that does not end?"),
    (r"PassManager::run failed|Internal Triton PTX codegen|ptxas|LLVM ERROR", GIVES_UP),
    (r"Pointer argument .*cannot be accessed from Triton",
     "A tensor in host memory is passed to a kernel, which reads the GPU's memory only: copy what is needed of it to "
     "the device first, a view such as matrix[:, 0], and not all of it."),
    (r"Expected all tensors to be on the same device",
     "One operation uses a tensor on the host and one on the GPU: allocate new ones with device=out.device."),
    (r"kernels have no (?P<name>torch\.\w+)",
     "Triton has no {name}, so that host code cannot fill or copy one: keep the two parts of complex numbers as "
     "float32, and other bits as uint8. A view as one of these, x.view(torch.uint8), has the same memory."),
    # Triton's compiler.
    (r"Mismatched type for (?P<name>\w+) between",
     "{name} has one type and shape after the `if`, and another after the `else`: make them the same, with "
     "tl.zeros((BLOCK,), tl.float32) for 0.0, and with .to(tl.float32)."),
    (r"Inconsistent return types",
     "A function that a kernel calls returns one type and shape, whatever it decides: make all values alike, or "
     "choose with tl.where."),
    (r"Block pointers have been removed",
     "Triton has no block pointers from 3.9 on: make a descriptor with tl.make_tensor_descriptor, or pointers of "
     "tl.arange with a mask."),
    (r"must have equal ranks >= 2", "tl.dot multiplies blocks of two dimensions, (M, K) by (K, N)."),
    (r"Cannot access global variable (?P<name>\w+)",
     "A kernel does not see {name}: pass it as a tl.constexpr parameter, or define it as tl.constexpr(...)."),
    (r"Loop-carried variable (?P<name>\w+) has initial type",
     "{name} changes its type in the loop: give it its final type before the loop, with 0.0 or tl.zeros(..., "
     "dtype=tl.float32)."),
    (r"Unsupported function referenced: <function (?P<name>\w+)",
     "A kernel calls kernels only: put @triton.jit above {name} too."),
    (r"Unsupported function referenced|must be (real number|Tensor), not tensor",
     "Inside a kernel use triton.language only (tl.exp, tl.sum, tl.sigmoid ...): functions of torch, math and Python "
     "work on other types."),
    (r"simultaneous multiple comparison", "Write (a <= b) & (b < c): a kernel compares two things at a time."),
    (r"Boolean value of Tensor with more than one",
     "An `if` in a kernel decides for the whole program, by a single number: choose lane by lane with tl.where."),
    (r"Did you forget to add @triton\.jit", "triton.language works inside kernels only."),
    (r"only tuple comprehensions", "A kernel has no lists: take a block, or tl.static_range to unroll a loop."),
    (r"unsupported AST node type: Break|unsupported AST node type: Continue|`return` statements inside",
     "A loop of a kernel cannot be left early: let the bounds of its range, or the condition of a `while`, say where "
     "it ends."),
    (r"unsupported AST node type: (?P<name>\w+)",
     "A kernel cannot contain this ({name}): kernels use a small part of Python only."),
    (r"(?P<name>float|int)\(\) argument must be",
     "{name}() works on Python's numbers: convert a tensor with .to(tl.float32) or .to(tl.int32)."),
    (r"CompileTimeAssertionFailure",
     "A tl.static_assert of the kernel failed: either what it guards against happens, or the check is wrong. Sizes are "
     "arbitrary."),
    (r"missing a required argument: '(?P<name>\w+)'|dynamic_func\(\) missing \d+ required .*arguments?: (?P<names>.+)",
     "The launch passes no {name}: compare it with the kernel's parameters, strides and tl.constexpr ones included, in "
     "number and order."),
    (r"doesn't match the broadcast shape|must match the (size of tensor|existing size)|size mismatch",
     "Two tensors have different shapes: print both. A row, a column and a whole matrix are not the same."),
    (r"range must be a power of 2|[Ss]hape element \d+ must be a power of 2",
     "tl.arange and tl.zeros take powers of two only: make BLOCK = triton.next_power_of_2(n) and mask the lanes beyond "
     "the end."),
    (r"must be of type tl\.constexpr|must have type `constexpr",
     "A block size must be known when the kernel is compiled: declare the parameter as `BLOCK: tl.constexpr` and do "
     "not make shapes from ordinary arguments."),
    (r"exceeds triton maximum tensor numel",
     "The block is too large: let each program loop over its data in smaller blocks, or launch more programs."),
    (r"make_shape_compatible|[Cc]annot broadcast|could not be broadcast|incompatible dimensions",
     "Two blocks have different shapes. Compare the tl.arange of each: pointers, mask and value need one shape, and "
     "2-D offsets are written rows[:, None] and columns[None, :]."),
    (r"equal reduction dimensions|[Ff]irst input shape .* second input shape",
     "tl.dot multiplies (M, K) by (K, N): the second dimension of the first block must be the first of the second."),
    (r"(input|lhs|rhs|both).* must have shape.*16|should have.*M >= 16|minimum size|K >= 16",
     "tl.dot needs blocks of at least 16 in each dimension: keep blocks large and mask what lies beyond the matrix."),
    (r"cannot be block type if pointer argument is not a block",
     "The pointer is a single address, and the mask or the value a block: add the offsets, as in tl.load(x + offsets, "
     "mask=mask) and tl.store(out + offsets, value, mask=mask)."),
    (r"'dtype' object has no attribute 'numel'",
     "tl.sum, tl.max and their like take a block, and this is a single number: it needs no sum, or the load lacks its "
     "offsets."),
    (r"Unsupported ptr type|must be.*pointer type",
     "tl.load and tl.store need a pointer: pass the tensor itself to the kernel and add the offsets to it."),
    (r"`other` cannot be provided without `mask`", "other= is the value of masked lanes: give tl.load a mask as well."),
    (r"invalid operands of type pointer", "Offsets must be integers: use // for a division that makes an offset."),
    (r"Expected dtype .*fp.* but got",
     "tl.exp, tl.sqrt and their like take float32 or float64 alone: convert with .to(tl.float32) first."),
    (r"Scalar \S+ is out of range for type (?P<name>u?int(8|16))",
     "What is computed of {name} is {name} again, and this number does not fit: convert with .to(tl.int32) or "
     ".to(tl.float32) right after tl.load."),
    (r"program_id axis", "A grid has at most three axes: 0, 1 and 2."),
    (r"is not string", PRINTS),
    (r"__[gs]etitem__ is not supported|unsupported tensor index", ELEMENTS),
    (r"outside of the scope of a kernel|object of type 'int' has no len\(\)",
     "A kernel is launched as kernel[(programs,)](arguments): was the grid in square brackets forgotten, or is it a "
     "number in place of a tuple?"),
    (r"'float' object cannot be interpreted as an integer",
     "A size or grid is a float: divide with // or triton.cdiv, not with /."),
    (r"'function' object is not subscriptable",
     "Only a function with @triton.jit above it is launched with [grid]: is the decorator missing?"),
    (r"has no attribute '(?P<name>(float|fp)[48]\w+)'|type (?P<bare>fp[48]e\w+) not supported",
     "There is no {name} here, and no assignment needs 8-bit floats: keep sums in float32."),
    (r"has no attribute 'libdevice'",
     "libdevice is imported of its own: `from triton.language.extra import libdevice` at the top of the file."),
    (r"in Gluon", "This course's kernels are written with triton and triton.language."),
    (r"module 'triton\.language' has no attribute '(?P<name>\w+)'",
     "triton.language has no {name}: build it from tl.exp, tl.sum, tl.where and arithmetic."),
    (r"'NoneType' object has no attribute 'type'|has no attribute '(type|data_ptr)'",
     "A kernel takes tensors and numbers: pass the torch tensors themselves."),
    (r"specialize argument of type: (?P<name>[\w.]+)",
     "A kernel takes tensors and Python's own numbers, and is given a {name}: convert a number with int() or float()."),
    (r"missing \d+ required .*arguments?: (?P<name>.+)",
     "A call leaves out {name}: compare the call with the kernel's parameters, tl.constexpr ones included."),
    (r"Keyword argument (?P<name>\w+) was specified but unrecognised",
     "The kernel has no parameter {name}: compare the launch with the kernel's definition, letter by letter."),
    (r"unexpected keyword argument '?(?P<name>\w+)",
     "The function called has no parameter {name}: compare the call with its definition."),
    (r"takes .*positional arguments? but \d+ (was|were) given|too many positional arguments",
     "The call passes more arguments than the function has: compare the two."),
    (r"multiple values for argument '(?P<name>\w+)'", "{name} is passed twice, once by position and once by name."),
    (r"No module named '(?P<name>[\w.]+)'", NO_MODULE),
    (r"cannot import name '(?P<name>\w+)'",
     "{name} cannot be imported: each file stands alone, so copy what is needed into it."),
    (r"name '(?P<name>\w+)' is not defined|NameError: (?P<bare>\w+) is not defined|local variable '(?P<local>\w+)'",
     "Is {name} misspelt, not imported, or set only in a branch that did not run? A kernel sees its own parameters and "
     "global tl.constexpr values only."),
    (r"not enough values to unpack|too many values to unpack",
     "A shape is unpacked into the wrong number of names: (M, N) has two sizes and (N,) has one."),
    (r"out of bounds|index .* is out of|[Ii]ndexError", "An index lies outside its tensor: compare it with the shape."),
    (r"has no attribute '(?P<name>\w+)'", "There is no {name} here: check its spelling and what stands before it."),
    (r"division by zero|ZeroDivisionError",
     "Which size is 0 here? A size of 1 divided by a block gives 0: use triton.cdiv. A kernel without a sum or tl.dot "
     "may take no shared memory, which is 0 as well."),
    (r"RecursionError|maximum recursion depth",
     "A function calls itself without end: is a kernel or helper given the name of the function that launches it?"),
)

CLUES = (
    # A pointer that is indexed: Triton's own words are of something else.
    Clue(ELEMENTS, message=r"triton\.jit", line=r"[^#]*\w\[(?!.*(None|:))", kinds=COMPILING),
    Clue("triton.cdiv is for host code: in a kernel write tl.cdiv.",
         line=r".*\btriton\.cdiv\(", kinds=COMPILING),
    Clue("triton.next_power_of_2 is for host code: work it out there, and pass it as a tl.constexpr.",
         line=r".*\btriton\.next_power_of_2\(", kinds=COMPILING),
    Clue("A kernel calls kernels only, and this is a plain function: decorate it with @triton.jit.",
         message=r"outside of the scope of a kernel|forget to add @triton\.jit", kinds=COMPILING),
    *(Clue(hint, message) for message, hint in MESSAGES),
    # In a kernel's failure to compile, the assertion is one of Triton's own.
    Clue("An assertion of the submission failed: sizes are arbitrary, 1 and primes among them.",
         message="AssertionError", kinds=RAISED - COMPILING),
    Clue("Triton cannot compile this line: kernels use a small part of Python only.",
         message=r"CompilationError|UnsupportedLanguageConstruct"),
    Clue("The kernel fails at this line: check the shapes and types of what it combines.", message="triton"),
    Clue("The submission raises this itself: sizes are arbitrary, 1 and primes among them, and all must work.",
         line=r"\s*raise\b"),
    Clue("Do not call exit(), which ends the whole process: the function has to return.", message="SystemExit"),
    Clue("This is not the text of a program: is it a compiled or compressed file, or saved as UTF-16? Save it as "
         "UTF-8.",
         message="null byte", kinds=READING),
    Clue("An expression or block is nested too deeply: break it up into steps.",
         message=r"nested|RecursionError", kinds=READING),
)


def no_module(name: str) -> str:
    """What to do about an import of a module that is not there."""
    return ALLOCATE if name.partition(".")[0] in GPU_LIBRARIES else NO_MODULE.replace("{name}", name[:80])


def unwrap(message: str) -> str:
    """What Triton's compiler objects to, without what it prints around it."""
    found = re.match(r"(\w+): at \d+:\d+:\n.*\n[ \t]*\^[ \t]*\n?(.*)\Z", message, re.DOTALL)
    said = found[2].strip() if found else message
    if wrapped := re.fullmatch(r"""(\w+)\((['"])(.*)\2\)""", said, re.DOTALL):
        return f"{wrapped[1]}: {wrapped[3]}"
    return f"{found[1]}: {said or 'Triton cannot compile this line'}" if found else message


FAILURES = Failures(
    clues=CLUES, absent=ABSENT, gave_up=GAVE_UP, unwrap=unwrap, no_module=no_module,
    missing_function="Define {signature} at the top level of {file}, spelt exactly so.",
    wrong_signature="The function is called as {signature}: define it with these parameters, in this order, and no "
                    "others.",
    not_attempted="The function still raises NotImplementedError, as the template does: write the kernel, launch it, "
                  "and remove that line.",
    syntax_error="Python cannot read the file: look for an unclosed bracket, a missing colon or uneven indentation at "
                 "this line or the one before, and run `python {file}` before handing in.",
    import_error="The file fails while it is imported, before any function is called: keep code that runs out of the "
                 "top level.",
    compile_error="Triton cannot compile this line: kernels use a small part of Python only. What its language has is "
                  "in the documentation of triton.language.",
    exception="The function stops in this line: print the shapes that the line uses, for an input of these sizes.",
    wrong_memory="Either a function calls itself without end, or host code used an address as if it were the host's: "
                 "what data_ptr() returns is for kernels only.",
    aborts="A library aborted the process during the call: does a line use ctypes, a C extension or an address?",
    ends="The process ended during the call: does a line use ctypes, a C extension or an address?",
    exits="Do not call exit(), os._exit() or the like: the function has to return.",
)
