"""Which modules beside PyTorch, Triton and NumPy a kernel file may use, and what of them. Data and lookups.

A list of what is free, since a list of what is not has no end: much of Python's library runs text, or finds by a text
what nobody can read beforehand. It counts in code that the graded function reaches or that runs at import; below a main
guard, and in functions that nothing calls, everything is free.
"""

from __future__ import annotations

import importlib.machinery
import sys
from functools import cache
from pathlib import Path

NEEDED = ("A kernel file may use torch, triton, numpy for sizes, and of Python's library math, functools, itertools, "
          "collections, dataclasses, contextlib, typing, enum, operator, time, random, warnings, logging, os.environ "
          "and the like; keep tests that need more under `if __name__ == \"__main__\":`.")

# Of each module, the names that are free, with all that is below them.
_PUBLIC = {
    # Numbers, and ways to go through things.
    "math": "*",
    "cmath": "*",
    "numbers": "Number Complex Real Rational Integral",
    "fractions": "Fraction",
    "itertools": "*",
    "operator": "*",
    "random": "random randint randrange uniform gauss normalvariate choice choices sample shuffle seed Random "
              "getrandbits getstate setstate",
    "bisect": "*",
    "heapq": "heappush heappop heapify heappushpop heapreplace merge nlargest nsmallest",
    # No singledispatch: it calls what annotations name, and evaluates them.
    "functools": "cache cached_property lru_cache partial partialmethod reduce wraps update_wrapper total_ordering "
                 "cmp_to_key WRAPPER_ASSIGNMENTS WRAPPER_UPDATES",
    # No deepcopy: its memory of what it has copied holds the insides of an object.
    "copy": "copy replace",
    # Types and small classes. No make_dataclass, and nothing that evaluates an annotation.
    "collections": "namedtuple OrderedDict defaultdict deque Counter ChainMap abc",
    "dataclasses": "dataclass field fields replace asdict astuple is_dataclass KW_ONLY InitVar FrozenInstanceError "
                   "MISSING",
    "enum": "Enum IntEnum StrEnum Flag IntFlag auto unique verify member nonmember UNIQUE CONTINUOUS NAMED_FLAGS",
    "abc": "ABC ABCMeta abstractmethod abstractproperty",
    "types": "SimpleNamespace MappingProxyType NoneType EllipsisType GenericAlias UnionType",
    "typing": "AbstractSet Annotated Any AnyStr Awaitable BinaryIO Callable ClassVar Collection Concatenate Container "
              "DefaultDict Deque Dict Final FrozenSet Generator Generic Hashable IO Iterable Iterator List Literal "
              "LiteralString Mapping MutableMapping MutableSequence NamedTuple Never NewType NoReturn NotRequired "
              "Optional OrderedDict ParamSpec Protocol Required Reversible Self Sequence Set Sized SupportsFloat "
              "SupportsIndex SupportsInt Text TextIO Tuple Type TypeAlias TypeGuard TypeVar TypeVarTuple TypedDict "
              "TYPE_CHECKING Union Unpack assert_never cast final no_type_check overload override reveal_type "
              "runtime_checkable",
    "contextlib": "contextmanager nullcontext suppress ExitStack closing AbstractContextManager ContextDecorator",
    "weakref": "WeakKeyDictionary WeakValueDictionary WeakSet ref proxy",
    # What time it is, and telling the student something.
    "time": "*",
    "datetime": "date datetime time timedelta timezone UTC MAXYEAR MINYEAR",
    "warnings": "warn filterwarnings simplefilter catch_warnings resetwarnings",
    "logging": "getLogger basicConfig debug info warning error exception critical log disable Logger StreamHandler "
               "NullHandler Formatter NOTSET DEBUG INFO WARNING ERROR CRITICAL",
    "pprint": "pprint pformat pp",
    "textwrap": "dedent indent fill wrap shorten",
    "traceback": "print_exc format_exc",
    "re": "compile match fullmatch search sub subn split findall finditer escape Pattern Match I IGNORECASE M "
          "MULTILINE S DOTALL X VERBOSE A ASCII",
    "json": "dumps loads",
    "string": "ascii_letters ascii_lowercase ascii_uppercase digits hexdigits punctuation whitespace",
    "pathlib": "Path PurePath",
    "platform": "system machine python_version release",
    "threading": "Thread Timer Lock RLock Event Condition Semaphore BoundedSemaphore Barrier local current_thread "
                 "get_ident active_count main_thread",
    # Questions about the surroundings; no file, no descriptor, no process.
    "os": "environ getenv putenv cpu_count getpid getcwd linesep sep name _exit abort path.join path.dirname "
          "path.basename path.abspath path.realpath path.exists path.isfile path.isdir path.splitext path.split "
          "path.pardir path.sep",
    "sys": "exit version version_info platform maxsize byteorder executable prefix argv path.append path.insert "
           "path.extend path.remove getsizeof getrefcount intern setrecursionlimit getrecursionlimit float_info "
           "int_info hexversion implementation flags stdout.write stdout.flush stdout.isatty stderr.write stderr.flush "
           "stderr.isatty",
    # A module of constant name is judged by that name.
    "importlib": "import_module util.find_spec metadata.version invalidate_caches",
    # Marks and base classes of tests, which run at import though the tests do not.
    "pytest": "mark fixture param approx raises skip fail xfail exit",
    "unittest": "TestCase skip skipIf skipUnless expectedFailure",
    "__future__": "*",
    "errno": "*",
}
FREE = {module: frozenset(names.split()) for module, names in _PUBLIC.items()}
# Free as values, though not all that is below them is.
VALUES = frozenset({"sys.path"})
# Where printing goes; as a value it would lead on to files.
STREAMS = frozenset({"sys.stdout", "sys.stderr"})
# Decorators that keep or wrap the function and do not call it.
HOLDING = frozenset({
    "builtins.staticmethod", "builtins.classmethod", "builtins.property", "functools.wraps", "functools.lru_cache",
    "functools.cache", "functools.cached_property", "functools.total_ordering", "contextlib.contextmanager",
    "abc.abstractmethod", "dataclasses.dataclass", "enum.unique", "typing.overload", "typing.final", "typing.override",
    "typing.no_type_check", "typing.runtime_checkable", "torch.no_grad", "torch.inference_mode", "torch.enable_grad",
    "triton.jit", "triton.autotune", "triton.heuristics", "triton.constexpr_function", "triton.testing.perf_report",
    "pytest.fixture", "unittest.skip", "unittest.skipIf", "unittest.skipUnless", "unittest.expectedFailure",
})  # fmt: skip
# Importing runs these: the grader's own folders, and programs that begin at once with what sys.argv or a folder holds.
_NEVER_IMPORTED = frozenset({"grader", "reference", "assignments", "tests", "test", "idlelib", "turtledemo",
                             "antigravity", "__main__", "__mp_main__"})
