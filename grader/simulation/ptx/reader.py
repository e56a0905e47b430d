"""Reader of PTX, which may be hostile: it reads each character once. See "Syntax" and "Directives" of the PTX ISA.

The judge refuses statements that are not known here; a simulator reads them, and stops where one is run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from grader.plan.plan import Malformed
from grader.plan.tokens import BLOCK_COMMENT, cut_tokens

TYPE_BYTES = {**{f"{kind}{8 * size}": size for kind in "bsu" for size in (1, 2, 4, 8)}, "b128": 16, "f16": 2, "f32": 4,
              "f64": 8, "bf16": 2, "f16x2": 4, "bf16x2": 4, "f32x2": 8, "pred": 1}  # fmt: skip
"""Bytes of a value of each type; predicates, which only registers hold, have no size in PTX."""
MOST_LINE = 10_000_000
"""The largest line that a plan has; any further one counts as this."""
OWN, HEADER = "0", "65535"
"""The columns of a kernel's locations in a plan: code of the student's file itself, or of a header that it calls."""
_NUMBER = re.compile(r"0[fFdD]([0-9a-fA-F]{8}|[0-9a-fA-F]{16})|(0[xX][0-9a-fA-F]{1,16}|\d{1,20})U?")


@dataclass(frozen=True)
class TextParameter:
    """Parameter of a function. `type` has no dot; `count` is the number of elements of an array, 0 for a scalar.
    `alignment` is in bytes, 0 if the text gives none."""

    name: str
    type: str
    alignment: int = 0
    count: int = 0

    @property
    def bytes(self) -> int:
        return TYPE_BYTES[self.type] * (self.count or 1)

    @property
    def entry(self) -> str:
        """Return the parameter as a kernel's signature has it: `u64`, or `b8[24]@8` for a structure."""
        return f"{self.type}[{self.count}]@{self.alignment or self.bytes // self.count}" if self.count else self.type

    def written(self) -> str:
        aligned = f".align {self.alignment} " if self.alignment else ""
        return f".param {aligned}.{self.type} {self.name}{f'[{self.count}]' if self.count else ''}"


@dataclass(frozen=True)
class TextVariable:
    """Variable of a module. `initial` are the tokens of its initialiser; `count` is None for an array whose size the
    launch decides."""

    name: str
    space: str
    linkage: tuple[str, ...]
    type: str
    alignment: int
    count: int | None
    array: bool
    initial: tuple[str, ...] = ()

    @property
    def bytes(self) -> int:
        return TYPE_BYTES[self.type] * (self.count or 0)

    def written(self) -> str:
        words = [*self.linkage, f".{self.space}", *([f".align {self.alignment}"] if self.alignment else []),
                 f".{self.type}", self.name]
        sides = ("[]" if self.count is None else f"[{self.count}]") if self.array else ""
        return " ".join(words) + sides + (f" = {joined(self.initial)}" if self.initial else "") + ";"


@dataclass(frozen=True)
class TextStatement:
    """Statement of a body as tokens, without its semicolon: an instruction with its guard, a declaration, a label with
    its colon, a brace, or a `.loc` with its numbers."""

    words: tuple[str, ...]

    @property
    def label(self) -> bool:
        return len(self.words) == 2 and self.words[1] == ":"

    @property
    def place(self) -> int:
        """Return the index of the opcode or directive, which follows a guard such as `@%p1` or `@!%p1`."""
        return 0 if self.words[0] != "@" else 3 if self.words[1:2] == ("!",) else 2

    @property
    def opcode(self) -> str:
        """Return the opcode or directive, such as `ld.global.f32` or `.reg`; for a label its name."""
        return self.words[self.place] if self.place < len(self.words) else ""

    @property
    def operands(self) -> tuple[str, ...]:
        return self.words[self.place + 1 :]

    def written(self) -> str:
        words = self.words
        if words in (("{",), ("}",)):
            return words[0]
        if self.label:
            return "".join(words)
        if words[0] == ".loc":
            return f"\t{joined(words)}"
        before, rest = "".join(words[: self.place]), self.operands
        return f"\t{before}{' ' if before else ''}{self.opcode}{' ' if rest else ''}{joined(rest)};"


