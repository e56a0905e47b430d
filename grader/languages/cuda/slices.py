"""Split of the compiler's output for a file into a text for each kernel.

A text holds its entry and the functions that the entry calls. Variables that keep values from launch to launch become
parameters, for which a plan has buffers of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from grader.languages.cuda.read_only import CALLED, MOST_BYTES, called, read_only
from grader.languages.cuda.source import KernelDeclaration, kernel_declarations
from grader.languages.cuda.symbols import MOST_NAME, readable, variable_name
from grader.plan.plan import TEXT_CHARACTERS, Malformed
from grader.simulation.ptx.reader import (
    HEADER,
    LAUNCH,
    OWN,
    TextFunction,
    TextModule,
    TextParameter,
    TextStatement,
    TextVariable,
    contents,
    declared,
    is_known,
    lines_of,
    read_module,
)

# Strings, the names of functions in assertions, and tables for sine and cosine.
_MAY_STAY = ("$str", "__unnamed_", "__cudart_")
# CUDA's functions for memory within a kernel, and how a file may write them.
_ALLOCATES = {"malloc": "malloc (or new)", "free": "free (or delete)"}
# `…/include/cccl/cub/device/…`
_HEADER = re.compile(r"/include/(?:cccl/)?(\w{1,40})/[^/]")
LIBRARY_FILE = 2
"""The number of the `.file` in a text that names the library of the kernel."""


class UnplannableKernel(Exception):
    """Error: a kernel has something that no plan can have. The message says what it is and what to do. Line 0 stands
    for an unknown line."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.message, self.line = message, line


@dataclass(frozen=True)
class HiddenVariable:
    """Variable of the file, which a kernel gets as a parameter. `symbol` is its name in the compiler's text, under
    which host code registers it, `name` its name in the file. `contents` are its initial bytes."""

    symbol: str
    name: str
    contents: bytes


@dataclass(frozen=True)
class EntryText:
    """Kernel with the fields of `Kernel`. The last parameters of its signature stand for `variables`, in their order.
    `most_threads` is the most threads of a block: the number in `__launch_bounds__`, or 1024. `shared` is the shared
    memory that the text declares, in bytes. If no plan may hold the kernel, `unplanned` is the reason, found in `line`,
    and `text` is empty."""

    symbol: str
    name: str
    line: int
    text: str
    signature: tuple[str, ...]
    variables: tuple[HiddenVariable, ...]
    most_threads: int = 1024
    shared: int = 0
    unplanned: str = ""


def split(ptx: str, source: str) -> list[EntryText]:
    """Return a text for each kernel of `ptx`, as `slices` does. The file `source` gives the names of parameters."""
    return slices(ptx, kernel_declarations(source), ".cu")


def slices(
    ptx: str, declarations: Sequence[KernelDeclaration], suffix: str, linked: Sequence[str] = (),
) -> list[EntryText]:
    """Return a text for each kernel of `ptx`, in order. A kernel that cannot be planned is harmless unless it is
    launched. `suffix` is that of the student's file, whose lines the text keeps. `linked` are texts without lines whose
    functions the kernels call. Raises Malformed for a text that the compiler does not write."""
    module = read_module(ptx, known=False)
    for linked_module in (read_module(text, known=False) for text in linked):
        module.variables.update(linked_module.variables)
        module.functions.update({name: function for name, function in linked_module.functions.items()
                                 if function.body is not None})
    known: dict[str, list[KernelDeclaration]] = {}
    for declaration in declarations:
        known.setdefault(declaration.name, []).append(declaration)
    return [_entry(_Slice(module, function, known, suffix)) for function in module.functions.values() if function.entry]


def _entry(slice_: _Slice) -> EntryText:
    entry = slice_.entry
    try:
        kernel = slice_.entry_text()
        if len(kernel.text) > TEXT_CHARACTERS:
            raise UnplannableKernel(
                f"{kernel.name} becomes {len(kernel.text):,} characters of machine text, of which a plan has "
                f"{TEXT_CHARACTERS:,} at most: unroll less", kernel.line)
        return kernel
    except UnplannableKernel as error:
        return EntryText(symbol=entry.name, name=readable(entry.name), line=error.line, text="", signature=(),
                         variables=(), unplanned=error.message)


