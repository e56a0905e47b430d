"""Reader of PTX, which may be hostile: it reads each character once. See "Syntax" and "Directives" of the PTX ISA.

The judge refuses statements that are not known here; a simulator reads them, and stops where one is run.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from grader.plan.plan import Malformed
from grader.plan.tokens import BLOCK_COMMENT, cut_tokens
from grader.simulation.ptx.grammar import (
    TYPE_BYTES,
    TextFunction,
    TextModule,
    TextParameter,
    TextStatement,
    TextVariable,
)

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
# debugger, and those for video but one, which CUDA's compiler writes.
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
        made = TextModule()
        while self._at < len(self._words):
            word = self._next()
            if word == ".version":
                made.version = self._number()
            elif word == ".target":
                made.target = tuple(self._separated(self._name))
            elif word == ".address_size":
                made.address_size = self._number()
            elif word == ".file":
                self._file(made)
            elif word == ".section":
                self._next()
                self._skip_section()
                made.others.append(word)
            elif word in (".alias", ".pragma"):
                self._until_semicolon()
                made.others.append(word)
            else:
                self._at -= 1
                self._item(made)
        return made

    def _item(self, made: TextModule) -> None:
        linkage = []
        while self._peek() in _LINKAGE:
            linkage.append(self._next())
        word = self._next()
        if word in (".entry", ".func"):
            function = self._function(word == ".entry", tuple(linkage))
            known = made.functions.get(function.name)
            if known is not None and known.body is not None:
                if function.body is not None:
                    raise Malformed(f"two functions of one name: {_shown(function.name)}")
                return
            made.functions[function.name] = function
        elif word in _SPACES:
            variable = self.variable(word[1:], tuple(linkage))
            if variable.name in made.variables:
                raise Malformed(f"two variables of one name: {_shown(variable.name)}")
            made.variables[variable.name] = variable
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
        found: list[TextParameter] = []
        while self._peek() != ")":
            if found:
                self._expect(",")
            found.append(self._parameter())
        self._next()
        return tuple(found)

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
        found: list[TextStatement] = []
        depth = 1
        while True:
            word = self._next()
            if word == "{":
                depth += 1
                if depth > MOST_DEPTH:
                    raise Malformed("a kernel that is nested too deeply")
                found.append(TextStatement((word,)))
            elif word == "}":
                depth -= 1
                if not depth:
                    return tuple(found)
                found.append(TextStatement((word,)))
            elif word == ".loc":
                found.append(TextStatement((word, *self._location())))
            elif self._peek() == ":" and _is_name(word):
                found.append(TextStatement((word, self._next())))
            elif word == ";" and not self._known:
                # Assembly in a student's file may end a statement twice.
                continue
            else:
                self._at -= 1
                found.append(TextStatement(tuple(self._until_semicolon())))
                if self._known and not is_known(found[-1]):
                    opcode = found[-1].opcode
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

    def _file(self, made: TextModule) -> None:
        number, name = self._index(), self._next()
        if not name.startswith('"'):
            raise Malformed("a file without a name")
        made.files[int(number)] = name[1:-1]
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
            raise Malformed(f"a name expected: {_shown(word)}")
        return word

    def _number(self) -> str:
        word = self._next()
        if not word[0].isdigit():
            raise Malformed(f"a number expected: {_shown(word)}")
        return word

    def _index(self) -> str:
        word = self._next()
        if not word.isdecimal() or len(word) > 9:
            raise Malformed(f"a small number expected: {_shown(word)}")
        return word

    def _expect(self, sign: str) -> None:
        if self._next() != sign:
            raise Malformed(f"{sign} expected in a kernel's text")

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
