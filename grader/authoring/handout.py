"""The generated parts of handouts, which follow from assignment and course and stand between marks in the author's
text; and the notebook, with a cell for each stub.

A part begins with a line `<!-- NAME: … -->` and ends with a line `<!-- end -->`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import torch

from grader.course import catalogue
from grader.course.assignment import Assignment
from grader.course.cases import Case, dtype_of, shape_of, strides_of
from grader.course.course import Course
from grader.course.parameters import DType, Input, Output, Parameter, Scalar, Tensor, Update, given
from grader.judging.running.buffers import DTYPES
from grader.kit.inputs import Bits, Bytes, Distribution, Number, Spread
from grader.kit.whole import Bools, Bound, Distinct, Fixed, Indices, Offsets, OneOf, Values, Whole
from grader.plan.plan import ITEM_BYTES

PART = re.compile(r"^<!-- (\w+):[^\n]*-->\n(.*?)^<!-- end -->$", re.DOTALL | re.MULTILINE)
MARK = '<!-- {name}: drawn by "kernelmark handouts" from assignment.py and course.toml, do not edit -->'

NOTEBOOK = "student_template/kernels.ipynb"
_BEGIN = """# Your kernels

Run the first cell once: it installs torch, triton and the checker, which takes minutes. Then write a kernel into its
cell and run that: the cell is checked as in a grading, without a GPU.

`%%kernelmark silu --save` also writes the cell to `silu.py`. Hand in these files, or this notebook: the cell of each
kernel counts, alone. `--report` also writes the page of a grading. `README.md` has the rules, and the handout of each
kernel says what is asked.
"""
_INSTALL = """# In Colab: first put the zip of your course beside this notebook (the folder symbol on the left).
import shutil
import sys
from pathlib import Path


def kit():
    folders = [Path(".."), *Path().iterdir()]
    return next((str(path.resolve()) for path in folders if (path / "grader/notebook.py").is_file()), None)


if kit() is None:
    for archive in Path().glob("*.zip"):
        shutil.unpack_archive(archive)
KIT = kit()
if KIT is None:
    raise SystemExit("The zip of your course is missing: put it beside this notebook, and run this cell again.")
%pip install --quiet --editable "{KIT}"
sys.path.insert(0, KIT)
%load_ext grader.notebook
"""


def parts(assignment: Assignment, course: Course) -> dict[str, str]:
    """Return the generated parts of an assignment's handout in this course, by name: whole lines of Markdown."""
    return {"task": _task(assignment, course), "checks": _checks(assignment), "allowed": _allowed(assignment, course),
            "points": _points(assignment, course)}


def texts(assignments: Mapping[str, Assignment], course: Course, root: Path) -> dict[Path, dict[str, str]]:
    """Return all files with generated parts: each handout, and the README that lists the course's files."""
    rows = dict.fromkeys(
        (f"`{language.file}`", f"`{language.signature}`", language.title)
        for name in course.select(assignments, ()) for language in assignments[name].in_languages(course.languages))
    return {**{handout(name, root): parts(assignment, course) for name, assignment in assignments.items()},
            root / "student_template/README.md": {"files": _table(("file", "function", "what it computes"), [*rows])}}


def notebook(assignments: Mapping[str, Assignment], course: Course, root: Path) -> str:
    """Return the notebook of a course as JSON: a cell that installs the checker, and a cell for each stub."""
    names = course.select(assignments, ())
    cells = [("markdown", _BEGIN.replace("silu", names[0])), ("code", _INSTALL)]
    for name in names:
        stub = catalogue.stub(assignments[name], root).read_text(encoding="utf-8")
        cells += [("markdown", f"## {assignments[name].title}\n\n`assignments/{name}/handout.md`\n"),
                  ("code", f"%%kernelmark {name}\n{stub}")]
    made: list[dict[str, object]] = [{"cell_type": kind, "id": f"cell-{number}", "metadata": {},
             **({"execution_count": None, "outputs": []} if kind == "code" else {}),
             "source": text.strip().splitlines(keepends=True)} for number, (kind, text) in enumerate(cells)]
    return json.dumps({
        "cells": made, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5,
    }, ensure_ascii=False, indent=1) + "\n"


