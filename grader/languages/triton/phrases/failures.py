"""Messages of Python, PyTorch, Triton and the GPU's driver, and what to do about each."""

from __future__ import annotations

import re
from collections.abc import Mapping

from grader.languages.phrases import RAISED, Clue, Failing, Failures
from grader.languages.triton.phrases.kernels import COMPILING, OBJECTIONS
from grader.languages.triton.phrases.refusals import ABSENT
from grader.plan import compiled

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
CLUSTERS = (
    "num_ctas joins programs to clusters, which no assignment needs: leave it out. The grid sets the number of "
    "programs."
)

GAVE_UP: Mapping[compiled.Reason, str] = {
    "shared_memory": SHARED.format(name="shared memory"),
    "too_slow": "A block of very many elements, and each step of a tl.static_range, becomes instructions of its own: "
    "use smaller blocks, and an ordinary `range` for long loops.",
    "too_large": GIVES_UP,
}

MESSAGES = (
    # A GPU and its driver.
    (r"[Mm]isaligned address",
     "An address is not a multiple of its element's size: is a pointer cast to another type, or do tl.multiple_of, "
     "tl.max_contiguous or tl.assume promise what is not true for these sizes? Offsets count elements, not bytes."),
    (r"[Dd]evice-side assert",
     "A check on the GPU failed: a tl.device_assert of the kernel, or an index of a PyTorch call that lies "
     "outside its tensor."),
    (r"num_warps[ =]|out of resource: threads|for &: 'float' and 'float'", WARPS),
    (r"out of resource: (?P<name>[\w ]+), Required: \d+", SHARED),
    (r"num_ctas=", CLUSTERS),
    (r"^ValueError: (num_stages|maxnreg)=", ""),
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
    (r"PassManager::run failed|Internal Triton PTX codegen|ptxas|LLVM ERROR|the compiler was ended", GIVES_UP),
    (r"which is allocated in host memory",
     "Allocate it on the GPU, as in torch.empty(n, device=\"cuda\")."),
    (r"Pointer argument .*cannot be accessed from Triton",
     "A tensor in host memory is passed to a kernel, which reads the GPU's memory only: copy what is needed of it to "
     "the device first, a view such as matrix[:, 0], and not all of it."),
    (r"Expected all tensors to be on the same device",
     "One operation uses a tensor on the host and one on the GPU: allocate new ones with device=out.device."),
    (r"kernels have no (?P<name>torch\.\w+)",
     "Triton has no {name}, so that host code cannot fill or copy one: keep the two parts of complex numbers as "
     "float32, and other bits as uint8. A view as one of these, x.view(torch.uint8), has the same memory."),
    # Launches and other host code.
    (r"Did you forget to add @triton\.jit",
     "tl.load, tl.arange and their like work inside kernels only. If this is a kernel's line, put @triton.jit above "
     "its `def`, and launch it as kernel[(programs,)](arguments); host code does without them."),
    (r"argument of type: torch\.dtype",
     "A kernel takes no types of torch: that of the elements behind a pointer is x_ptr.dtype.element_ty."),
    (r"name '?(?P<name>tl|triton|torch|math|np)'? is not|NameError: (?P<bare>tl|triton|torch|math|np) is not",
     "Import {name} at the top of the file, as in `import triton.language as tl`."),
    (r"CompiledKernel",
     "A launch gives nothing back: pass a tensor to the kernel, and let it tl.store there what it has found."),
    (r"missing a required argument: '(?P<name>\w+)'|dynamic_func\(\) missing \d+ required .*arguments?: (?P<names>.+)",
     "The launch passes no {name}, or leaves out one before it, or spells it otherwise: compare it with the kernel's "
     "parameters, strides and tl.constexpr ones included, in number and order."),
    (r"doesn't match the broadcast shape|must match the (size of tensor|existing size)|size mismatch",
     "Two tensors have different shapes: print both. A row, a column and a whole matrix are not the same."),
    (r"outside of the scope of a kernel",
     "A kernel is launched as kernel[(programs,)](arguments), with the grid in square brackets."),
    (r"'function' object is not subscriptable", "Only a function with @triton.jit above it is launched with [grid]."),
    (r"object of type 'int' has no len\(\)",
     "The grid is a tuple, also for one number, and also where a function gives it: (programs,), with a comma."),
    (r"'(numpy\.)?float\d*' object cannot be interpreted as an integer",
     "A size or grid is a float: divide with // or triton.cdiv, not with /."),
    (r"'(bool|int|tuple|torch\.\w+)' object is not callable|'(builtin_function_or_method|method)'",
     "Brackets are missing or too many: x.shape, x.dtype, x.device, x.is_cuda and x.T stand without, x.numel(), "
     "x.size(0), x.stride(0) and x.dim() with them."),
    (r"object has no attribute 'arg_names'",
     "triton.autotune and triton.heuristics stand above @triton.jit, and the kernel needs that, too."),
    (r"Conflicting meta-parameters: (?P<name>\w+)",
     "{name} is triton.autotune's to choose: leave it out of the launch."),
    (r"<lambda>\(\) takes 0 positional",
     "The function of a grid gets the kernel's parameters: lambda meta: (triton.cdiv(n, meta[\"BLOCK\"]),)."),
    (r"has no attribute '(?P<name>(float|fp)[48]\w+)'|type (?P<bare>fp[48]e\w+) not supported",
     "There is no {name} here, and no assignment needs 8-bit floats: keep sums in float32."),
    (r"has no attribute 'libdevice'",
     "libdevice needs an import of its own: `from triton.language.extra import libdevice` at the top of the file."),
    (r"in Gluon", "This course's kernels are written with triton and triton.language."),
    (r"module 'triton\.language' has no attribute '(?P<name>transpose|t|T|permute_dims|swapaxes)'",
     "triton.language has no {name}: tl.trans transposes a tile."),
    (r"module 'triton\.language' has no attribute '(?P<name>matmul|mm|mma|gemm|einsum|inner)'",
     "triton.language has no {name}: tl.dot multiplies two tiles."),
    (r"module 'triton\.language' has no attribute '(?P<name>mean|average|norm|var|std)'",
     "triton.language has no {name}: divide what tl.sum gives by the number of elements."),
    (r"module 'triton\.language' has no attribute '(?P<name>\w+)'",
     "triton.language has no {name}: build it from tl.exp, tl.sum, tl.where and arithmetic."),
    (r"specialize argument of type: (?P<name>[\w.]+)",
     "A kernel takes tensors and Python's own numbers, and is given a {name}: pass sizes one by one, and convert a "
     "number with int() or float()."),
    (r"Keyword argument (?P<name>\w+) was specified but unrecognised",
     "The kernel has no parameter {name}: compare the launch with the kernel's definition, letter by letter."),
    (r"\b(?P<function>\w+)\(\) got an unexpected keyword argument '?(?P<name>\w+)",
     "{function} has no parameter {name}: compare the call with its definition."),
    (r"missing \d+ required .*arguments?: (?P<name>.+)",
     "A call leaves out {name}: compare the call with the kernel's parameters, tl.constexpr ones included."),
    (r"takes .*positional arguments? but \d+ (was|were) given|too many positional arguments",
     "The call passes more arguments than the function has: compare the two."),
    (r"multiple values for argument '(?P<name>\w+)'", "{name} is passed twice, once by position and once by name."),
    (r"No module named '(?P<name>[\w.]+)'", NO_MODULE),
    (r"cannot import name '(?P<name>\w+)'",
     "{name} cannot be imported: each file stands alone, so copy what is needed into it."),
    (r"name '(?P<name>\w+)' is not defined|NameError: (?P<bare>\w+) is not defined|local variable '(?P<local>\w+)'",
     "Is {name} misspelt, not imported, or set only in a branch or another loop? In a kernel, what only a loop sets "
     "does not exist after that loop: load or compute it again. A kernel sees its own parameters and global "
     "tl.constexpr values only."),
    (r"not enough values to unpack|too many values to unpack",
     "A shape is unpacked into the wrong number of names: (M, N) has two sizes and (N,) has one."),
    (r"Dimension out of range", "The tensor has fewer dimensions than this asks for: look at its shape."),
    (r"out of bounds|index .* is out of|[Ii]ndexError", "An index lies outside its tensor: compare it with the shape."),
    (r"has no attribute '(?P<name>\w+)'", "There is no {name} here: check its spelling and what stands before it."),
    (r"division by zero|ZeroDivisionError",
     "Which size is 0 here? A size of 1 divided by a block gives 0: use triton.cdiv. A kernel without a sum or tl.dot "
     "may take no shared memory, which is 0 as well."),
    (r"RecursionError|maximum recursion depth",
     "A function calls itself without end: is a kernel or helper given the name of the function that launches it?"),
)

