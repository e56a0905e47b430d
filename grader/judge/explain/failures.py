"""What to tell a student whose submission gave no answer: exceptions, crashes, time-outs, a function not found.

Texts that come from a worker are quoted, shortened and searched for known phrases; nothing is believed.
"""

from __future__ import annotations

import ast
import re
import signal as signals

from grader.assignment import Assignment
from grader.result import Detail, FailureKind, Place

MESSAGE_CHARACTERS = 500

# More than a block can hold (tl.TRITON_MAX_TENSOR_NUMEL): no partial block reaches so far past the end.
LARGEST_BLOCK = 1 << 20

# How many positional arguments tl.load and tl.store take before the mask.
BEFORE_MASK = {"load": 1, "store": 2}

ONE_TOO_FAR = "One element too far: does the mask say <= n where < n is meant, or is 1 added to the offsets?"

# Advice of the interpreter that the hint gives with more care.
SAID_TWICE = " Mask the lanes that lie outside: mask=offsets < n."

CRASHES = {
    signals.SIGSEGV: "Either memory far outside a tensor was touched (is a pointer made from a number, or an offset "
    "far too large?), or a function calls itself without end until the stack is full.",
    signals.SIGBUS: "A load or store outside its tensor: compare the largest offset that the mask lets through with "
    "the number of elements.",
    signals.SIGABRT: "A library gave up, usually after memory was overwritten: look for stores beyond the end of the "
    "output.",
    signals.SIGFPE: "An integer was divided by zero, or taken modulo zero: look at // and % on sizes and program ids.",
    signals.SIGILL: "The machine met an instruction it does not know, usually after memory was overwritten: look for "
    "stores beyond the end of the output.",
    signals.SIGKILL: "The system ended the process, as it does when memory runs out: allocate no more than the sizes "
    "of the inputs need, and keep tl blocks small.",
    signals.SIGXCPU: "It computed for longer than allowed: is there a loop that does not end, or a very small BLOCK?",
    signals.SIGSYS: "It asked the system for something that a submission may not do, such as network access.",
    signals.SIGXFSZ: "It wrote a file larger than allowed: the answer goes into the output tensor alone.",
}