def handout(name: str, root: Path) -> Path:
    return root / "assignments" / name / "handout.md"


def problems(path: Path, drawn: Mapping[str, str]) -> Iterator[str]:
    """Yield the problems of the generated parts of a file, a sentence each. Raises OSError."""
    written = dict(PART.findall(path.read_text(encoding="utf-8")))
    for name, text in drawn.items():
        if name not in written:
            yield f"{path}: no part {name!r}; add lines <!-- {name}: --> and <!-- end -->, and run kernelmark handouts"
        elif written[name] != text:
            yield f"{path}: the part {name!r} is out of date; run kernelmark handouts"


def draw(path: Path, drawn: Mapping[str, str]) -> bool:
    """Write the parts between their marks in a file, and return whether that changed it. Raises OSError."""
    def part(match: re.Match[str]) -> str:
        name = match[1]
        return f"{MARK.format(name=name)}\n{drawn[name]}<!-- end -->" if name in drawn else match[0]

    before = path.read_text(encoding="utf-8")
    after = PART.sub(part, before)
    if after != before:
        path.write_text(after, encoding="utf-8")
    return after != before


def _task(assignment: Assignment, course: Course) -> str:
    own, *others = assignment.in_languages(course.languages) or [assignment]
    rows = [(f"`{p.name}`", *_argument(assignment, p)) for p in assignment.parameters]
    titles: dict[str, list[str]] = {}
    for written in (own, *others):
        titles.setdefault(f"`{written.signature}` in `{written.file}`", []).append(written.front_end.title)
    wanted = ", or ".join(f"{said} ({' or '.join(of)})" if len(of) > 1 else said for said, of in titles.items())
    chosen = "".join(
        f"\n`{name}` is {_alternatives(map(str, allowed))}.\n" for name, allowed in assignment.choices.items())
    return (f"    {assignment.formula}\n\nWrite {wanted}.\n\n" + _table(("argument", "shape", "dtype", ""), rows)
            + chosen + "".join(map(_renamed, others)))


def _renamed(assignment: Assignment) -> str:
    """Return a sentence on what the parameters of a language's function stand for."""
    title = assignment.front_end.title
    meant = [f"`{parameter.name}` is {'·'.join(parameter.of) if parameter.kind == 'size' else f'`{parameter.of[0]}`'}"
             for parameter in assignment.takes if (parameter.name,) != parameter.of]
    return f"\nIn {title} {', '.join(meant)}.\n" if meant else ""


def _argument(assignment: Assignment, parameter: Parameter) -> tuple[str, str, str]:
    """Return the table's cells for a parameter: shape, dtype, and remarks."""
    if isinstance(parameter, Scalar):
        return "", parameter.type, _number(assignment, parameter.name)
    shape = f"({', '.join(map(str, parameter.shape))}{',' * (len(parameter.shape) == 1)})"
    dtypes = _dtypes(assignment, parameter)
    host = "in host memory (pageable, not pinned), " * (parameter.place == "host")
    return shape, _alternatives(dtypes) + ", by the case" * (len(dtypes) > 1), \
        f"{host}{_laid(assignment, parameter)}, {_use(parameter, bool(assignment.autograd))}"


def _use(parameter: Input | Output | Update, autograd: bool) -> str:
    if isinstance(parameter, Update):
        return "read and written in place: it arrives with contents, and must leave with the answer"
    gradient = f"the gradient of `{parameter.gradient_of}`, "
    if isinstance(parameter, Input):
        return f"{gradient if parameter.gradient_of else ''}must stay as it is"
    if parameter.gradient_of:
        return f"{gradient}returned by `backward`"
    if autograd:
        return "saved by `forward`, and no other of its shape" if parameter.saved else "returned by `forward`"
    full = "NaN" if _is_float(parameter.dtype) else \
        f"one arbitrary {'byte' if ITEM_BYTES[parameter.dtype] == 1 else 'number'}"
    return f"arrives full of {full}"


