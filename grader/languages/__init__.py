"""Front ends: each plans, simulates and compiles kernels of one language. A front end is a folder here, or in a folder
that `KERNELMARK_FRONT_ENDS` names (`grader.plan.language_folders`), and is found by its place.

The folder's `confined/` has `planner/`, `simulator/` and `compiler/`, and a `builder/` if files have to be compiled
before they are planned. Each of these has a `main.py` whose `serve` answers the judge in a confined process
(`grader.plan.serving`). Requests are in `grader.plan.messages` and `compiling`, the facts that a launcher needs in
`grader.plan.compiled`. Host code in Python is planned by `grader.host.planner`. A `main.py` with `STARTS_PROGRAMS =
True` may start programs. `FRONT_END` in the folder's `__init__.py` holds the judge's own knowledge of the language; an
import of the folder imports neither compiler nor PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import PurePath
from typing import Literal, Protocol

from grader.languages.phrases import Phrases
from grader.plan import language_folders
from grader.plan.plan import DType, Kernel, Launch, Malformed

__path__ = language_folders.homes()

Trait = Literal["product", "rounded by generation", "waits", "unbounded"]
"""A trait of a kernel that the judge has to know: a product of matrices, a cast that older GPUs round in another way,
accesses by which threads may wait for others, no declared bound on a block's threads or on a thread's registers."""


@dataclass(frozen=True)
class ForeignCode:
    """Code that is not of the kernel's language. `text` is inline assembly, or the name of a function that neither the
    language nor its library has, or the name of a library's kernel."""

    kind: Literal["assembly", "function", "library"]
    text: str


@dataclass(frozen=True)
class Outline:
    """The outline of a file, read without running it: the functions that it defines, and the assignments whose stub it
    still has."""

    defined: frozenset[str] = frozenset()
    stubs: frozenset[str] = frozenset()


class Parameter(Protocol):
    """A parameter of the function that a student writes, as far as a language has to know it. A "size" is a whole
    number; `dtype` is that of a tensor's elements."""

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> Literal["input", "scalar", "output", "update", "size"]: ...

    @property
    def dtype(self) -> DType: ...


# There is one object for each language: it equals itself alone, and can be a key.
@dataclass(frozen=True, eq=False)
class FrontEnd:
    """A language, as the judge sees it. Each function may get hostile text, and starts no program."""

    name: str
    """The folder's name."""
    suffix: str
    """The suffix of files in this language, with its dot."""
    signature: Callable[[str, Sequence[Parameter]], str]
    """Return the signature of a function with this name and parameters, as a student writes it."""
    read_kernel: Callable[[Kernel], tuple[ForeignCode, ...]]
    """Return the foreign code in a kernel, each piece once. Raises Malformed for a text that no planner of ours
    writes."""
    check_launch: Callable[[Launch, Kernel], None]
    """Check that a launch has its kernel's options, and that its arguments fit the signature; the caller has checked
    their number. Raises Malformed."""
    argument_names: Callable[[Kernel], list[str]]
    """Return the kernel's names for the arguments of a launch."""
    launch_options: Mapping[Literal["cluster", "cooperative", "programmatic"], str]
    """The language's words for fields of a `Launch`."""
    traits: Callable[[Kernel], frozenset[Trait]]
    """Return a kernel's traits."""
    phrases: Phrases
    """The language's words for findings, hints and remarks."""
    blocks: Callable[[Launch, Kernel], frozenset[int]] = lambda launch, kernel: frozenset()
    """Return the sizes of the blocks of elements on which a launch works, if the kernel shows them."""
    title: str = ""
    """The language's name for people."""
    jplag: str = "text"
    """The language's name in JPlag, which compares every other language as text."""
    lowers_to: str = ""
    """The front end that simulates the PTX of this one's compiler (`Binary.ptx`); "" if none does."""
    outline: Callable[[str], Outline] = lambda text: Outline()
    """Return the outline of a file's text, or of a notebook's."""
    edits: bool = False
    """The planner lists edits of a file."""
    problem: Callable[[], str] = lambda: ""
    """Return what the machine lacks for the language and, after a semicolon, how to get it; "" if it lacks nothing."""
    tools: Callable[[], Sequence[str]] = lambda: ()
    """Return the folders of the language's tools: its processes may read each, and start programs in its `bin`."""
    installed: Callable[[], str] = lambda: ""
    """Return the names of these tools in one line."""
    claims: Callable[[str], bool] | None = None
    """Return whether a file's text is in this language, if another language has the same suffix. The language without
    `claims` has all other files of that suffix."""
    lacks: frozenset[str] = frozenset()
    """The conditions on how kernels work that no kernel of the language can meet."""


@cache
def front_ends() -> dict[str, FrontEnd]:
    """Return every front end by its name. Raises ValueError if two of them read all files of the same suffix."""
    by_name: dict[str, FrontEnd] = {
        name: import_module(f"{__name__}.{name}").FRONT_END for name in language_folders.names()}
    readers: dict[str, str] = {}
    for name, front_end in by_name.items():
        if front_end.claims is None and (reader := readers.setdefault(front_end.suffix, name)) != name:
            raise ValueError(f"{reader} and {name} both read files that end in {front_end.suffix!a}")
    return by_name


def problem() -> str:
    """Return why languages in other folders cannot be used, in one line; "" if they can, or if there are none."""
    if len(language_folders.homes()) == 1:
        return ""
    if reason := language_folders.problem():
        return reason
    try:
        front_ends()
    except Exception as error:
        return f"{language_folders.VARIABLE}: {type(error).__name__}: {error}; mend this language, or leave it out"
    return ""


def of(kernel: Kernel) -> FrontEnd:
    """Return the front end of a kernel. Raises Malformed for a language without one."""
    front_end = front_ends().get(kernel.language)
    if front_end is None:
        raise Malformed(f"a kernel in {kernel.language[:20]!a}, which no front end reads")
    return front_end


def suffixes() -> list[str]:
    """Return the suffixes of the files that a front end reads."""
    return sorted({front_end.suffix for front_end in front_ends().values()})


def by_suffix(suffix: str) -> FrontEnd:
    """Return the front end of files with this suffix, unless another one claims them (`by_text`). Raises ValueError for
    a suffix that none has."""
    for front_end in front_ends().values():
        if front_end.suffix == suffix and front_end.claims is None:
            return front_end
    raise ValueError(f"no front end reads files that end in {suffix!a}: use one of {', '.join(suffixes())}")


def by_content(file: str, content: bytes) -> FrontEnd:
    """Return the front end of a file with this name and content. Raises ValueError for a suffix that none has."""
    return by_text(PurePath(file).suffix, content.decode("utf-8", "replace"))


def by_text(suffix: str, text: str) -> FrontEnd:
    """Return the front end of a file with this suffix and text. Raises ValueError for a suffix that none has."""
    for front_end in front_ends().values():
        if front_end.suffix == suffix and front_end.claims is not None and front_end.claims(text):
            return front_end
    return by_suffix(suffix)