CLUES = (
    *OBJECTIONS,
    Clue("{signature} is called as an ordinary function, which launches a kernel: take @triton.jit off it, and give a "
         "kernel another name.",
         message="outside of the scope of a kernel", line=r"\Z"),
    Clue("tl.{name} is for kernels: in host code write triton.cdiv, or what Python and torch have.",
         message="outside of the scope of a kernel", line=r".*\btl\.(?P<name>\w+)\("),
    Clue("{function} is no kernel here, but the function that launches it: where two have one name, the later one "
         "takes it. Give the kernel another name.",
         message="'function' object is not subscriptable", line=r".*\b{function}\["),
    Clue("{name} is an ordinary function, and only a kernel is launched with [grid]: put @triton.jit above it.",
         message="'function' object is not subscriptable", line=r".*?(?<![.\w])(?P<name>\w+)\["),
    Clue("The function of a grid finds the kernel's parameters under their names, and {name} is none of them: spell it "
         "as the kernel does.",
         message=r"KeyError: '(?P<name>\w+)'", line=r".*\[(['\"]){name}\1\]"),
    Clue("A kernel is launched as kernel[(programs,)](arguments): <<<...>>> is CUDA C++.", line=".*<<<", kinds=READING),
    *(Clue(hint, message) for message, hint in MESSAGES),
    Clue("A descriptor takes tensors that begin, and whose rows begin, at multiples of 16 bytes, which most sizes do "
         "not give: load and store by pointers with a mask, at least there.",
         message=r"(?:strides|base) must be 16-byte aligned", kinds=RAISED - COMPILING),
    # In a kernel's failure to compile, the assertion is one of Triton's own.
    Clue("An assertion of the submission failed: sizes are arbitrary, 1 and primes among them.",
         message="AssertionError", kinds=RAISED - COMPILING),
    Clue("The kernel fails at this line: check the shapes and types of what it combines.", message="triton"),
    Clue("The submission raises this itself: sizes are arbitrary, 1 and primes among them, and all must work.",
         line=r"\s*raise\b"),
    Clue("Do not call exit(), which ends the whole process: the function has to return.", message="SystemExit"),
    Clue("A blank in this line looks like one and is none, as it comes from a web page, a PDF or a chat: type the "
         "blanks of the line anew, or let an editor replace U+{name}.",
         message=r"invalid non-printable character U\+(?P<name>[0-9A-F]+)", kinds=READING),
    Clue("{name} is no sign of Python: word processors and web pages write curly quotes, dashes and other signs in "
         "place of \", ' and -. Type it anew.",
         message=r"invalid character '(?P<name>.)'", kinds=READING),
    Clue("This is not the text of a program: is it a compiled or compressed file, or saved as UTF-16? Save it as "
         "UTF-8.",
         message="null byte", kinds=READING),
    Clue("An expression or block is nested too deeply: break it up into steps.",
         message=r"nested|RecursionError", kinds=READING),
)


def no_module(name: str) -> str:
    """Return the hint for an import of a module that is missing."""
    return ALLOCATE if name.partition(".")[0] in GPU_LIBRARIES else NO_MODULE.replace("{name}", name[:80])


def unwrap(message: str) -> str:
    """Return the objection of Triton's compiler, without the text that it prints around that."""
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
    compile_error="Triton cannot compile this line, for the reason in the message: compare what it calls, with how "
                  "many arguments, of which types and shapes, with the documentation of triton.language.",
    exception="The function stops in this line: print the shapes that the line uses, for an input of these sizes.",
    wrong_memory="Either a function calls itself without end, or host code used an address as if it were the host's: "
                 "what data_ptr() returns is for kernels only.",
    aborts="A library aborted the process during the call: does a line use ctypes, a C extension or an address?",
    ends="The process ended during the call: does a line use ctypes, a C extension or an address?",
    exits="Do not call exit(), os._exit() or the like: the function has to return.",
)