def _laid(assignment: Assignment, parameter: Tensor) -> str:
    """Return the layout of a tensor in memory, with its strides in the cases where it is not contiguous."""
    cases = [case for case in _public(assignment) if parameter.name in case.strides]
    strides = ", ".join(f"{strides_of(parameter, case)} in `{case.name}`" for case in cases)
    return f"contiguous, but for strides of {strides}" if cases else "contiguous"


def _number(assignment: Assignment, name: str) -> str:
    """Return the distribution of a scalar in words, or the values that cases give it."""
    drawn = [assignment.distributions(case)[name] for case in _public(assignment) if assignment.distributions]
    values = list(dict.fromkeys(distribution.value for distribution in drawn if isinstance(distribution, Fixed)))
    if not values:
        return f"{described(*drawn)}, another one at each call" if drawn else ""
    few = _alternatives(map(str, values)) if len(values) <= MOST_VALUES else f"{min(values)} to {max(values)}"
    return f"{few}, by the case"


def _checks(assignment: Assignment) -> str:
    public = _public(assignment)
    anywhere = [case for case in public if case.needs == "any"]
    on_gpu = [case for case in public if case.needs == "gpu"]
    more = len(assignment.cases) - len(public)
    near = "".join(f"* {f'`{view.output.name}`: ' * (len(assignment.outputs) > 1)}{_near(view, anywhere)}\n"
                   for view in assignment.views())
    whole = "* The answer as a whole must fit its distribution, too.\n" * (assignment.statistic is not None)
    return (f"* Cases ({_sizes(anywhere[0])}): {_names(anywhere)}"
            + (f"; on a GPU also {_names(on_gpu)}" if on_gpu else "")
            + (f"; {more} more {'is' if more == 1 else 'are'} hidden" if more else "")
            + f".\n{near}{whole}\n" + _values(assignment))


def _near(view: Assignment, cases: Sequence[Case]) -> str:
    """Return in words the error allowed for the output that `view` is about."""
    if view.tolerance is None:
        return "Every bit must match."
    # The largest ordinary case shows the most.
    ordinary = [case for case in cases if case.values == cases[0].values]
    expected, allowed = _right(view, max(ordinary, key=lambda case: math.prod(shape_of(view.output, case))))
    most = float(allowed.max())
    if not most and not _is_float(view.output.dtype):
        return "Every number must match."
    if not _is_float(view.output.dtype):
        levels = f"{most:g} level{'s' * (most > 1)}" if ITEM_BYTES[view.output.dtype] == 1 else f"{most:g}"
        return f"Each element may lie {levels} from the answer in float64, rounded."
    if not most:
        return "Each element must equal the answer; −0 equals 0."
    dtypes = _dtypes(view, view.output)
    relative = float((allowed / expected.abs())[expected != 0].median()) if bool((expected != 0).any()) else 0
    share = f"{relative:.0e}".replace("e-0", "e-")
    types = _alternatives(dtypes)
    explains = f"Each element may differ from the answer in float64 by what rounding to {types} explains"
    narrower = {"float64": "float32", "float32": "float16"}.get(view.output.dtype)
    return (explains + f": most elements by {share} of their value" * bool(relative) + "."
            + f" Arithmetic in {narrower} fails." * (narrower is not None))


def _right(view: Assignment, case: Case) -> tuple[torch.Tensor, torch.Tensor]:
    """Return a right answer in a case, and the error allowed. An oracle that takes a student's answer gets zeros."""
    assert view.tolerance is not None
    inputs = view.make_inputs(case, torch.Generator().manual_seed(0))
    answered = {p.name: torch.zeros(shape_of(p, case), dtype=DTYPES[dtype_of(p, case)])
                for p in view.outputs if p.name in view.conditions}
    expected = view.oracle(**inputs, **answered)
    return expected, view.tolerance(inputs, expected).expand(expected.shape)


def _dtypes(assignment: Assignment, tensor: Tensor) -> list[DType]:
    """Return the dtypes that a tensor has in public and timed cases."""
    return list(dict.fromkeys(dtype_of(tensor, case) for case in (*_public(assignment), *assignment.timed)))


def _public(assignment: Assignment) -> list[Case]:
    return [case for case in assignment.cases if not case.hidden]


def _is_float(dtype: DType) -> bool:
    return DTYPES[dtype].is_floating_point


