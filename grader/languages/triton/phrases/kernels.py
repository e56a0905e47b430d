"""The objections of Triton's compiler to a kernel, and what to write instead."""

from __future__ import annotations

from functools import partial

from grader.languages.phrases import Clue, Failing

COMPILING: frozenset[Failing] = frozenset({"compile_error"})

ELEMENTS = (
    "A pointer or a block of a kernel is not indexed with [...]: load with tl.load(pointer + offsets, mask), and store "
    "with tl.store(pointer + offsets, value, mask). Of a block that is loaded, tl.where(condition, x, y) chooses lane "
    "by lane, and tl.sum(tl.where(lanes == i, x, 0)) is element i."
)
PRINTS = "In a kernel, print takes a text first and then the block, without braces: tl.device_print(\"x\", x)."
PLAIN = (
    "Inside a kernel use triton.language only (tl.exp, tl.sum, tl.sigmoid ...): functions of torch, math and Python "
    "work on other types."
)
CHOOSES = (
    "An `if` in a kernel decides for the whole program, by a single number: choose lane by lane with tl.where, or "
    "leave lanes out with a mask."
)
BLOCKS_OF = (
    "Blocks are made by the kernel: of offsets by tl.arange(0, BLOCK), of one number by tl.zeros or tl.full. Lists, "
    "ranges and tensors of other libraries are not blocks."
)
SIZES = "A kernel sees addresses, not tensors: pass it the size or stride as an argument, n = x.numel() in host code."
# Names of triton.language that students may know from Python, NumPy or PyTorch.
LANGUAGE = (
    "abs", "arange", "atomic_add", "broadcast_to", "cdiv", "constexpr", "cos", "cumsum", "dot", "exp", "exp2",
    "float16", "float32", "float64", "floor", "full", "int32", "int64", "load", "log", "maximum", "minimum",
    "num_programs", "program_id", "reshape", "rsqrt", "sigmoid", "sin", "softmax", "sqrt", "static_range", "store",
    "sum", "trans", "where", "zeros",
)