# Searched for in this order in the message of an exception; the first that is found is told. An empty hint: the message
# itself says what to do.
PHRASES = (
    # A GPU and its driver.
    (r"misaligned address",
     "An address is no multiple of its element's size: is a pointer cast to another type, or do tl.multiple_of, "
     "tl.max_contiguous or tl.assume promise what does not hold for these sizes? Offsets count elements, not bytes."),
    (r"device-side assert",
     "A check on the GPU does not hold: a tl.device_assert of the kernel, or an index of a PyTorch call that lies "
     "outside its tensor."),
    (r"out of resource: (?P<name>[\w ]+), Required: \d+",
     "One program needs more {name} than the GPU has: make the tl blocks smaller, or num_stages fewer. The message "
     "says how much is needed and how much there is."),
    (r"invalid configuration argument|Triton Error \[CUDA\]: invalid argument",
     "The GPU cannot start this launch: no size of a grid may be 0, the second and third end at 65,535, and num_warps "
     "is a power of two up to 32."),
    (r"unspecified launch failure|illegal instruction|invalid program counter",
     "The GPU gave up in the middle of a kernel, usually after a load or store far outside its tensor. Without a GPU "
     "(--device cpu) the same kernel is told its line."),
    (r"launch timed out", "The kernel ran too long: is there a loop in it that does not end?"),
    (r"PassManager::run failed|Internal Triton PTX codegen error|ptxas|LLVM ERROR",
     "Triton's compiler fails on this kernel without naming a line: try smaller blocks and fewer num_stages, and leave "
     "out parts of the kernel until it compiles."),
    (r"Pointer argument .*cannot be accessed from Triton",
     "A tensor of the host is passed to a kernel, which reads the GPU's memory alone: copy it to the device first, "
     "with .to(out.device)."),
    (r"Expected all tensors to be on the same device",
     "A tensor on the host and one on the GPU meet: make new ones with device=out.device."),
    # Triton's compiler.
    (r"Cannot access global variable (?P<name>\w+)",
     "A kernel does not see {name}: pass it as a tl.constexpr parameter, or define it as tl.constexpr(...)."),
    (r"Loop-carried variable (?P<name>\w+) has initial type",
     "{name} changes its type in the loop: let it begin as what it becomes, such as 0.0 or tl.zeros(..., "
     "dtype=tl.float32)."),
    (r"Unsupported function referenced",
     "Inside a kernel use triton.language only (tl.exp, tl.sum, tl.sigmoid ...): torch, math and Python's own work on "
     "other types."),
    # Kernelmark's own interpreter.
    (r"^u?int\d+ overflow in",
     "Numbers in a kernel are int32 unless they pass 2**31 - 1: convert a factor of the product first, as in "
     "row.to(tl.int64) * stride."),
    (r"(device|static)_assert failed|what tl\.assume promises",
     "This is a check in the kernel itself: either what it guards against happens, or the check is wrong. Sizes and "
     "values are arbitrary."),
    (r"this program waits for another one", ""),
    (r"comparisons cannot be chained|is not accepted in a kernel|does not accept|cannot be (called|used|assigned|"
     r"defined)|cannot return from inside|a loop must go over|known at compile time|a condition (needs|must)|"
     r"decorate it with @triton\.jit|(float|int)\(\) of a tensor", ""),
    (r"is not part of Triton", "Inside a kernel use what triton.language has: tl.minimum, tl.maximum, tl.sum, ..."),
    (r"inline assembly|libdevice's|a kernel cannot be timed|needs a GPU",
     "Without a GPU, Triton's interpreter runs the kernel: write this part with triton.language alone, in fp16 or "
     "fp32."),
    (r"parameter `(?P<name>\w+)`: a kernel takes tensors and numbers, not numpy",
     "{name} is a NumPy array: pass the torch tensor itself."),
    (r"parameter `(?P<name>\w+)`: a kernel takes tensors and numbers",
     "{name} is neither: pass torch tensors and plain numbers, and tuples of them taken apart."),
    (r"the grid must|sizes of a grid must be integers|outside what CUDA can start",
     "A grid is a tuple of integers, one to three: (triton.cdiv(n, BLOCK),)."),
    (r"num_warps must be|given at the launch and by @triton\.autotune", ""),
    (r"missing a required argument: '(?P<name>\w+)'",
     "The launch passes no {name}: compare it with the kernel's parameters, strides and tl.constexpr ones included, in "
     "number and order."),
    (r"doesn't match the broadcast shape|must match the size of tensor|size mismatch",
     "Two tensors of different shapes meet: print both shapes. A row, a column and a whole matrix are not the same."),
    (r"range must be a power of 2|[Ss]hape element \d+ must be a power of 2",
     "tl.arange and tl.zeros take powers of two only: make BLOCK = triton.next_power_of_2(n) and mask the lanes beyond "
     "the end."),
    (r"must be of type tl\.constexpr|must have type `constexpr",
     "A block size must be known when the kernel is compiled: declare the parameter as `BLOCK: tl.constexpr` and do "
     "not make shapes from ordinary arguments."),
    (r"exceeds triton maximum tensor numel",
     "The block is too large: let each program loop over its data in smaller blocks, or launch more programs."),
    (r"make_shape_compatible|[Cc]annot broadcast|could not be broadcast|incompatible dimensions",
     "Two blocks of different shapes meet. Compare the tl.arange of each: pointers, mask and value need one shape, and "
     "2-D offsets are written rows[:, None] and columns[None, :]."),
    (r"equal reduction dimensions|[Ff]irst input shape .* second input shape",
     "tl.dot multiplies (M, K) by (K, N): the second dimension of the first block must be the first of the second."),
    (r"(input|lhs|rhs|both).* must have shape.*16|should have.*M >= 16|minimum size|K >= 16",
     "tl.dot needs blocks of at least 16 in each dimension: keep blocks large and mask what lies beyond the matrix."),
    (r"cannot be block type if pointer argument is not a block",
     "A block of values is stored to a single address: add the offsets, as in tl.store(out + offsets, value, mask)."),
    (r"Unsupported ptr type|must be.*pointer type",
     "tl.load and tl.store need a pointer: pass the tensor itself to the kernel and add the offsets to it."),
    (r"`other` cannot be provided without `mask`", "other= is what masked lanes get; give tl.load a mask as well."),
    (r"invalid operands of type pointer", "Offsets must be integers: use // for a division that makes an offset."),
    (r"Expected dtype .*fp.* but got",
     "tl.exp, tl.sqrt and their like take floating-point values: convert with .to(tl.float32) first."),
    (r"program_id axis", "A grid has at most three axes: 0, 1 and 2."),
    (r"outside of the scope of a kernel|no attribute 'scalar'|object of type 'int' has no len\(\)",
     "A kernel is launched as kernel[(programs,)](arguments): was the grid in square brackets forgotten, or is it a "
     "number in place of a tuple?"),
    (r"'float' object cannot be interpreted as an integer",
     "A size or grid is a float: divide with // or triton.cdiv, not with /."),
    (r"'function' object is not subscriptable",
     "Only a function with @triton.jit above it is launched with [grid]: is the decorator missing?"),
    (r"must be Tensor, not tensor|only length-1 arrays can be converted",
     "Inside a kernel use triton.language only (tl.exp, tl.sum, tl.sigmoid ...): torch and math work on other types."),
    (r"Torch not compiled|accelerator|pin_memory|NVTX|_cuda_|for cuda devices|"
     r"CUDA (GPU|tensor|generator|support|enabled)|"
     r"\b(requires?|needs?|expects?|expected|without|no|on) (a |the )?(CUDA|NVIDIA)\b",
     "Where there is no GPU, every tensor lives on the CPU: allocate with device=x.device. Requests for `cuda`, pinned "
     "memory, streams and events are answered there all the same, and checks that raise, exit or return without a "
     "GPU are skipped: write this one in such a way, or leave it out."),
    (r"module 'triton\.language' has no attribute '(?P<name>\w+)'",
     "triton.language has no {name}: build it from tl.exp, tl.sum, tl.where and arithmetic."),
    (r"'NoneType' object has no attribute 'type'|has no attribute '(type|data_ptr)'",
     "A kernel takes tensors and numbers: pass the torch tensors themselves."),
    (r"missing \d+ required .*arguments?: (?P<name>.+)",
     "A call leaves out {name}: compare the call with the kernel's parameters, tl.constexpr ones included."),
    (r"Keyword argument (?P<name>\w+) was specified but unrecognised",
     "The kernel has no parameter {name}: compare the launch with the kernel's definition, letter by letter."),
    (r"unexpected keyword argument '?(?P<name>\w+)",
     "The function called has no parameter {name}: compare the call with its definition."),
    (r"takes .*positional arguments? but \d+ (was|were) given|too many positional arguments",
     "The call passes more arguments than the function has: compare the two."),
    (r"multiple values for argument '(?P<name>\w+)'", "{name} is passed twice, once by place and once by name."),
    (r"No module named '(?P<name>[\w.]+)'",
     "{name} is not there: each file stands alone. Import torch and triton only, and copy helpers into the file."),
    (r"cannot import name '(?P<name>\w+)'",
     "{name} cannot be imported: each file stands alone, so copy what is needed into it."),
    (r"name '(?P<name>\w+)' is not defined|NameError: (?P<bare>\w+) is not defined|local variable '(?P<local>\w+)'",
     "Is {name} misspelt, not imported, or set only in a branch that did not run? A kernel sees its own parameters and "
     "global tl.constexpr values only."),
    (r"not enough values to unpack|too many values to unpack",
     "A shape is taken apart into the wrong number of names: (M, N) has two sizes and (N,) has one."),
    (r"out of bounds|index .* is out of|[Ii]ndexError", "An index lies outside its tensor: compare it with the shape."),
    (r"has no attribute '(?P<name>\w+)'", "There is nothing called {name} here: check its spelling and whose it is."),
    (r"division by zero|ZeroDivisionError",
     "Which size is 0 here? A size of 1 divided by a block gives 0: use triton.cdiv."),
    (r"RecursionError|maximum recursion depth",
     "A function calls itself without end: is a kernel or helper given the name of the function that launches it?"),
    (r"AssertionError", "An assertion of the submission does not hold: sizes are arbitrary, 1 and primes among them."),
    (r"CompilationError|unsupported AST", "Triton cannot compile this line: kernels use a small part of Python only."),
    (r"InterpreterError|triton", "The kernel fails at this line: check the shapes and types of what it combines."),
)