class _Slice:
    """Slice of a module for one entry."""

    def __init__(
        self, module: TextModule, entry: TextFunction, known: Mapping[str, list[KernelDeclaration]], suffix: str,
    ) -> None:
        self._module = module
        self.entry = entry
        self._known = known
        self._suffix = suffix
        # The student's file is compiled under a name with this suffix; names of headers have another.
        self._own = module.own(suffix)

    def entry_text(self) -> EntryText:
        """Return the kernel's text. Raises UnplannableKernel, Malformed."""
        module, entry = self._module, self.entry
        if any(attribute[0] not in LAUNCH for attribute in entry.attributes):
            raise UnplannableKernel(
                f"{readable(entry.name)} has __cluster_dims__, and clusters of blocks are not planned: leave it out",
                self._with_locations(entry.body or ())[0])
        functions = self._callees()
        for function in (entry, *functions):
            self._check_known(function)
        used = self._variables(functions)
        constant = self._read_only(functions, used)
        hidden = [variable for name, variable in used.items() if variable.space != "shared" and name not in constant]
        for function in functions:
            self._check_function(function)
        needed = self._needed_variables(functions, hidden)
        name, library = readable(entry.name), self._library()
        parameters, new_names = self._parameters(name, hidden)
        line, body = self._body(entry, parameters, new_names, hidden, needed)
        text = TextModule(
            version=module.version, target=module.target, address_size=module.address_size,
            files={**({1: f"submission{self._suffix}"} if self._own else {}),
                   **({LIBRARY_FILE: library} if library else {})},
            variables={name: replace(variable, space="global") if variable.space == "const" else variable
                       for name, variable in used.items() if variable not in hidden},
            functions={function.name: self._function(function, needed) for function in functions} | {
                entry.name: replace(entry, parameters=tuple(parameters), body=tuple(body))})
        return EntryText(
            symbol=entry.name, name=name, line=line, text=text.written(),
            signature=tuple(parameter.entry for parameter in parameters),
            variables=tuple(_hidden(variable) for variable in hidden),
            most_threads=most_threads(entry), shared=shared_bytes(text))

    def _library(self) -> str:
        """Return the library whose header defines the kernel, such as `cub`; "" if the file defines it."""
        place = next((statement.words[1] for statement in self.entry.body or () if statement.words[0] == ".loc"), "")
        file = self._module.files.get(int(place), "") if place and int(place) != self._own else ""
        match = _HEADER.search(file)
        return match[1] if match else ""

    def _callees(self) -> list[TextFunction]:
        """Return the functions that the entry calls, directly or by way of others."""
        callees: dict[str, TextFunction] = {}
        queue = [self.entry]
        while queue:
            for statement in queue.pop().body or ():
                for word in statement.words:
                    function = self._module.functions.get(word)
                    if function is not None and not function.entry and word not in callees:
                        callees[word] = function
                        queue.append(function)
        # In the order of the text.
        return [function for name, function in self._module.functions.items() if name in callees]

    def _variables(self, functions: Sequence[TextFunction]) -> dict[str, TextVariable]:
        words = {word for function in (self.entry, *functions) for statement in function.body or ()
                 for word in statement.words}
        return {name: variable for name, variable in self._module.variables.items() if name in words}

    def _read_only(self, functions: Sequence[TextFunction], used: Mapping[str, TextVariable]) -> frozenset[str]:
        """Return the names of strings and of NVIDIA's tables that nothing writes."""
        candidates = {
            name: variable for name, variable in used.items()
            if variable.space != "shared" and variable.initial and variable.bytes <= MOST_BYTES
            and name.startswith(_MAY_STAY)}
        return read_only((self.entry, *functions), candidates)

    def _check_known(self, function: TextFunction) -> None:
        for statement, line in lines_of(function.body or (), self._own):
            if not is_known(statement):
                raise UnplannableKernel(
                    f"{readable(function.name)} has {statement.opcode[:60]}, which neither simulator nor plan knows: "
                    "write it without", line)

    def _check_function(self, function: TextFunction) -> None:
        if function.body is None and function.name in _ALLOCATES:
            raise UnplannableKernel(
                f"This kernel calls {_ALLOCATES[function.name]}, which the grader does not take: allocate with "
                "cudaMalloc in host code, and pass the pointer", self._line_of_call(function.name))
        if function.body is None and function.name not in CALLED:
            raise UnplannableKernel(
                f"a kernel calls {readable(function.name)}, which is not defined in the file: kernels can call "
                "functions of their own file, printf and assert", self._line_of_call(function.name))

    def _needed_variables(
        self, functions: Sequence[TextFunction], hidden: Sequence[TextVariable],
    ) -> dict[str, list[TextVariable]]:
        """Return the variables that each function needs, for itself or for a function that it calls: its callers pass
        their addresses."""
        words = {function.name: {word for statement in function.body or () for word in statement.words}
                 for function in functions}
        uses = {name: {variable.name for variable in hidden} & words[name] for name in words}
        # A function's variables become its callers' variables, until no caller gets a new one.
        callers: dict[str, list[str]] = {name: [] for name in uses}
        for name in uses:
            for called_name in words[name] & uses.keys():
                callers[called_name].append(name)
        queue = [name for name, used in uses.items() if used]
        while queue:
            name = queue.pop()
            for caller in callers[name]:
                if not uses[name] <= uses[caller]:
                    uses[caller] |= uses[name]
                    queue.append(caller)
        for function in (self.entry, *functions):
            for statement in function.body or ():
                for name in uses.keys() & set(statement.words):
                    if uses[name] and called(statement) != name:
                        raise UnplannableKernel(
                            f"{readable(name)} uses the variable {_variable_name(min(uses[name]))} and is called "
                            "through a pointer: call it by its name, or pass it a pointer to the variable",
                            self._with_locations(self._module.functions[name].body or ())[0])
        return {name: [variable for variable in hidden if variable.name in used] for name, used in uses.items()}

    def _function(self, function: TextFunction, needed: Mapping[str, list[TextVariable]]) -> TextFunction:
        """Return a device function of the text, whose last parameters are the variables that it carries."""
        if function.body is None:
            return function
        variables = needed[function.name]
        parameters = (*function.parameters, *(TextParameter(f"{function.name}_variable_{number}", "b64")
                                              for number in range(len(variables))))
        body = self._body(function, parameters, {}, variables, needed)[1]
        return replace(function, parameters=parameters, body=tuple(body))

    def _line_of_call(self, name: str) -> int:
        for statement, line in lines_of(self.entry.body or (), self._own):
            if statement.opcode.split(".")[0] == "call" and called(statement) == name:
                return line
        return 0

    def _parameters(
        self, name: str, hidden: Sequence[TextVariable],
    ) -> tuple[list[TextParameter], dict[str, str]]:
        """Return the parameters of the text, and their new names by the compiler's names."""
        given = self.entry.parameters
        plain = name.partition("<")[0].rpartition("::")[2]
        declared = [declaration for declaration in self._known.get(plain, ())
                    if len(declaration.parameters) == len(given)]
        names = declared[-1].parameters if declared else ("",) * len(given)
        parameters = [replace(parameter, name=f"param_{number}_{called}")
                      for number, (parameter, called) in enumerate(zip(given, names, strict=True))]
        new_names = {parameter.name: new.name for parameter, new in zip(given, parameters, strict=True)}
        parameters += [TextParameter(f"param_{number}_{_variable_name(variable.name)}", "u64")
                       for number, variable in enumerate(hidden, len(given))]
        return parameters, new_names

    def _body(
        self, function: TextFunction, parameters: Sequence[TextParameter], new_names: Mapping[str, str],
        variables: Sequence[TextVariable], needed: Mapping[str, list[TextVariable]],
    ) -> tuple[int, list[TextStatement]]:
        """Return a function's first line, and its statements with registers in place of the variables, for which the
        last of `parameters` stand."""
        line, placed = self._with_locations(function.body or ())
        registers = {variable.name: f"%variable_{number}" for number, variable in enumerate(variables)}
        body = [TextStatement((".reg", ".b64", register)) for register in registers.values()]
        body += [TextStatement(("ld.param.u64", register, ",", "[", parameter.name, "]")) for register, parameter in
                 zip(registers.values(), parameters[len(function.parameters) :], strict=True)]
        for number, statement in enumerate(placed):
            more = needed.get(called(statement), ()) if statement.opcode.startswith("call") else ()
            given = {f"variable_{number}_{place}": registers[variable.name] for place, variable in enumerate(more)}
            for name, register in given.items():
                body += [TextStatement((".param", ".b64", name)),
                         TextStatement(("st.param.b64", "[", name, "]", ",", register))]
            body.append(_with_arguments(_rewrite(statement, registers, new_names), [*given]))
        return line, body

    def _with_locations(self, body: Sequence[TextStatement]) -> tuple[int, list[TextStatement]]:
        """Return the first line, and the statements with locations of the student's file alone: code of headers has the
        line of the student's call, and the column HEADER."""
        statements: list[TextStatement] = []
        first, before = 0, (0, OWN)
        for statement, line in lines_of(body, self._own):
            if statement.words[0] != ".loc":
                statements.append(_without_constants(statement))
                continue
            here = line, OWN if statement.words[1] == str(self._own) else HEADER
            if here != before and self._own:
                statements.append(TextStatement((".loc", "1", str(line), here[1])))
                first, before = first or line, here
        return first, statements


