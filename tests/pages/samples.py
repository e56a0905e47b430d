"""Results made by hand for the pages: every verdict, error maps of several shapes, and text that means harm."""

import random
from functools import cache

from grader.results.launched import AccessFacts, Figures, Inspection, LaunchFacts
from grader.results.result import (
    AssignmentResult,
    CheckResult,
    Corner,
    Correctness,
    Detail,
    Environment,
    ErrorMap,
    Flag,
    OutputFigures,
    Performance,
    Place,
    Repair,
    Result,
    WorstElement,
)
from grader.results.verdicts import UNJUDGED, Verdict
from tests.pages import speeds
from tests.rows import beside

SOURCE: str = beside(__file__)["source"]
KERNELS = {
    "silu": ("SiLU", "silu(x, out)", "out[i, j] = x[i, j] / (1 + exp(−x[i, j]))"),
    "rmsnorm_vector": ("RMSNorm, one vector", "rmsnorm_vector(x, weight, eps, out)",
                       "out[i] = x[i] · weight[i] / √(mean(x²) + eps)"),
    "rmsnorm_matrix": ("RMSNorm, every row", "rmsnorm_matrix(x, weight, eps, out)",
                       "out[i, j] = x[i, j] · weight[j] / √(mean(x[i]²) + eps)"),
    "copy_first_column": ("Copy the first column", "copy_first_column(matrix, out)", "out[i] = matrix[i, 0]"),
    "transpose": ("Transpose", "transpose(x, out)", "out[j, i] = x[i, j]"),
    "gemm": ("GEMM", "gemm(a, b, out)", "out[i, j] = Σₖ a[i, k] · b[k, j]"),
}
SIZES = ((1, 1), (1, 7), (5, 9), (32, 32), (61, 128), (127, 131), (257, 64))
NO_GPU = "This machine has no GPU. Grade the same submission on one, and these points are added."
NOT_RIGHT = "Speed counts once every case is right."

SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(2)>"
ANSI = "\x1b[31mred\x1b[0m \x1b]0;title\x07and \x00 \x1b[2J plain"
FORMULA = '=cmd|"/C calc"!A0'
REORDERED = "safe\u202egnp.exe\u2066"
LONG = "a line & <another> of 'quotes'\n" * 800
HOSTILE_NAMES = (
    SCRIPT, ANSI, FORMULA, REORDERED, "Zoë Ångström-O'Neill \"Zo\"", "李小龍", "../../etc/passwd", "+1", "-1+1",
    "@SUM(1)", "\tTab", "名" * 300,
)
WRONG_SIZES = {"transpose": ((5, 9), (61, 128)), "gemm": ((512, 384), (1024, 384))}
HINTS = {
    "transpose": "The store uses the input's row length as the output's: look at the stride in the last tl.store.",
    "gemm": "Accumulate in float32: pass acc to tl.dot, and convert to float16 only when storing.",
    "rmsnorm_matrix": "Divide by the number of columns, not by the block size.",
    "silu": "Give tl.load and tl.store a mask: the last block reaches past the end.",
    "rmsnorm_vector": "Every program sums only its own block: add the parts before dividing.",
    "copy_first_column": "Copy the column, not the row: the step between elements is the number of columns.",
}
INSPECTION = Inspection(
    case="8192x8192", sizes={"M": 8192, "N": 8192}, target="sm_90", multiprocessors=132,
    launches=[LaunchFacts(
        kernel="the_kernel", line=14, grid=[1024, 1, 1], counted=64, threads=128, registers=31, spills=0, shared=2048,
        tensor_cores="none", resident=16, bound="threads", occupancy=1, accesses=[
            AccessFacts(access="load", line=9, tensor="x", lanes=65536, masked=2048, needed=1 << 18, moved=1 << 18,
                        widths={128: 4}),
            AccessFacts(access="store", line=10, tensor="out", lanes=65536, masked=0, needed=1 << 18, moved=1 << 21,
                        widths={32: 16})])],
    good=Figures(target="sm_90", launches=1, needed=1 << 23, moved=1 << 23, bits=128, registers=32, spills=0,
                 shared=16384, tensor_cores="none", occupancy=1))
MESSAGES = {
    "transpose": "Right for square matrices, wrong for the others.",
    "gemm": "Right for small K; the error grows with K as it does in half precision.",
}


