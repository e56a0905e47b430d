"""Writes the parts of handouts that follow from the assignment and the course between marks in the author's text; and
the notebook, which has a cell for each stub.

A part begins with a line `<!-- NAME: … -->` and ends with a line `<!-- end -->`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import torch

from grader import frontends
from grader.kit.inputs import Bits, Bytes, Distribution, Number, Spread
from grader.model import catalogue
from grader.model.assignment import Assignment
from grader.model.cases import Case, shape_of
from grader.model.catalogue import answer_and_tolerance
from grader.model.course import Course
from grader.model.parameters import Input, Output, Parameter, Scalar

PART = re.compile(r"^<!-- (\w+):[^\n]*-->\n(.*?)^<!-- end -->$", re.DOTALL | re.MULTILINE)
MARK = '<!-- {name}: drawn by "kernelmark handouts" from assignment.py and course.toml, do not edit -->'

NOTEBOOK = "student_template/kernels.ipynb"
_BEGIN = """# Your kernels

Run the first cell once: it installs torch, triton and the checker, which takes minutes. Then write a kernel into its
cell and run that: it is checked as a grading would check it, and no GPU is needed.

`%%kernelmark silu --save` also writes the cell to `silu.py`. Hand in these files, or this notebook: of each kernel its
cell is taken, alone. `--report` writes the page that a grading would write, too. `README.md` has the rules, and the
handout of each kernel says what is asked.
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
%pip install --quiet --editable "{KIT}"
sys.path.insert(0, KIT)
%load_ext grader.notebook
"""


def parts(assignment: Assignment, course: Course) -> dict[str, str]:
    """The generated parts of an assignment's handout in this course, by name: whole lines of Markdown."""
    return {"task": _task(assignment, course), "checks": _checks(assignment), "allowed": _allowed(assignment, course),
            "points": _points(assignment, course)}


def texts(assignments: Mapping[str, Assignment], course: Course, root: Path) -> dict[Path, dict[str, str]]:
    """All files with generated parts: each handout, and the README that lists the course's files."""
    rows = [(f"`{one.file}`", f"`{one.signature}`", one.title)
            for name in course.select(assignments, ()) for one in assignments[name].in_languages(course.languages)]
    return {**{handout(name, root): parts(assignment, course) for name, assignment in assignments.items()},
            root / "student_template/README.md": {"files": _table(("file", "function", "what it computes"), rows)}}


def notebook(assignments: Mapping[str, Assignment], course: Course, root: Path) -> str:
    """The notebook of a course as JSON: a cell that installs the checker, and a cell for each stub."""
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
    """Problems of the generated parts of a file, a sentence each. Raises OSError."""
    written = dict(PART.findall(path.read_text(encoding="utf-8")))
    for name, text in drawn.items():
        if name not in written:
            yield f"{path}: no part {name!r}; add lines <!-- {name}: --> and <!-- end -->, and run kernelmark handouts"
        elif written[name] != text:
            yield f"{path}: the part {name!r} is out of date; run kernelmark handouts"


def draw(path: Path, drawn: Mapping[str, str]) -> bool:
    """Writes the parts between their marks in a file. Returns whether that changed it. Raises OSError."""
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
    first = assignment.distributions(assignment.cases[0]) if assignment.distributions else {}
    rows = [(f"`{p.name}`", *_argument(p, first.get(p.name))) for p in assignment.parameters]
    wanted = ", or ".join(f"`{one.signature}` in `{one.file}`" for one in (own, *others))
    return (f"    {assignment.formula}\n\nWrite {wanted}.\n\n" + _table(("argument", "shape", "dtype", ""), rows)
            + "".join(map(_renamed, others)))


def _renamed(assignment: Assignment) -> str:
    """What the parameters of a language stand for."""
    title = frontends.by_suffix(assignment.suffix).title
    meant = [f"`{one.name}` is {'·'.join(one.of) if one.kind == 'size' else f'`{one.of[0]}`'}"
             for one in assignment.takes if (one.name,) != one.of]
    return f"\nIn {title} {', '.join(meant)}.\n" if meant else ""


def _argument(parameter: Parameter, distribution: Distribution | None) -> tuple[str, str, str]:
    """The table's cells for a parameter: shape, dtype, and remarks."""
    if isinstance(parameter, Scalar):
        return "", "float", _words(distribution)
    shape = f"({', '.join(map(str, parameter.shape))}{',' * (len(parameter.shape) == 1)})"
    if isinstance(parameter, Output):
        full = "one arbitrary byte" if parameter.dtype == "uint8" else "NaN"
        return shape, parameter.dtype, f"contiguous, arrives full of {full}"
    host = "in host memory (pageable, not pinned), " * (parameter.place == "host")
    return shape, parameter.dtype, f"{host}contiguous, must stay as it is"