def _rewrite(
    statement: TextStatement, registers: Mapping[str, str], new_names: Mapping[str, str],
) -> TextStatement:
    """Return a statement with the new names of parameters, and registers in place of variables."""
    words = [new_names.get(word, registers.get(word, word)) for word in statement.words]
    place = statement.place
    if any(word in registers for word in statement.operands) and words[place].startswith("mov.") and "+" in words:
        # `mov.u64 %rd1, table+4;`
        words[place] = "add.s64"
        words[words.index("+")] = ","
    return TextStatement(tuple(words))


def _with_arguments(statement: TextStatement, more: Sequence[str]) -> TextStatement:
    """Return a call with more arguments."""
    if not more:
        return statement
    words, arguments = list(statement.words), [word for name in more for word in (",", name)]
    if words[-1] != ")":
        # `call (returned), function`
        return TextStatement((*words, ",", "(", *arguments[1:], ")"))
    return TextStatement((*words[:-1], *arguments[words[-2] == "(" :], ")"))


def _without_constants(statement: TextStatement) -> TextStatement:
    """Return a statement with global memory in place of constant memory, which plans do not have."""
    words, place = list(statement.words), statement.place
    if place < len(words):
        opcode = words[place]
        if opcode.startswith("ld.") and ".const" in opcode:
            words[place] = opcode.replace(".const", ".global", 1)
        elif opcode.startswith("cvta.") and ".const" in opcode:
            words[place] = "mov.u64"
    return TextStatement(tuple(words))