# As PHRASES, of a file that cannot be read; the first group is a number of bytes.
UNREADABLE = (
    (r"symbolic link out of", "What a link points to is not handed in: put the file itself in its place."),
    (r"symbolic links? (to nothing|in a circle)|Too many levels",
     "The link leads nowhere: put the file itself in its place."),
    (r"not a regular file", "A folder, pipe or device has the file's name: hand in an ordinary file."),
    (r"at most ([\d,]+)",
     "{file} may have {bytes} bytes, many times what a kernel needs: take out data and generated text."),
    (r"cannot be read", "The file's permissions do not let the grader read it: hand it in again, readable for all."),
    (r"nests too deeply|nested deeper", "An expression or block has too many levels: break it up into steps."),
    (r"null byte",
     "This is not the text of a program: is it a compiled or compressed file, or saved as UTF-16? Save it as UTF-8."),
    (r"", "Save {file} as UTF-8: an editor's “Save with encoding” does it, or leave out what is not ASCII."),
)

HINTS: dict[str, str] = {
    "missing_file": "Hand in a file named {file}, spelt just so, in the submission's folder.",
    "missing_function": "Define {signature} at the top level of {file}; the name must be spelt just so.",
    "wrong_signature": "The function is called with the arguments of {signature}, in this order and nothing else.",
    "not_attempted": "The function still raises NotImplementedError, as the template does: write the kernel, launch "
    "it, and remove that line.",
    "syntax_error": "Python cannot read the file: look for an unclosed bracket, a missing colon or uneven indentation "
    "at this line or the one before, and run `python {file}` before handing in.",
    "time_out": "Look for a loop that does not end (a `while`, or a step of 0), and for a block size so small that "
    "millions of programs run: each program should work on hundreds of elements or more.",
    "out_of_memory": "Allocate no more than the sizes of the inputs need; a block of BLOCK_M x BLOCK_N elements costs "
    "memory, too.",
    "too_many_programs": "Let each program work on a block of hundreds of elements, and launch triton.cdiv(n, BLOCK) "
    "programs.",
    "over_limit": "A submission computes with kernels: it starts no processes, and writes next to nothing to files and "
    "to its output.",
    "protocol": "The submission must not close, print to or write into file descriptors that it did not open.",
    "infrastructure": "This is a failure of the grader's machine, not of the submission: it costs no points and is to "
    "be graded again.",
    "unsupported": "Triton's interpreter, which runs the kernel where there is no GPU, cannot do this: write it in "
    "another way.",
    "import_error": "The file fails while it is imported, before any function is called: keep code that runs out of "
    "the top level.",
    "no_kernel": "The work must be done by a Triton kernel of the submission.",
    "late_write": "Everything the function starts must have finished when it returns.",
    "exception": "The line named here is where it stops: print the shapes and values that it uses, on an input of "
    "these sizes.",
}