def _checks(assignment: Assignment) -> str:
    public = [case for case in assignment.cases if not case.hidden]
    anywhere, dtype = [case for case in public if case.needs == "any"], assignment.output.dtype
    on_gpu = [case for case in public if case.needs == "gpu"]
    more = len(assignment.cases) - len(public)
    near = "Every bit must match."
    if assignment.tolerance is not None and dtype == "uint8":
        inputs = assignment.make_inputs(anywhere[0], torch.Generator().manual_seed(0))
        levels = int(assignment.tolerance(inputs, assignment.oracle(**inputs)).max())
        near = f"Each element may lie {levels} level{'s' * (levels > 1)} from the answer in float64, rounded."
    elif assignment.tolerance is not None:
        near = (f"Each element may differ from the answer in float64 by what rounding to {dtype} explains: most "
                f"elements by {_allowed_error(assignment, anywhere)} of their value.")
        near += " Arithmetic in float16 fails." * (dtype == "float32")
    return (f"* Cases ({_sizes(anywhere[0])}): {_names(anywhere)}"
            + (f"; on a GPU also {_names(on_gpu)}" if on_gpu else "")
            + (f"; {more} more {'is' if more == 1 else 'are'} hidden" if more else "")
            + f".\n* {near}\n\n" + _values(assignment))


def _allowed_error(assignment: Assignment, cases: Sequence[Case]) -> str:
    """The median error allowed in the largest ordinary case, relative to the answer, to one digit."""
    ordinary = [case for case in cases if case.values == cases[0].values]
    inputs = assignment.make_inputs(
        max(ordinary, key=lambda case: math.prod(shape_of(assignment.output, case))), torch.Generator().manual_seed(0))
    expected, allowed = answer_and_tolerance(assignment, inputs)
    return f"{float((allowed / expected.abs()).median()):.0e}".replace("e-0", "e-")


def _values(assignment: Assignment) -> str:
    """A table of the tensors' contents: a row for all cases with the same ending, a column for each tensor."""
    given = [p for p in assignment.parameters if isinstance(p, Input)]
    rows = []
    public = [case for case in assignment.cases if not case.hidden]
    for values in dict.fromkeys(case.values for case in public if assignment.distributions):
        drawn = [assignment.distributions(case) for case in public
                 if case.values == values and assignment.distributions]
        ending = "others" if values == assignment.cases[0].values else f"`-{values}`"
        rows.append((ending, *(_words(*(distributions[p.name] for distributions in drawn), one_row=len(p.shape) == 1)
                               for p in given)))
    return _table(("cases", *(f"`{p.name}`" for p in given)), [*rows[1:], *rows[:1]])


def _words(*drawn: Distribution | None, one_row: bool = False) -> str:
    """Describes distributions of one kind, which differ at most in scale and offset."""
    first, spreads = drawn[0], [found for found in drawn if isinstance(found, Spread)]
    if isinstance(first, Number):
        return f"between {_number(first.low)} and {_number(first.high)}, another one at each call"
    if isinstance(first, Bytes):
        return {2: "0 and 255 alone", 256: "any byte"}.get(first.levels, f"{first.levels} levels from 0 to 255")
    if isinstance(first, Bits):
        return "any 32 bits that are a finite number: −0, the smallest and the largest among them"
    if not isinstance(first, Spread):
        return ""
    low, high = (_number(extreme(spread.scale[end] for spread in spreads)) for end, extreme in enumerate((min, max)))
    whose = ", with" if one_row or first.axis is None else f"; each {('row', 'column')[first.axis]} has"
    words = f"normal{whose} a standard deviation of {low}" + f" to {high}" * (low != high)
    if offset := max(spread.offset for spread in spreads):
        words += f" and a mean within ±{_number(offset)}" + " standard deviations" * (not first.absolute)
    if first.outliers and first.outliers.exponents:
        low_power, high_power = first.outliers.exponents
        words += f"; one in {first.outliers.every} between ±{2**low_power:,} and ±{2 ** (high_power + 1):,}"
    elif first.outliers:
        words += f"; one in {first.outliers.every} is {first.outliers.times:g} times as large"
    if first.loud:
        words += f"; half of the {('rows', 'columns')[first.loud.axis]} are {first.loud.times:g} times as large"
    return words


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


def _number(value: float) -> str:
    """A number with two significant digits: 0.35, 300, 1e-6."""
    return f"{float(f'{value:.2g}'):g}".replace("e-0", "e-")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "".join(f"| {' | '.join(line)} |\n".replace("|  |", "| |") for line in (head, ["---"] * len(head), *rows))