@dataclass(frozen=True)
class TextFunction:
    """Entry or device function; `body` is None for a function that is only declared."""

    name: str
    entry: bool
    linkage: tuple[str, ...]
    returns: tuple[TextParameter, ...]
    parameters: tuple[TextParameter, ...]
    attributes: tuple[tuple[str, ...], ...]
    body: tuple[TextStatement, ...] | None

    def header(self) -> str:
        returned = f" ({', '.join(parameter.written() for parameter in self.returns)})" if self.returns else ""
        lines = [" ".join((*self.linkage, ".entry" if self.entry else ".func")) + f"{returned} {self.name}("
                 + ", ".join(parameter.written() for parameter in self.parameters) + ")"]
        return "\n".join([*lines, *map(joined, self.attributes)])

    def written(self) -> str:
        if self.body is None:
            return self.header() + ";"
        return "\n".join([self.header(), "{", *(statement.written() for statement in self.body), "}"])


@dataclass
class TextModule:
    """Module of PTX. Variables and functions are keyed by name, `files` by the numbers that `.loc` uses."""

    version: str = ""
    target: tuple[str, ...] = ()
    address_size: str = ""
    files: dict[int, str] = field(default_factory=dict)
    variables: dict[str, TextVariable] = field(default_factory=dict)
    functions: dict[str, TextFunction] = field(default_factory=dict)
    # Directives that were left out: `.section`, `.alias`.
    others: list[str] = field(default_factory=list)

    def own(self, suffix: str) -> int:
        """Return the number of the first file with this suffix, else 0."""
        return next((number for number, name in sorted(self.files.items()) if name.endswith(suffix)), 0)

    def first(self) -> int:
        """Return the number of the first location's file, else 0."""
        return next((int(statement.words[1]) for function in self.functions.values()
                     for statement in function.body or () if statement.words[0] == ".loc"), 0)

    def written(self) -> str:
        """Return the text in its one form: a statement a line, no comments."""
        defined = [function for function in self.functions.values() if function.body is not None]
        inner = [function for function in defined if not function.entry]
        # Device functions may call each other, so they are declared first.
        declared = [function for function in self.functions.values() if function.body is None]
        declared += [replace(function, body=None) for function in inner] if len(inner) > 1 else []
        return "\n".join([
            f".version {self.version}", f".target {joined(self.target)}", f".address_size {self.address_size}",
            *(f'.file {number} "{name}"' for number, name in self.files.items()),
            *(variable.written() for variable in self.variables.values()),
            *(function.written() for function in (*declared, *defined))]) + "\n"