def explain_failure(
    assignment: Assignment, kind: str, message: str, *, line: int = 0, text: str = "", signal: int | None = None
) -> Detail:
    """Why there is no answer, and where to look.

    `kind` is a FailureKind, or "unsupported"; `message` is what the worker or the judge said, `line` and `text` the
    line of the student's file (0 and "" if none is known), `signal` the number of the signal that ended the worker.
    """
    kind_shown: FailureKind = "exception" if kind == "unsupported" else kind  # type: ignore[assignment]
    message = _unwrapped(message)
    return Detail(
        kind=kind_shown,
        message=_plain(message) or kind.replace("_", " "),
        hint=_hint(assignment, kind, message, text, signal),
        place=Place(file=assignment.file, line=line, text=text) if line else None,
    )


def _hint(assignment: Assignment, kind: str, message: str, text: str, signal: int | None) -> str:
    if kind == "crash":
        return _crash(message, signal)
    if kind == "exception" and "NotImplementedError" in message:
        kind = "not_attempted"
    if kind in ("exception", "import_error", "unsupported"):
        if (told := _phrase(message)) is not None:
            return told
        if re.match(r"\s*raise\b", text):
            return "The submission itself raises this: sizes are arbitrary, 1 and primes among them, and all must work."
        if "SystemExit" in message:
            return "Do not call exit(): it ends the whole process, and the function is to return."
    if kind == "out_of_bounds":
        return _bounds(message, text)
    if kind == "unreadable_source":
        return _unreadable(message, assignment.file)
    if kind == "time_out" and re.match(r"\s*while\b", text):
        return "The time ran out in this loop: does its condition ever become false?"
    return HINTS.get(kind, HINTS["exception"]).format(file=assignment.file, signature=assignment.signature)