REPAIR = Repair(
    level="kind", line=9, kind="name", tried=41, cases=14,
    told="One change in line 9 makes every case right: another name belongs there.",
    diff="-    tile = tl.load(x_ptr + rows[:, None] * N + columns)\n"
         "+    tile = tl.load(x_ptr + rows[:, None] * M + columns)")


def environment(device: str = "cpu") -> Environment:
    return Environment(
        device=device, python="3.12.4", torch="2.13.0", triton="3.6.0", numpy="2.3.5", platform="Linux 6.8 x86_64",
        isolation="process, user namespace, no network",
        isolation_reasons=["Landlock is not offered by this kernel: files of the same user could be read."],
        seed="9f3c0d51b7e24a68", course="4e" * 32, kernelmark="0.1.0")


def passed(sizes: tuple[int, int] = (5, 9)) -> CheckResult:
    m, n = sizes
    return CheckResult(id=f"{m}x{n}", stage="case", case=f"{m}x{n}", sizes={"M": m, "N": n}, outcome="passed",
                       seconds=0.004 + m * n * 2e-6, worst_ratio=0.21 + (m * 7 + n) % 50 / 100)


@cache
def transpose_map(m: int, n: int) -> ErrorMap:
    """The output of a transpose that stores with the input's row length, one element a cell."""
    return ErrorMap(output_shape=[n, m], cell_shape=[1, 1], cells=[
        "".join("." if i == j == 0 else "u" if i * n + j >= m * n - n and j > i else str(1 + (i * 5 + j * 3) % 9)
                for j in range(m)) for i in range(n)])