_of = partial(Clue, kinds=COMPILING)
MESSAGES = (
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
    (r"KeyError: \w+\.(?P<name>\w+?)__P?\w",
     "{name} calls itself, directly or through another function, and Triton compiles no recursion: write a loop."),
    (r"Cannot access global variable (?P<name>\w+)",
     "A kernel does not see {name}: pass it as a tl.constexpr parameter, or define it as tl.constexpr(...)."),
    (r"Loop.carried variable (?P<name>\w+)|cannot reassign constexpr (?P<bare>\w+) in",
     "{name} changes its type or shape in the loop: give it the final one before the loop, with 0.0 or "
     "tl.zeros((BLOCK,), dtype=tl.float32)."),
    (r"Unsupported function referenced: <function (?P<name>\w+)",
     "A kernel calls kernels only: put @triton.jit above {name} too."),
    (r"Unsupported function referenced|must be (real number|Tensor), not tensor", PLAIN),
    # Functions of Python and PyTorch that kernels have under other names.
    (r"\b__r?pow__|\bpow is not|attribute 'pow'",
     "Kernels have no powers: write x * x and x * x * x; a root is tl.sqrt(x) or tl.rsqrt(x), and any other power of "
     "positive numbers tl.exp(p * tl.log(x))."),
    (r"'MatMult'|attribute '(matmul|mm|bmm)'", "Blocks are multiplied as matrices with tl.dot(a, b)."),
    (r"attribute 'inf'", "Infinity is float(\"inf\"), also in a kernel: other=-float(\"inf\")."),
    (r"attribute 'mean'", "A kernel has no mean: write tl.sum(x, axis=0) / n, with other=0.0 where a mask leaves out."),
    (r"attribute 'tanh'|\btanh is not", "tl has no tanh: write 2 * tl.sigmoid(2 * x) - 1, or take libdevice's."),
    (r"attribute '(thread|block|lane|warp)_?(id|idx|dim)x?'",
     "A kernel has no threads of its own: a program works on a block, at tl.program_id(0) * BLOCK + tl.arange(0, "
     "BLOCK)."),
    (r"requires at least 2 values",
     "Python's max and min compare two things lane by lane: the largest and smallest of one block are tl.max(x, "
     "axis=0) and tl.min(x, axis=0)."),
    (rf"\b(?P<name>{'|'.join(LANGUAGE)}) is not defined", "In a kernel this is tl.{name}."),
    (r"unexpected type (fp|bf)\d+|operands of type triton\.language\.b?float(?!.*pointer)",
     "`//`, and the operators for bits, take integers alone: divide floats with /."),
    (r"'torch\.dtype' object",
     "Types in a kernel are Triton's own, such as tl.float32; that of the elements behind a pointer is "
     "x_ptr.dtype.element_ty."),
    (r"'(numpy\.ndarray|range|list|tuple|tuple_type|str|dict|Tensor)' object has no", BLOCKS_OF),
    (r"`?range`? and `?static_range`?|[Uu]pper bound must be a scalar|'tensor' object is not iterable",
     "A loop runs over `range` or tl.static_range, of single numbers. The lanes of a block need no loop: what is done "
     "with a block is done with all of them."),
    (r"bounds and step must all be ints",
     "`range` takes whole numbers: divide with tl.cdiv(n, BLOCK) or //, not with /."),
    (r"arange\(\) got multiple values",
     "tl.arange takes a start and an end, and no step: write tl.arange(0, B // 2) * 2 for every second number."),
    (r"\b(?P<name>\w+)\(\) got multiple values for argument '_semantic'",
     "tl.{name} takes fewer arguments than these."),
    (r"\b(?P<function>\w+)\(\) got an unexpected keyword argument '?(?P<name>\w+)",
     "{function} has no parameter {name}: compare the call with its definition. Triton's own are mask, other, axis and "
     "dtype."),
    (r"invalid axis", "axis counts the dimensions of a block from 0: a block of one dimension has axis 0 alone."),
    (r"operands must be same dtype|[Ee]ither both operands",
     "tl.dot multiplies two blocks of one type: convert the one, as in a.to(tl.float32), or neither."),
    (r"op operand #\d+ must be 1-bit signless integer, but got 'tensor", CHOOSES),
    (r"must be 1-bit signless integer|[Mm]ask must have boolean",
     "A mask is a comparison, lane by lane: mask=offsets < n, not mask=n."),
    (r"\{true_value, false_value",
     "tl.where chooses between two blocks of one type: a pointer and a number do not go together."),
    (r"simultaneous multiple comparison", "Write (a <= b) & (b < c): a kernel compares two things at a time."),
    (r"Boolean value of Tensor with more than one", CHOOSES),
    (r"only tuple comprehensions|is not in list",
     "A kernel has no lists: take a block, or a variable that each round of a loop adds to."),
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
    (r"range must be a power of 2|[Ss]hape element \d+ must be a power of 2",
     "tl.arange and tl.zeros take powers of two only{constants}: make BLOCK = triton.next_power_of_2(n), and mask the "
     "lanes beyond the end. Or does the launch pass its arguments in another order than the kernel's parameters?"),
    (r"must be of type tl\.constexpr|must have type `constexpr",
     "A block size is a whole number that is known when the kernel is compiled{constants}: declare it as `BLOCK: "
     "tl.constexpr`, pass it in its place, and do not make shapes from ordinary arguments."),
    (r"exceeds triton maximum tensor numel",
     "The block is too large: let each program loop over its data in smaller blocks, or launch more programs."),
    (r"make_shape_compatible|[Cc]annot broadcast|could not be broadcast|incompatible dimensions|to have shape",
     "Two blocks have different shapes. Compare the tl.arange of each: pointers, mask and value need one shape, and "
     "2-D offsets are written rows[:, None] and columns[None, :]."),
    (r"equal reduction dimensions|[Ff]irst input shape .* second input shape",
     "tl.dot multiplies (M, K) by (K, N): the second dimension of the first block must be the first of the second."),
    (r"(input|lhs|rhs|both).* must have shape.*16|should have.*M >= 16|minimum size|K >= 16",
     "tl.dot needs blocks of at least 16 in each dimension{all}: keep blocks large and mask what lies beyond the "
     "matrix."),
    (r"cannot be block type if pointer argument is not a block",
     "The pointer is a single address, and the mask or the value a block: add the offsets, as in tl.load(x + offsets, "
     "mask=mask) and tl.store(out + offsets, value, mask=mask)."),
    (r"'dtype' object has no attribute 'numel'",
     "tl.sum, tl.max and their like take a block, and this is a single number: it needs no sum, or the load lacks its "
     "offsets."),
    (r"Unsupported ptr type|must be.*pointer type",
     "tl.load and tl.store need a pointer first, as in tl.store(out + offsets, value, mask): pass the tensor itself to "
     "the kernel, in the place of the pointer, and add the offsets to it."),
    (r"`other` cannot be provided without `mask`", "other= is the value of masked lanes: give tl.load a mask as well."),
    (r"invalid operands of type pointer\S+ and triton\.language\.(fp|bf|float)",
     "A pointer and a float do not go together: offsets are whole numbers, divided with // and not with /, and to "
     "compute with what lies at an address, tl.load it first."),
    (r"pointer<",
     "To a pointer, only offsets are added: compare offsets with sizes, not pointers, and tl.load what lies there "
     "before computing with it. Does the launch pass a tensor in the place of a number?"),
    (r"Expected dtype .*fp.* but got",
     "tl.exp, tl.sqrt and their like take float32 or float64 alone: convert with .to(tl.float32) first."),
    (r"Scalar \S+ is out of range for type (?P<name>u?int(8|16))",
     "A result computed from {name} is again {name}, and this number does not fit: convert with .to(tl.int32) or "
     ".to(tl.float32) right after tl.load."),
    (r"program_id axis", "A grid has at most three axes: 0, 1 and 2."),
    (r"is not string|f-string", PRINTS),
    (r"__[gs]etitem__ is not supported|unsupported tensor index", ELEMENTS),
    (r"'tensor' object has no attribute '(?P<name>\w+)'",
     "A block has no {name}: in a kernel write what triton.language has, such as tl.sum(x, axis=0), tl.exp(x) and "
     "x.to(tl.float32)."),
    (r"'NoneType' object has no|void\[\]",
     "Something in this line is None: does a function that it calls lack its `return`, or does the launch pass None?"),
    (r"has no attribute 'type'", BLOCKS_OF),
    (r"specialize argument of type: tensor",
     "A kernel launches no other: call that as a function, without [grid]."),
)