def _variable_name(symbol: str) -> str:
    """Return a variable's name as a word of a plan."""
    return re.sub(r"\W", "_", variable_name(symbol))[:MOST_NAME]


def _hidden(variable: TextVariable) -> HiddenVariable:
    name = _variable_name(variable.name)
    try:
        return HiddenVariable(variable.name, name, contents(variable))
    except Malformed:
        raise UnplannableKernel(f"the variable {name} begins with an address: set pointers inside the kernel, or pass "
                                "them as arguments") from None


def shared_bytes(module: TextModule) -> int:
    """Return the shared memory that a module declares, in bytes. Raises Malformed."""
    variables = [*module.variables.values(), *(
        declared(statement) for function in module.functions.values() for statement in function.body or ()
        if statement.opcode == ".shared")]
    return sum(variable.bytes for variable in variables if variable.space == "shared")


def most_threads(entry: TextFunction) -> int:
    """Return the most threads of a block, by the kernel's directives or 1024."""
    for attribute in entry.attributes:
        if attribute[0] in (".maxntid", ".reqntid"):
            most = 1
            for word in attribute[1:]:
                if word != "," and not (word.isdecimal() and len(word) < 10):
                    raise Malformed(f"{attribute[0]} {word[:20]!a}: a small number expected")
                most *= int(word) if word != "," else 1
            return min(most, 1024)
    return 1024