@cache
def block_map(seed: int = 1) -> ErrorMap:
    """A large output with a block never written and noise that grows to the right."""
    dice = random.Random(seed)
    return ErrorMap(output_shape=[512, 384], cell_shape=[8, 8], cells=[
        "".join("u" if 32 <= i < 40 and j >= 24 else str(1 + min(8, j // 8 + dice.randrange(3))) if j > 20 else "."
                for j in range(48)) for i in range(64)])


def failed(name: str, sizes: tuple[int, int] = (5, 9)) -> CheckResult:
    m, n = sizes
    vector = ErrorMap(output_shape=[1009], cell_shape=[1, 8], cells=["." * 12, "." * 6 + "345678", "9" * 12, "u" * 12])
    cells = {"transpose": transpose_map(5, 9), "gemm": block_map()}.get(name, vector)
    index = {"transpose": [8, 0], "gemm": [200, 300]}.get(name, [233])
    return CheckResult(
        id=f"{m}x{n}", stage="case", case=f"{m}x{n}", sizes={"M": m, "N": n}, outcome="failed", seconds=0.0213,
        worst_ratio=3.7e5,
        detail=Detail(
            kind="wrong_values", message=f"{m * n - 3} of {m * n} elements are wrong.", hint=HINTS[name],
            place=Place(file=f"{name}.py", line=10, text="tl.store(out_ptr + rows[:, None] * N + columns, tile)",
                        seen="This line stores the wrong elements: program 0 stored the first of them, out[1, 0]."),
            corner=Corner(index=[0, 0], got=[["0.31", "0.4"], ["1.5", "unwritten"]], expected=[["", ""], ["-2", "7"]]),
            wrong=m * n - 3, total=m * n, unwritten=4,
            worst=WorstElement(index=index, got="0.31", expected="-1.27", error="1.58", allowed="4.2e-06"),
            error_map=cells.model_copy(deep=True)))


def assignment(name: str, verdict: Verdict = "accepted", *, score: float | None = None,
               speed: Performance | None = None) -> AssignmentResult:
    """One kernel with the checks that its verdict calls for: 60 points for being right, 40 for speed."""
    title, signature, formula = KERNELS[name]
    checks = [passed(sizes) for sizes in SIZES]
    message, hint = "", ""
    if verdict == "wrong_answer":
        checks = [passed(SIZES[0]), *(failed(name, sizes) for sizes in WRONG_SIZES.get(name, ((1009, 1), (4093, 1)))),
                  passed(SIZES[3])]
        for number, check in enumerate(checks):
            check.id = f"{check.id}-{number}"
        message, hint = MESSAGES.get(name, "Some elements are wrong."), HINTS[name]
    elif verdict != "accepted":
        checks, message, hint = _stopped(name, verdict)
    right = verdict == "accepted"
    if speed is None:
        speed = Performance(max_points=40, reason=NO_GPU)
    elif not right:
        speed = Performance(status="measured", max_points=40, reason=NOT_RIGHT)
    won = (60.0 if right else 0.0) if score is None else score
    return AssignmentResult(
        title=title, signature=signature, formula=formula, verdict=verdict, score=won + speed.points, max_score=100,
        message=message, hint=hint, correctness=Correctness(points=won, max_points=60, checks=checks),
        performance=speed, flags=_flags(name, verdict, checks, speed),
        source_sha256="ab" * 32, source="" if verdict == "missing" else SOURCE, seconds=1.7,
        inspection=INSPECTION if right else None)


def _flags(name: str, verdict: Verdict, checks: list[CheckResult], speed: Performance) -> list[Flag]:
    flags = [Flag(what="policy", evidence=detail.message, points=60, place=detail.place) for check in checks
             if verdict == "policy_violation" and (detail := check.detail)]
    return flags + ([speeds.ABOVE] if name == "transpose" and speed.timings else [])


def _stopped(name: str, verdict: Verdict) -> tuple[list[CheckResult], str, str]:
    """The checks of a kernel that never came to an answer."""
    kind, message, hint, traceback, output = {
        "runtime_error": ("exception", "NameError: name 'BLOCK' is not defined.", "Define BLOCK before the launch.",
                          "Traceback (most recent call last):\n  File \"silu.py\", line 22, in silu\n"
                          "    kernel[(BLOCK,)](x, out)\nNameError: name 'BLOCK' is not defined", "about to launch\n"),
        "time_limit": ("time_out", "No answer after 10 s.", "Look for a loop whose end is never reached.", "", ""),
        "memory_limit": ("out_of_memory", "The process asked for more than 2 GiB.",
                         "Allocate nothing as large as M × M.", "", ""),
        "policy_violation": ("policy", "Line 14 computes with torch.matmul. That is against the rules of the course "
                             "and costs 60 points.",
                             "Do the work in a kernel of your own; PyTorch may allocate and view.", "", ""),
        "missing": ("missing_file", f"There is no {name}.py.", "Start from the template of the same name.", "", ""),
        "needs_gpu": ("needs_gpu", "The grader cannot simulate `inline assembly` in line 14: it needs a GPU.",
                      "Graded on a GPU, this case counts.", "", ""),
        "infrastructure_error": ("infrastructure", "A worker could not be started.", "", "", ""),
    }[verdict]
    check = CheckResult(id=f"source-{name}", stage="source", outcome="failed")
    if verdict in ("runtime_error", "time_limit", "memory_limit"):
        check = CheckResult(id="5x9", stage="case", case="5x9", sizes={"M": 5, "N": 9}, outcome="failed", seconds=10.02)
    if verdict in UNJUDGED:
        check.outcome = "not_run"
    place = Place(file=f"{name}.py", line=14, text="    out.copy_(torch.matmul(a, b))") if kind == "policy" else None
    check.detail = Detail.model_validate(
        {"kind": kind, "message": message, "hint": hint, "traceback": traceback, "output": output, "place": place})
    rest = [CheckResult(id="32x32", stage="case", case="32x32", sizes={"M": 32, "N": 32}, outcome="not_run")]
    return [check, *rest], message, hint


def result(student: str, verdicts: dict[str, Verdict] | None = None, *, speed: bool = False) -> Result:
    """A whole submission; kernels not named in `verdicts` are right."""
    kernels = {name: assignment(name, (verdicts or {}).get(name, "accepted"),
                                speed=speeds.performance(name) if speed else None) for name in KERNELS}
    assignments = [a for a in kernels.values() if a.verdict not in UNJUDGED]
    return Result(
        schema="kernelmark/result/v1", student=student, score=sum(a.score for a in assignments), max_score=600,
        measured_max=sum(a.measured_max for a in kernels.values()),
        graded_at="2026-03-04T05:06:07Z", seconds=14.2, reproduce=f"kernelmark grade submissions/{len(student)}",
        environment=environment("NVIDIA H200" if speed else "cpu"), assignments=kernels)


def typical() -> Result:
    """Four right, two wrong, one of them mended by a change: the page a student sees most."""
    made = result("Ada Lovelace", {"transpose": "wrong_answer", "gemm": "wrong_answer"})
    made.assignments["gemm"].repair = REPAIR
    return made


def several_outputs() -> Result:
    """A kernel with five outputs of which one is right, and a wrong one was never written."""
    made = result("Rósza Péter", {"gemm": "wrong_answer"})
    made.assignments["gemm"].signature = "gemm(a, b, out, rest, scale, state, count)"
    row = WorstElement(index=[3], got="0", expected="0.345", error="0.345", allowed="1.4e-07")
    kept = ErrorMap(output_shape=[4, 4], cell_shape=[1, 1], cells=["..uu"] * 4, kept=True)
    for check in (check for check in made.assignments["gemm"].correctness.checks if check.detail):
        assert check.detail is not None and check.detail.wrong is not None
        check.detail.outputs = [
            OutputFigures(name="out", wrong=check.detail.wrong, total=check.detail.wrong + 3, unwritten=4,
                          worst=check.detail.worst, error_map=check.detail.error_map),
            OutputFigures(name="rest", wrong=0, total=9),
            OutputFigures(name="scale", wrong=1, total=9, worst=row, error_map=ErrorMap(
                output_shape=[9], cell_shape=[1, 1], cells=["...7....."])),
            OutputFigures(name="state", wrong=8, total=16, unwritten=8, worst=WorstElement(
                index=[0, 2], got="0.5", expected="2", error="1.5", allowed="0.1"), error_map=kept),
            OutputFigures(name="count", wrong=9, total=9, unwritten=9, worst=row, error_map=ErrorMap(
                output_shape=[9], cell_shape=[1, 1], cells=["u" * 9]))]
    return made


def every_verdict() -> Result:
    made = result("Grace Hopper", {
        "silu": "runtime_error", "rmsnorm_vector": "time_limit", "rmsnorm_matrix": "policy_violation",
        "copy_first_column": "missing", "transpose": "wrong_answer", "gemm": "infrastructure_error"})
    made.assignments["transpose"].repair = REPAIR.model_copy(update={"level": "edit"})
    return made


def hostile() -> Result:
    """Every text that a student can influence says something hostile, and far too much of it."""
    text = f"{SCRIPT} {ANSI} {REORDERED} {{{{ 7 * 7 }}}} {LONG}"
    made = result(SCRIPT, {"silu": "wrong_answer", "gemm": "runtime_error", "transpose": "policy_violation"})
    for a in made.assignments.values():
        a.message = a.hint = a.source = text
        a.repair = Repair(level="edit", line=2, kind=text, told=text, diff=f"-{text}\n+{text}", tried=1, cases=1)
        a.flags = [Flag(what=text, evidence=text, place=Place(file=SCRIPT, line=1, text=text))]
        for number, check in enumerate(a.correctness.checks):
            if check.detail:
                for field in ("message", "hint", "traceback", "output"):
                    setattr(check.detail, field, f"{number} {text}")
                check.detail.place = Place(file=SCRIPT, line=1 + number, text=text, seen=text)
                check.detail.corner = Corner(
                    index=[0, 0], got=[[SCRIPT] * 4] * 4, expected=[["-1.2345678e-38", ""] * 2] * 4)
                check.detail.worst = WorstElement(index=[0, 5], got=SCRIPT, expected=ANSI, error="nan", allowed="0")
    made.notes = [text]
    return made


def class_of(count: int, seed: int = 7) -> list[tuple[str, Result]]:
    """Folder names and results of a class, the same for the same seed."""
    dice = random.Random(seed)
    kinds: list[Verdict] = ["wrong_answer", "runtime_error", "time_limit", "policy_violation", "missing"]
    first = ("Ada", "Alan", "Barbara", "Donald", "Edsger", "Frances", "Grace", "Hedy", "Katherine", "Leslie", "Radia")
    last = ("Okafor", "Lindqvist", "Nguyen", "García", "Kowalska", "Haddad", "Tanaka", "Müller", "Silva", "O'Brien")
    made: list[tuple[str, Result]] = []
    for number in range(count):
        name = f"{dice.choice(first)} {dice.choice(last)} {number:03}"
        skill = dice.random()
        verdicts = {kernel: dice.choice(kinds) for hardness, kernel in enumerate(KERNELS)
                    if dice.random() > skill + 0.55 - hardness * 0.1}
        one = result(name, verdicts)
        if number % 17 == 3:
            one.assignments["gemm"].flags.append(
                Flag(what="Faster than the machine allows", evidence="1.12 of the measured roof", place=None))
        if number % 23 == 5 and "silu" not in verdicts:
            one.assignments["silu"] = assignment("silu", "wrong_answer", score=20)
        made.append((f"student-{number:03}", one))
    return made