def contents(variable: TextVariable) -> bytes:
    """Return the initial bytes of a variable. Raises Malformed for an address among them."""
    item, size = TYPE_BYTES[variable.type], variable.bytes
    made, negative = bytearray(), False
    for word in variable.initial:
        if word in ("{", "}", ","):
            continue
        if word == "-":
            negative = True
            continue
        match = _NUMBER.fullmatch(word)
        if match is None:
            raise Malformed(f"an initial value that is no number: {word[:40]}")
        if match[1]:
            made += int(match[1], 16).to_bytes(len(match[1]) // 2, "little")
        else:
            number = int(match[2], 16 if match[2][:2] in ("0x", "0X") else 10)
            made += ((-number if negative else number) % (1 << 8 * item)).to_bytes(item, "little")
        negative = False
    return bytes(made[:size].ljust(size, b"\0"))


def lines_of(body: Iterable[TextStatement], own: int) -> Iterator[tuple[TextStatement, int]]:
    """Yield each statement with its line in the file of this number. Code that was inlined from another file has the
    line of its call; code of no line has 0."""
    lines: dict[tuple[str, ...], int] = {}
    line, file = 0, str(own)
    for statement in body:
        words = statement.words
        if words[0] == ".loc":
            place, line = words[1:4], 0
            if place[0] == file:
                line = int(place[1])
            elif "inlined_at" in words:
                at = words.index("inlined_at")
                caller = words[at + 1 : at + 4]
                line = lines.get(caller, int(caller[1]) if caller[0] == file else 0)
            lines[place] = line = min(line, MOST_LINE)
        yield statement, line


def without_lines(text: str) -> str:
    """Return a text, of one statement a line, without line tables: the assembler would copy them, with the paths in
    them, into the code."""
    kept, debugging = [], False
    for line in text.split("\n"):
        words = line.split(maxsplit=2)
        # The sections for a debugger follow the code.
        debugging |= words[:1] == [".section"] and words[1:2] != [] and words[1].startswith(".debug_")
        if not debugging and words[:1] not in ([".loc"], [".file"]):
            kept.append(line)
        debugging &= "}" not in line
    return "\n".join(kept)


def joined(words: Iterable[str]) -> str:
    """Join words with a space where one is needed, or where people expect it."""
    made: list[str] = []
    before = ""
    for word in words:
        if before and (before == "," or before == "=" or (_wordlike(before) and (_wordlike(word) or word in "=({"))):
            made.append(" ")
        made.append(word)
        before = word
    return "".join(made)


def _wordlike(word: str) -> bool:
    return word[0].isalnum() or word[0] in "._$%\""


MOST_DEPTH = 64
MOST_SHOWN = 60

# Possessive quantifiers (`*+`, `++`) never backtrack: there is one way to read a text, and it is tried once.
_TOKEN = re.compile(
    rf"(?P<space>(?:[ \t\r\n\f\v]++|//[^\n]*+|{BLOCK_COMMENT})++)"
    r"""
  | (?P<string>"(?:[ !\#-\[\]-~]|\\[ -~])*+")
  | (?P<number>(?:0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}|0[xX][0-9a-fA-F]++U?|\d++(?:\.\d++)?(?:[eE][-+]?\d++)?U?)
      (?![\w$]))
  | (?P<word>\.reg(?=\.)|[.]?[A-Za-z_$%][\w$]*+(?:(?:\.|::)[\w$]++)*+)
  | (?P<sign>[,;:()\[\]{}<>=+\-*/|!@])
    """,
    re.VERBOSE | re.ASCII | re.DOTALL,
)

# PTX ISA, "Instructions", without those for textures and surfaces, of which plans have no references, those for a
# debugger, and those for video but one, which CUDA's compiler writes. A GPU alone runs alloca, stacksave, stackrestore
# and getctarank: the simulator stops at them.
_INSTRUCTIONS = """
    abs activemask add addc alloca and applypriority atom bar barrier bfe bfi bfind bmsk bra brev brx call clz cnot
    copysign cos cp createpolicy cvt cvta discard div dp2a dp4a elect ex2 exit fence fma fns getctarank
    griddepcontrol isspacep ld ldmatrix ldu lg2 lop3 mad mad24 madc mapa match max mbarrier membar min mma mov
    movmatrix mul mul24 nanosleep neg not or popc prefetch prefetchu prmt rcp red redux rem ret rsqrt sad selp set
    setmaxnreg setp shf shfl shl shr sin slct sqrt st stackrestore stacksave stmatrix sub subc szext tanh tensormap
    testp trap vabsdiff4 vote wgmma wmma xor
"""
OPCODES = frozenset(_INSTRUCTIONS.split())
_ALIGNMENTS = frozenset(str(1 << power) for power in range(17))
_LINKAGE = (".visible", ".weak", ".extern", ".common")
_SPACES = (".global", ".const", ".shared")
_DECLARED = (".reg", ".local", ".shared", ".param", ".branchtargets", ".calltargets", ".callprototype", ".pragma")
LAUNCH = (".maxntid", ".reqntid", ".minnctapersm", ".maxnreg")
"""The directives by which an entry of a plan may restrict its launches."""
_CLUSTERS = (".reqnctapercluster", ".maxclusterrank", ".blocksareclusters")


def read_module(text: str, *, known: bool = True) -> TextModule:
    """Read a text of PTX. Raises Malformed for a text that NVIDIA's compiler does not write and, if `known`, for
    statements that `is_known` does not take."""
    return _TextReader([match.group() for match in cut_tokens(text, _TOKEN, "the compiler")], known).module()


class _TextReader:
    def __init__(self, words: list[str], known: bool = True) -> None:
        self._words, self._known = words, known
        self._at = 0

    def module(self) -> TextModule:
        module = TextModule()
        while self._at < len(self._words):
            word = self._next()
            if word == ".version":
                module.version = self._number()
            elif word == ".target":
                module.target = tuple(self._separated(self._name))
            elif word == ".address_size":
                module.address_size = self._number()
            elif word == ".file":
                self._file(module)
            elif word == ".section":
                self._next()
                self._skip_section()
                module.others.append(word)
            elif word in (".alias", ".pragma"):
                self._until_semicolon()
                module.others.append(word)
            else:
                self._at -= 1
                self._item(module)
        return module

    def _item(self, module: TextModule) -> None:
        linkage = []
        while self._peek() in _LINKAGE:
            linkage.append(self._next())
        word = self._next()
        if word in (".entry", ".func"):
            function = self._function(word == ".entry", tuple(linkage))
            known = module.functions.get(function.name)
            if known is not None and known.body is not None:
                if function.body is not None:
                    raise Malformed(f"two functions of one name: {_shown(function.name)}")
                return
            module.functions[function.name] = function
        elif word in _SPACES:
            variable = self.variable(word[1:], tuple(linkage))
            if variable.name in module.variables:
                raise Malformed(f"two variables of one name: {_shown(variable.name)}")
            module.variables[variable.name] = variable
        else:
            raise Malformed(f"a directive that the compiler does not write: {_shown(word)}")

    def _function(self, entry: bool, linkage: tuple[str, ...]) -> TextFunction:
        returns = self._parameters() if not entry and self._peek() == "(" else ()
        name = self._name()
        parameters = self._parameters() if self._peek() == "(" else ()
        attributes: list[tuple[str, ...]] = []
        while (word := self._peek()) not in ("{", ";"):
            self._next()
            if word == ".noreturn" or (entry and word == ".explicitcluster"):
                attributes.append((word,))
            elif entry and (word in LAUNCH or word in _CLUSTERS):
                attributes.append((word, *self._separated(self._number)))
            else:
                raise Malformed(f"an attribute of a kernel that is not known: {_shown(word)}")
        body = None if self._next() == ";" else self._body()
        if body is None and entry:
            raise Malformed("a kernel without a body")
        return TextFunction(name, entry, linkage, returns, parameters, tuple(attributes), body)

    def _parameters(self) -> tuple[TextParameter, ...]:
        self._expect("(")
        parameters: list[TextParameter] = []
        while self._peek() != ")":
            if parameters:
                self._expect(",")
            parameters.append(self._parameter())
        self._next()
        return tuple(parameters)

    def _parameter(self) -> TextParameter:
        self._expect(".param")
        alignment = self._alignment()
        kind = self._type()
        if self._peek() == ".ptr":
            # Promises about a pointer are left out, as a launch need not keep them.
            self._next()
            if self._peek() in (".global", ".const", ".shared", ".local"):
                self._next()
            self._alignment()
        name = self._name()
        count = self._sides() if self._peek() == "[" else [0]
        if len(count) != 1 or count[0] is None:
            raise Malformed(f"a parameter of an unknown size: {_shown(name)}")
        return TextParameter(name, kind, alignment, count[0])

    def variable(self, space: str, linkage: tuple[str, ...]) -> TextVariable:
        alignment = self._alignment()
        vector = 1
        if self._peek() in (".v2", ".v4"):
            vector = int(self._next()[2:])
        kind = self._type()
        name = self._name()
        sides = self._sides() if self._peek() == "[" else []
        count: int | None = vector
        for side in sides:
            count = None if side is None or count is None else count * side
        initial: tuple[str, ...] = ()
        if self._peek() == "=":
            self._next()
            initial = tuple(self._until_semicolon())
        else:
            self._expect(";")
        if vector > 1:
            alignment = alignment or vector * TYPE_BYTES[kind]
        return TextVariable(name, space, linkage, kind, alignment, count, bool(sides) or vector > 1, initial)

    def _body(self) -> tuple[TextStatement, ...]:
        statements: list[TextStatement] = []
        depth = 1
        while True:
            word = self._next()
            if word == "{":
                depth += 1
                if depth > MOST_DEPTH:
                    raise Malformed("a kernel that is nested too deeply")
                statements.append(TextStatement((word,)))
            elif word == "}":
                depth -= 1
                if not depth:
                    return tuple(statements)
                statements.append(TextStatement((word,)))
            elif word == ".loc":
                statements.append(TextStatement((word, *self._location())))
            elif self._peek() == ":" and _is_name(word):
                statements.append(TextStatement((word, self._next())))
            elif word == ";" and not self._known:
                # Assembly in a student's file may end a statement twice.
                continue
            else:
                self._at -= 1
                statements.append(TextStatement(tuple(self._until_semicolon())))
                if self._known and not is_known(statements[-1]):
                    opcode = statements[-1].opcode
                    what = ("a directive that the compiler does not write" if opcode.startswith(".") else
                            "an instruction that no kernel has")
                    raise Malformed(f"{what}: {_shown(opcode)}")

    def _location(self) -> list[str]:
        """Read a location: `1 16 3`, and for a call that was inlined `, function_name $L__info_string0,
        inlined_at 1 16 3`."""
        words = [self._index(), self._index(), self._index()]
        while self._peek() == ",":
            words.append(self._next())
            what = self._name()
            words.append(what)
            if what == "function_name":
                words.append(self._name())
                if self._peek() == "+":
                    words += [self._next(), self._number()]
            elif what == "inlined_at":
                words += [self._index(), self._index(), self._index()]
            else:
                raise Malformed(f"a place in a file that has {_shown(what)}")
        return words

    def _file(self, module: TextModule) -> None:
        number, name = self._index(), self._next()
        if not name.startswith('"'):
            raise Malformed("a file without a name")
        module.files[int(number)] = name[1:-1]
        while self._peek() == ",":
            # The file's time and its size.
            self._next()
            self._number()

    def _skip_section(self) -> None:
        self._expect("{")
        while self._next() != "}":
            pass

    def _until_semicolon(self) -> list[str]:
        """Return the words of a statement; its braces and brackets are closed within."""
        start = self._at
        depth = 0
        while (word := self._next()) != ";":
            if word in ("{", "(", "["):
                depth += 1
            elif word in ("}", ")", "]"):
                depth -= 1
                if depth < 0:
                    raise Malformed("a statement that does not end")
        if depth or self._at - start < 2:
            raise Malformed("a statement that does not end, or is empty")
        return self._words[start : self._at - 1]

    def _sides(self) -> list[int | None]:
        sides: list[int | None] = []
        while self._peek() == "[":
            self._next()
            if self._peek() == "]":
                sides.append(None)
            else:
                sides.append(int(self._index()))
            self._expect("]")
        return sides

    def _alignment(self) -> int:
        if self._peek() != ".align":
            return 0
        self._next()
        number = self._number()
        if number not in _ALIGNMENTS:
            raise Malformed(f"an alignment of {_shown(number)}")
        return int(number)

    def _type(self) -> str:
        word = self._next()
        if word[0] != "." or word[1:] not in TYPE_BYTES or word == ".pred":
            raise Malformed(f"a type that is not known: {_shown(word)}")
        return word[1:]

    def _separated(self, read: Callable[[], str]) -> list[str]:
        """Return names or numbers, with the commas between them."""
        words = [read()]
        while self._peek() == ",":
            words += [self._next(), read()]
        return words

    def _name(self) -> str:
        word = self._next()
        if not _is_name(word):
            raise Malformed(f"no name: {_shown(word)}")
        return word

    def _number(self) -> str:
        word = self._next()
        if not word[0].isdigit():
            raise Malformed(f"no number: {_shown(word)}")
        return word

    def _index(self) -> str:
        word = self._next()
        if not word.isdecimal() or len(word) > 9:
            raise Malformed(f"no small number: {_shown(word)}")
        return word

    def _expect(self, sign: str) -> None:
        if self._next() != sign:
            raise Malformed(f"a kernel's text without {sign} where it has to stand")

    def _peek(self) -> str:
        return self._words[self._at] if self._at < len(self._words) else ""

    def _next(self) -> str:
        if self._at == len(self._words):
            raise Malformed("a kernel's text that ends in the middle")
        self._at += 1
        return self._words[self._at - 1]


def _is_name(word: str) -> bool:
    return word[0].isalpha() or word[0] in "_$%"


def _shown(word: str) -> str:
    return word[:MOST_SHOWN]


def is_known(statement: TextStatement) -> bool:
    """Return whether kernels may have a statement. Locations, labels and braces are allowed."""
    words, opcode = statement.words, statement.opcode
    if words[0] in (".loc", "{", "}") or statement.label:
        return True
    return opcode in _DECLARED if opcode.startswith(".") else opcode.partition(".")[0] in OPCODES


def declared(statement: TextStatement) -> TextVariable:
    """Return the variable that is declared in a body: `.shared .align 4 .b8 part[128];`. Raises Malformed."""
    space, *words = statement.words
    return _TextReader([*words, ";"]).variable(space[1:], ())