RUNS_AT_IMPORT = "Importing this runs a program, or the grader's own code."

_STANDARD = frozenset(sys.stdlib_module_names)
# Other names that libraries hold modules under.
_ALIASES = {"np": "numpy", "bltns": "builtins", "_sys": "sys", "_os": "os", "th": "torch", "mp": "multiprocessing"}
_OTHERS = frozenset({"torch", "numpy", "triton"})
# Names of a library's own that are called as a module of Python's is.
_NAMESAKES = frozenset({
    "torch.random", "torch.cuda.random", "torch.types", "torch.select", "torch.signal", "torch.trace",
    "torch.Tensor.select", "torch.Tensor.trace", "torch.profiler.profile", "torch.autograd.profiler.profile",
    "torch.ops.aten.select", "torch.ops.aten.copy", "torch.ops.aten.trace", "numpy.random", "numpy.copy", "numpy.trace",
    "numpy.select",
    "numpy.array", "numpy.typing", "numpy.linalg.trace", "triton.language.math", "triton.language.random",
    "triton.language.extra.libdevice.select", "collections.abc",
})  # fmt: skip
# Attributes by which an object of a library leads to a module, or past one; nothing honest is called so.
LEADING = frozenset({
    "os", "sys", "gc", "builtins", "bltns", "importlib", "inspect", "ctypes", "subprocess", "pickle", "marshal", "mmap",
    "socket", "multiprocessing", "posix", "runpy", "linecache", "pkgutil", "tokenize", "io", "torch", "exec",
    "load_binary",
})  # fmt: skip


TRITON_MODULES = frozenset({"triton", "triton.compiler", "triton.runtime", "triton.runtime.jit", "triton.language",
                            "triton.testing"})


def real_name(name: str) -> str:
    """A dotted name without its way through modules that hold other ones: `torch.cuda.os.fork` is `os.fork`."""
    parts = name.split(".")
    for at in range(len(parts) - 1, 0, -1):
        part = _ALIASES.get(parts[at], parts[at])
        foreign = part in _STANDARD or part in _OTHERS
        if foreign and (part != parts[0] or at > 1) and ".".join(parts[: at + 1]) not in _NAMESAKES:
            return ".".join([part, *parts[at + 1:]])
    return name


def is_module(name: str) -> bool:
    """Whether a dotted name is known to be a module, as far as modules beside PyTorch and NumPy go."""
    if "." not in name:
        return name in FREE or _exists(name)
    return name in TRITON_MODULES or name in ("collections.abc", "os.path", "importlib.util", "importlib.metadata")


def why_not_module(name: str, own: str = "") -> str | None:
    """Why code that runs may not use a dotted name of a module, or None where it may, or where no such module exists.

    `own` is the name of the file's own module, by which a file could find its own functions unread.
    """
    root, _, rest = name.partition(".")
    parts = rest.split(".")
    if root in FREE:
        hidden = any(part.startswith("_") and part != "_exit" and not _dunder(part) for part in parts)
        free = not rest or name in VALUES or ("*" in FREE[root] and len(parts) == 1) or any(
            ".".join(parts[:count]) in FREE[root] for count in range(1, len(parts) + 1))
        return None if free and not hidden else NEEDED
    return NEEDED if root == own or _exists(root) else None


def why_not_imported(name: str) -> str | None:
    """Why an import statement of a dotted name may not run, or None where it may."""
    parts = name.split(".")
    return RUNS_AT_IMPORT if parts[0] in _NEVER_IMPORTED or "__main__" in parts else None


def _dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


@cache
def _folders() -> tuple[str, ...]:
    """Where libraries are; never the folder that somebody stands in."""
    return tuple(path for path in sys.path if Path(path).is_absolute() and Path(path) != Path.cwd())


@cache
def _exists(root: str) -> bool:
    """Whether a module can be there at all. If not, its import fails, and the run tells so better."""
    if root in _STANDARD or root in _NEVER_IMPORTED or root.startswith("_") or root in sys.builtin_module_names:
        return True
    return importlib.machinery.PathFinder.find_spec(root, list(_folders())) is not None
