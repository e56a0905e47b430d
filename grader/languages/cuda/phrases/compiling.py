"""Messages of NVIDIA's compiler and of g++, and what to do about each."""

from __future__ import annotations

import re

from grader.languages.phrases import RAISED, Clue, Failing

COMPILING: frozenset[Failing] = RAISED | {"syntax_error"}

_PLACE = re.compile(
    r"^(?:At end of source|[^\s:(][^:(\n]{0,200}(?:\(\d{1,7}\)|:\d{1,7}(?::\d{1,7})?)): (?:catastrophic |fatal )?error"
    r"(?: #\d+(?:-D)?)?: ")
_PTX = re.compile(r"^ptxas [^\n]{0,300}?(?:line \d{1,7}; )?(?:error|fatal) *: ")


def unwrap(message: str) -> str:
    """Return the compiler's first error, without its place, the code that is printed with it, and later errors."""
    lines = message.split("\n")
    for at, line in enumerate(lines):
        found = _PLACE.match(line) or _PTX.match(line)
        if found:
            said = [line[found.end() :].strip()]
            # The types of operands follow in lines of their own.
            said += [more.strip() for more in lines[at + 1 : at + 8] if re.search(r"^\s+\w+ types are: ", more)]
            return _begun("; ".join(said))
    return _begun(message)


def _begun(message: str) -> str:
    """Return the message with a capital first letter, if it begins with a plain word."""
    return message[:1].upper() + message[1:] if re.match(r"[a-z]+,? ", message) else message


def _of(hint: str, message: str, line: str = "") -> Clue:
    return Clue(hint, message=f"(?i:{message})", line=line, kinds=COMPILING)


# Names whose header students forget most often, and that header.
_HEADERS = (
    ("printf", "<cstdio>"), ("assert", "<cassert>"), (r"u?int\d+_t", "<cstdint>"), ("mem(?:cpy|set)", "<cstring>"),
    ("malloc|free|exit|abs", "<cstdlib>"), ("(?:FLT|DBL)_(?:MAX|MIN|EPSILON)", "<cfloat>"),
    ("U?INT_(?:MAX|MIN)", "<climits>"), ("M_PI|INFINITY|NAN", "<cmath>"), ("nvcuda|wmma", "<mma.h>"),
    (r"(?:__)?half2?|__\w*half\w*", "<cuda_fp16.h>"), (r"\w*bfloat16\w*", "<cuda_bf16.h>"),
    ("cooperative_groups|cg", "<cooperative_groups.h>"), (r"__pipeline\w*", "<cuda_pipeline.h>"),
)
_BUILT_IN = "blockIdx, blockDim, threadIdx and gridDim are spelt exactly so, each with .x, .y or .z."