def _alternatives(words: Iterable[str]) -> str:
    """Return "a", "a or b", or "a, b or c"."""
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last


def _values(assignment: Assignment) -> str:
    """Return a table of the tensors' contents: one row for all tensors and cases of the same description."""
    public = [case for case in _public(assignment) if assignment.distributions]
    kinds = list(dict.fromkeys(case.values for case in public))
    rows: dict[tuple[str, str], list[str]] = {}
    for p in given(assignment.parameters):
        if isinstance(p, Scalar):
            continue
        alike: dict[str, list[str]] = {}
        for values in kinds:
            alike.setdefault(_contents(assignment, p, [c for c in public if c.values == values]), []).append(values)
        # The contents of the first kind of case come last: they also hold for every kind that has no row of its own.
        for text, of in [*list(alike.items())[1:], *list(alike.items())[:1]]:
            rows.setdefault((_endings(of, kinds), text), []).append(f"`{p.name}`")
    return _table(("tensors", "cases", "contents"), [(", ".join(names), *row) for row, names in rows.items()])


def _contents(assignment: Assignment, p: Tensor, cases: Sequence[Case]) -> str:
    drawn: list[Distribution] = [assignment.distributions(case)[p.name] for case in cases if assignment.distributions]
    return described(*drawn, bits=8 * ITEM_BYTES[dtype_of(p, cases[0])], one_row=len(p.shape) == 1)


def _endings(of: Sequence[str], kinds: Sequence[str]) -> str:
    """Return words for the kinds `of` among all `kinds` of cases: a part of their names that they share, or their
    names. The group that has the first kind gets "all" or "others"."""
    if kinds[0] in of:
        return "all" if len(of) == len(kinds) else "others"
    words = [word for word in of[0].split("-") if all((word in kind.split("-")) == (kind in of) for kind in kinds)]
    return f"with `-{words[0]}`" if words and len(of) > 1 else ", ".join(f"`-{kind}`" for kind in of)


def _allowed(assignment: Assignment, course: Course) -> str:
    operators = sorted(name.removeprefix("aten::") for name in assignment.operators)
    more = f", and here alone the operators {', '.join(f'`{name}`' for name in operators)}" if operators else ""
    assembly = " Inline assembly is refused." * (course.policy.assembly == "refuse")
    libraries = " Kernels of a library are refused." * (course.policy.libraries == "refuse")
    return (f"Your own kernels, allocation, views, and questions about shape{more}.{assembly}{libraries}\n"
            "`student_template/README.md` has the rules of all assignments, and how to check your work.\n")


def _points(assignment: Assignment, course: Course) -> str:
    points, threshold = course.points_of(assignment.name), course.threshold_of(assignment.name)
    credit = "if every case passes" if course.points.credit == "all" else "a share for each case that passes"
    text = (f"* {points.correctness:g} points for right answers, {credit}.\n"
            f"* {points.performance:g} points for speed, on a GPU, once every case passes: 0 at {threshold.floor:g} × "
            f"the baseline's speed or less, {points.performance:g} at {threshold.target:g} × or more, a straight line "
            f"between.\n* The baseline is PyTorch: `{assignment.baseline.name}`.\n")
    structure = course.structure_of(assignment)
    earning = [condition for name, condition in structure.by_name.items() if name not in structure.required]
    if earning:
        text += (f"* {points.structure:g} points for how the kernel works, with or without a GPU, once every case "
                 "passes: a share for each condition.\n")
        text += "".join(f"  * The kernel has to {condition.text}.\n" for condition in earning)
    text += "".join(f"* Required: the kernel has to {structure.by_name[name].text}.\n"
                    for name in structure.by_name if name in structure.required)
    if not assignment.timed:
        return text
    host = any(isinstance(p, Input) and p.place == "host" for p in assignment.parameters)
    rows = [(first, others or "the same") for first, _, others in
            (_names(list(case.siblings())).partition(", ") for case in assignment.timed)]
    return f"{text}\n" + _table((f"timed case ({_sizes(assignment.timed[0])})",
                                 f"smaller, on a {'host' if host else 'card'} with little memory"), rows)


def _sizes(case: Case) -> str:
    return "×".join(case.sizes)