OBJECTIONS = (
    # Clues from lines that say more than the message.
    # A pointer that is indexed: Triton's own message is about something else.
    _of(ELEMENTS, message=r"triton\.jit", line=r"[^#]*\w\[(?!.*(None|:))"),
    _of(SIZES, message=r"list index|no len\(\)|not callable", line=r".*(\.(shape|numel|size|stride)\b|\blen\()"),
    _of("triton.cdiv is for host code: in a kernel write tl.cdiv.",
        message=r"triton\.jit", line=r".*\btriton\.cdiv\("),
    _of("triton.{name} is for host code: work it out there, and pass it as a tl.constexpr.",
        message=r"triton\.jit", line=r".*\btriton\.(?P<name>\w+)\("),
    _of("A kernel calls kernels only, and this is a plain function: decorate it with @triton.jit.",
        message=r"outside of the scope of a kernel|forget to add @triton\.jit"),
    _of("A kernel calls kernels only: put @triton.jit above {name} too.",
        message=r"Cannot access global variable (?P<name>\w+)", line=r".*\b{name}\("),
    _of("{name} has no value before this line: set it before the loop, as in {name} = 0.0.",
        message=r"NameError: (?P<name>\w+) is not", line=r"{name}\s*[-+*/|&]="),
    _of("{name} works outside of kernels: " + PLAIN[:1].lower() + PLAIN[1:],
        message=r"object has no attribute|argument '|argument must|not callable",
        line=r".*\b(?P<name>(?:torch|np|numpy|math)\.(?!pi\b|inf\b|e\b|\w*(?:float|int)\d)\w+)"),
    _of("Write start + tl.arange(0, BLOCK): the bounds of tl.arange are known when the kernel is compiled.",
        message=r"must be of type tl\.constexpr", line=r".*arange\((?!0\s*,)"),
    _of("{name} is a constant, as tl.constexpr parameters are, and arguments that equal 1{constants}. A constant has "
        "no .{attribute}: tl.cast({name}, tl.int64) and {name} * 1.0 take constants, too.",
        message=r"'(?:int|float|constexpr)' object has no attribute '(?P<attribute>to|dtype|type|cast)'",
        line=r".*?\b(?P<name>\w+)\.{attribute}\b"),
    _of("A `while` of a kernel ends by its condition, which compares what the loop changes: `while True` has no end "
        "there, since there is no `break`.",
        message="'constexpr' object has no", line=r"while\b"),
    _of("A kernel defines no functions: define this one above it, with @triton.jit.", message="StopIteration",
        line=r"(@|def)"),
    _of("Give {name} its {what}, too: triton.language has tl.arange(0, BLOCK), tl.program_id(0), tl.store(pointer, "
        "value).",
        message=r"\b(?P<name>\w+)\(\) missing \d+ required .*arguments?: (?P<what>.+)"),
    *(_of(hint, message) for message, hint in MESSAGES),
)