CLUES = (
    # Names.
    _of("CUDA 13 has left {name} out of cudaDeviceProp: ask cudaDeviceGetAttribute, as in cudaDeviceGetAttribute(&khz, "
        "cudaDevAttrMemoryClockRate, 0), or leave it out.",
        r'class "cudaDeviceProp" has no member "(?P<name>(?:memoryC|c)lockRate|deviceOverlap|kernelExecTimeoutEnabled|'
        r'computeMode|cooperativeMultiDeviceLaunch)"'),
    _of("This looks like Python: a .cu file is CUDA C++. Hand in a Triton kernel as {function}.py.",
        r'identifier "(?:import|def|from|elif|None|True|False)" is undefined|unrecognized token',
        r"(?:import|from|def)\b|@"),
    _of("C++ writes `else if`.", 'identifier "elif" is undefined'),
    _of("C++ writes `true`, `false` and `nullptr`.", 'identifier "(?:True|False|None)" is undefined'),
    _of(_BUILT_IN, r'identifier "(?:block|thread|grid)_?(?:id|idx|dim|index)\w*" is undefined'),
    *(_of(f"Write `#include {header}` at the top of the file: it declares {{name}}.",
          rf'(?:identifier|name) "(?P<name>{name})" is undefined') for name, header in _HEADERS),
    _of("Write `#include <cuda_fp16.h>` at the top of the file: it declares half and half2.",
        r'incomplete type "void" is not allowed|identifier expected', r".*\bhalf2?\b"),
    _of("Write `#include <{name}>` at the top of the file, if it is a class of C++'s own library. Kernels cannot use "
        "it: there an array has a size that the compiler knows, or is passed as a pointer.",
        r'namespace "std" has no member "(?P<name>\w+)"'),
    _of("A kernel calls functions of the GPU only: cudaMalloc, cudaMemcpy and launches stand in the function that "
        "calls the kernel. Inside a kernel, assign element by element.",
        r'calling a __host__ function\("(?P<name>cuda\w+)'),
    _of("C++'s own library runs on the CPU: in a kernel use CUDA's functions, such as fmaxf, expf, sqrtf, without "
        "`std::`.", r'calling a (?:constexpr )?__host__ function\("(?P<name>std::[^"]*)'),
    _of("numeric_limits is C++'s own and runs on the CPU: in a kernel write INFINITY, FLT_MAX or INT_MAX, with "
        "#include <cmath>, <cfloat> or <climits> at the top.",
        r'calling a constexpr __host__ function\("(?P<name>infinity|lowest|epsilon|quiet_NaN|denorm_min|max|min)"\)',
        r".*\bnumeric_limits\b"),
    _of("{name} is a function of C++'s own library here, which runs on the CPU: in a kernel use CUDA's, such as "
        "fmaxf, fminf, fabsf, or max and min for whole numbers, without `std::`.",
        r'calling a constexpr __host__ function\("(?P<name>max|min|clamp|abs|swap|exchange|norm|fma|hypot)"\)'),
    _of("C++'s own library runs on the CPU: in a kernel use CUDA's functions, or write {name} with __device__ of your "
        "own.", r'calling a constexpr __host__ function\("(?P<name>\w+)"\)',
        r".*\bstd::(?:\w+(?:<[^>]*>)?::)*{name}\b"),
    _of("CUDA's {name} takes floats or doubles. With whole numbers this is C++'s own, which runs on the CPU: use min "
        "and max for them, or convert them first.",
        r'calling a constexpr __host__ function\("(?P<name>f(?:min|max|mod)|pow|sqrt|exp|log|ceil|floor)"\)'),
    _of("Write __device__ in front of the function's definition: a kernel calls functions of the GPU only.",
        r'calling a (?:constexpr )?__host__ function\("(?P<name>[^"(]*)[^"]*"\) from a __(?:global|device)__'),
    _of("Write __global__ in front of the kernel's definition, not __device__: host code launches kernels.",
        r'calling a __device__ function\("(?P<name>[^"(]*)[^"]*"\) from a __host__ function', r".*<<<"),
    _of("{name} works inside kernels only: host code launches a kernel that calls it, and cudaDeviceSynchronize() "
        "waits for the GPU.", r'calling a __device__ function\("(?P<name>[^"(]*)[^"]*"\) from a __host__ function'),
    _of("A variable of the CPU cannot be read in a kernel: pass it as an argument, or declare it as `constexpr` or "
        "`__constant__`.", r'identifier "(?P<name>\w+)" is undefined in device code'),
    _of("Nothing of this name is declared above this line: is it spelt as it is declared, and in the same braces?",
        r'identifier "(?P<name>[^"]+)" is undefined'),
    # Launches.
    _of("A kernel is launched: {name}<<<blocks, threads>>>(arguments).",
        r"a __global__ function call must be configured", r".*?(?P<name>\w+)\s*\("),
    _of("Write __global__ in front of the kernel's definition: only kernels are launched with <<<...>>>.",
        r"a (?:host|device) function call cannot be configured"),
    _of("A launch is written with three angle brackets on each side: kernel<<<blocks, threads>>>(arguments).",
        r'expected (?:a|an) "?(?:>>>|expression|identifier)', r".*(?:<<<|>>)"),
    _of("A kernel returns nothing: write `__global__ void`, and store what it finds through a pointer.",
        r"a __global__ function must have a void return type"),
    _of("Threads of more than one dimension take a dim3: dim3 block(16, 16); kernel<<<grid, block>>>(arguments).",
        r"expected an identifier|no suitable constructor", r"\s*(?:const )?dim3\b"),
    # Arguments and types.
    _of("Compare the call with the declaration: it has fewer arguments than there are parameters.",
        r"too few arguments in function call"),
    _of("Compare the call with the declaration: it has more arguments than there are parameters.",
        r"too many arguments in function call"),
    _of("A pointer to const cannot go where values are written: write const in front of the kernel's parameter, if it "
        "only reads there.", r'argument of type "const (?P<name>[^"]*)" is incompatible with parameter'),
    _of("The argument has another type than the parameter: are the arguments in the order of the parameters?",
        r"argument of type .* is incompatible with parameter|no suitable conversion"),
    _of("A `const` pointer is for reading alone: leave const out of the parameter that is written, or store through "
        "the output.", r"expression must be a modifiable lvalue", r".*\[.*\]\s*[-+*/]?="),
    _of("Only variables can be assigned to: `==` compares, `=` assigns.", r"expression must be a modifiable lvalue"),
    _of("atomicMax and atomicMin have no form for floats: reduce in shared memory or with __shfl_down_sync, or use "
        "atomicCAS on the bits (__float_as_int).", r'no instance of overloaded function "atomicM(?:ax|in)"'),
    _of("No function {name} takes these types: convert the arguments, as in (float)n, or look up what CUDA has for "
        "them.",
        r'no instance of (?:overloaded function|function template) "(?P<name>[^"]+)"'),
    _of("The arguments have different types, and each of several functions would do: write both as floats, as in 0.0f, "
        "or use fmaxf and fminf.", r'more than one instance of overloaded function "(?P<name>[^"]+)"'),
    _of("Convert half to float first: __half2float(x), and back with __float2half(y). Mixed types have no operator.",
        r'(?:no|more than one) operator "[^"]+" matches', r".*"),
    _of("The size of a shared array is known when the kernel is compiled: a constant, a template parameter, or `extern "
        "__shared__ float tile[];` with the bytes as the launch's third value, <<<blocks, threads, bytes>>>.",
        r"variable length array|expression must have a constant value", r".*__shared__"),
    _of("A template's value and the size of an array are known when the file is compiled: a number, or a `constexpr "
        "int`. Choose among a few kernels with `if`, or pass it as an ordinary parameter.",
        r"expression must have a constant value|variable length array|is not a constant"),
    _of("Shared memory begins with anything: let the threads store its first values, then call __syncthreads().",
        r"initializer not allowed for __shared__"),
    _of("All `extern __shared__` arrays of a file begin at the same place, and so have one type: give each its own "
        "name, "
        "or cast: float *tile = (float *)memory.", r"declaration is incompatible with previous", r".*__shared__"),
    _of("^ is an exclusive or, not a power: write x * x * x, or powf(x, 3).",
        r"expression must have integral", r".*\^"),
    _of("An index is a whole number: divide with integers, or convert with (int).",
        r"expression must have integral", r".*\["),
    _of("% takes whole numbers: for floats there is fmodf(x, y).", r"expression must have integral", r".*%"),
    _of("A launch is written with three angle brackets on each side: kernel<<<blocks, threads>>>(arguments).",
        r"expression must have integral", r".*\w\s*<<[^<].*>>\s*\("),
    _of("Operators on bits (<<, >>, &, |, ~) take whole numbers: the logical operators are && and ||.",
        r"expression must have integral", r".*(?:<<|>>|&|\||~)"),
    _of("Put a * or [index] behind the pointer to get at a value: x[i], not x.",
        r"expression must have (?:arithmetic|integral|class type but it has type \"[^\"]*\*)"),
    _of("Only structures and vectors such as float4 and dim3 have parts with a dot.",
        r"expression must have class type"),
    _of("A float4 is made with make_float4(a, b, c, d), or read from a pointer to float4 that is aligned to 16 bytes.",
        r"constructor exists to convert .*\"(?:float|int|double)[234]\"|make_\w+\d"),
    # Declarations and signs.
    _of("It is declared twice in the same braces: give one another name, or assign without the type.",
        r'"(?P<name>[^"]+)" has already been declared in the current scope'),
    _of("The file defines {name} twice: keep one, or give the other another name.",
        r'function "(?P<name>[^"(]+)[^"]*" has already been defined'),
    _of("Statements stand inside a function: is a closing brace } too early?",
        r"this declaration has no storage class|expected a declaration"),
    _of("A closing brace } is missing: each { needs one, and the file ends before it comes.", r'expected a "\}"'),
    _of("A closing brace } is missing above this line: each { needs one.", r'expected a ";"', r".*\)\s*\{?\s*$"),
    _of("A semicolon ; is missing at the end of this line or of the line above it.", r'expected a ";"'),
    _of("Count brackets from the start of the statement: one of them has no partner.",
        r'expected a "?[)\]}>]|unmatched'),
    _of("A string ends with a double quote \" in the line where it begins.",
        r"missing closing quote|missing terminating"),
    _of("A comment /* ends with */.", r"unterminated comment"),
    _of("A sign stands here that C++ does not have, as a curly quote, a dash or a blank that is none, copied from a "
        "web page or a PDF: type the signs and blanks of this line anew.",
        r"unrecognized token|stray|extended character\b.*is not valid in an identifier"),
    _of("Each file stands alone and is compiled with CUDA's and C++'s own headers only: copy what it needs of {name} "
        "into "
        "it.", r'(?P<name>[\w./+-]+): No such file|cannot open source file "(?P<other>[^"]+)"'),
    _of("Lambdas for the GPU need a compiler flag that is not set: write a structure with __device__ operator() in its "
        "place.", r"annotation on lambda requires|extended-lambda"),
    _of("A function that host code calls returns nothing here: {signature}.",
        r"return value type does not match the function type"),
    # The assembler and the linker.
    _of("Assembly is checked by its own compiler: look the instruction and its types up in the PTX ISA, or write it in "
        "CUDA C++.", r"Unknown modifier|Unexpected instruction types|Arguments mismatch for instruction"),
    _of("Use smaller shared arrays: a kernel declares at most 48 KiB of shared memory. A launch may ask for "
        "more, after cudaFuncSetAttribute.", r"uses too much shared data"),
    _of("{name} is declared, and defined in no line of this file: write its body here, too. Libraries beyond CUDA's "
        "own "
        "runtime are not linked.", r"undefined reference to `?(?P<name>[\w:]+)"),
    _of("The file defines {name} twice: keep one.", r"multiple definition of `?(?P<name>[\w:]+)"),
)