def _crash(message: str, signal: int | None) -> str:
    if signal in set(signals.Signals) and (hint := CRASHES.get(signals.Signals(signal))):
        return hint
    if signal is None and "exited by itself" in message:
        return "Do not call exit(), os._exit() or the like: the function is to return."
    return "The process ended in the middle of the call: look for loads and stores outside their tensors."


def _bounds(message: str, text: str) -> str:
    """What a load or store outside its tensor shows by itself; `text` is its line, or the first of its lines."""
    if "illegal memory access" in message:
        return ("A load or store lies outside every tensor: is a mask missing, or a stride that of another matrix? A "
                "GPU does not tell which it was; graded with --device cpu, the report names the line and the tensor.")
    if "before the start" in message:
        return "Offsets below 0: something is subtracted from them that is not masked, or a number wrapped around."
    found = re.search(r"up to ([\d,]+) elements? past the end", message)
    far = int(found[1].replace(",", "")[:18] or 0) if found else 0
    if far == 1:
        return ONE_TOO_FAR
    if far > LARGEST_BLOCK:
        return (f"No block is large enough to reach {far:,} elements past the end: the offsets themselves are wrong, "
                "not their mask alone. What are tl.program_id and the strides multiplied by, and what is added?")
    action = _unmasked(text)
    if action:
        other = ", other=0.0" if action == "load" else ""
        return (f"This tl.{action} has no mask, and the last block reaches past the end: add mask=offsets < n{other}. "
                "In a matrix compare rows and columns, each with its own size.")
    return ("Does the mask compare the offsets with the right size, in each dimension? And element (i, j) of a matrix "
            "with C columns lies at i * C + j: is C the number of columns of this very tensor?")


def _unmasked(text: str) -> str:
    """"load" or "store" if the line is such a call, complete and without a mask; "" otherwise."""
    try:
        tree = ast.parse(text.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
             and node.func.attr in BEFORE_MASK]
    if len(calls) != 1:
        return ""
    (call,) = calls
    assert isinstance(call.func, ast.Attribute)
    named = {keyword.arg for keyword in call.keywords}
    starred = None in named or any(isinstance(argument, ast.Starred) for argument in call.args)
    masked = len(call.args) > BEFORE_MASK[call.func.attr] or named & {"mask", "boundary_check"}
    return "" if starred or masked else call.func.attr


def _unreadable(message: str, file: str) -> str:
    for pattern, hint in UNREADABLE:
        if (found := re.search(pattern, message)) is not None:
            return hint.replace("{file}", file).replace("{bytes}", found[1] if found.lastindex else "")
    return ""


def _unwrapped(message: str) -> str:
    """What Triton's compiler or an allocator objects to, without what they print around it."""
    if found := re.search(r"tried to allocate ([\d.]+ ?\w+)", message, re.IGNORECASE):
        return f"out of memory: it tried to allocate {found[1]}"
    found = re.match(r"(\w+): at \d+:\d+:\n.*\n[ \t]*\^[ \t]*\n?(.*)\Z", message, re.DOTALL)
    if not found:
        return message
    said = found[2].strip()
    if wrapped := re.fullmatch(r"""(\w+)\((['"])(.*)\2\)""", said, re.DOTALL):
        return f"{wrapped[1]}: {wrapped[3]}"
    return f"{found[1]}: {said or 'Triton cannot compile this line'}"


def _phrase(message: str) -> str | None:
    for pattern, hint in PHRASES:
        if (found := re.search(pattern, message)) is not None:
            names = [value for value in found.groupdict().values() if value]
            # str.replace, not str.format: the name is the student's text.
            return hint.replace("{name}", names[0][:80]) if names else hint
    return None


def _plain(message: str) -> str:
    """One line of printable text; the interpreter's wrapping of another exception is taken off."""
    message = " ".join("".join(c if c.isprintable() else " " for c in message).split()).removesuffix(SAID_TWICE)
    wrapped = re.match(r"""(?:[\w.]*InterpreterError: )?(?:InterpreterError\()?(\w+)\((['"])(.*)\2\)\W*$""", message)
    if wrapped and "InterpreterError" in message:
        message = f"{wrapped[1]}: {wrapped[3]}"
    if len(message) > MESSAGE_CHARACTERS:
        message = message[: MESSAGE_CHARACTERS - 1] + "…"
    return message