def _names(cases: Sequence[Case]) -> str:
    return ", ".join(f"`{case.name}`" for case in cases)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "".join(f"| {' | '.join(line)} |\n".replace("|  |", "| |") for line in (head, ["---"] * len(head), *rows))


# More values than this are described as a range.
MOST_VALUES = 5


def described(*drawn: Distribution, bits: int = 32, one_row: bool = False) -> str:
    """Describe distributions of one kind. Spreads that differ in scale or offset are described by ranges, others one
    after another. `bits` is the width of an element."""
    first = drawn[0]
    if isinstance(first, Values):
        return " or ".join(dict.fromkeys(_value(values) for values in drawn if isinstance(values, Values)))
    if isinstance(first, Number):
        return f"between {number(first.low)} and {number(first.high)}"
    if isinstance(first, Bytes):
        return {2: "0 and 255 alone", 256: "any byte"}.get(first.levels, f"{first.levels} levels from 0 to 255")
    if isinstance(first, Bits):
        return f"any {bits} bits that are a finite number: −0, the smallest and the largest among them"
    return _spread([distribution for distribution in drawn if isinstance(distribution, Spread)], one_row)


def _value(drawn: Values) -> str:
    if isinstance(drawn, Whole):
        return f"whole numbers from {_bound(drawn.low)} to {_bound(drawn.high)}"
    if isinstance(drawn, Indices):
        return f"whole numbers from 0 to {_bound(drawn.high, 1)}, both among them, some often"
    if isinstance(drawn, Distinct):
        return f"whole numbers from 0 to {_bound(drawn.high, 1)}, none twice" + " in a row" * drawn.each_row
    if isinstance(drawn, Offsets):
        return f"offsets of rows, from 0 to {_bound(drawn.total)}: some rows are empty, one is long"
    if isinstance(drawn, Bools):
        return f"true for {100 * drawn.share:g} %"
    if isinstance(drawn, OneOf) and len(drawn.values) > MOST_VALUES:
        low, high = (f"{end:.3g}".replace("-", "−") for end in (min(drawn.values), max(drawn.values)))
        return f"one of {len(drawn.values)} numbers from {low} to {high}"
    if isinstance(drawn, OneOf):
        *most, last = (str(value).removesuffix(".0").replace("-", "−") for value in drawn.values)
        return f"{', '.join(most)} or {last}" if most else last
    assert isinstance(drawn, Fixed)
    return f"{drawn.value}".replace("-", "−")


def _bound(bound: Bound, less: int = 0) -> str:
    if isinstance(bound, int):
        return str(bound - less).replace("-", "−")
    return f"{bound.replace('-', '−')}{f' − {less}' * bool(less)}"


def _spread(spreads: list[Spread], one_row: bool) -> str:
    first = spreads[0]
    low, high = (number(extreme(spread.scale[end] for spread in spreads)) for end, extreme in enumerate((min, max)))
    whose = ", with" if one_row or first.axis is None else f"; each {('row', 'column')[first.axis]} has"
    words = f"normal{whose} a standard deviation of {low}" + f" to {high}" * (low != high)
    if offset := max(spread.offset for spread in spreads):
        words += f" and a mean within ±{number(offset)}" + " standard deviations" * (not first.absolute)
    if first.outliers and first.outliers.exponents:
        low_power, high_power = first.outliers.exponents
        words += f"; one in {first.outliers.every} between ±{2**low_power:,} and ±{2 ** (high_power + 1):,}"
    elif first.outliers:
        words += f"; one in {first.outliers.every} is {first.outliers.times:g} times as large"
    if first.peaks:
        low, high = map(number, first.peaks.lower)
        words += f"; in one row of {first.peaks.every} all but a few neighbours are {low} to {high} less"
    if first.distinct:
        words += "; none twice in a row"
    if first.loud:
        words += f"; half of the {('rows', 'columns')[first.loud.axis]} are {first.loud.times:g} times as large"
    return words


def number(value: float) -> str:
    """Return a number with two significant digits: 0.35, 300, 1e-6."""
    return f"{float(f'{value:.2g}'):g}".replace("e-0", "e-")
