"""What the text of a file tells of an access outside its tensor, in every language: for tests of what reads it."""

from grader.languages.cuda.phrases import PHRASES as CUDA
from grader.languages.triton.phrases import PHRASES as TRITON
from grader.plan.findings import OutOfBounds, UndefinedBehaviour

HOSTILE = {
    "uses": ("", "x[i + k] ", ""), "guards": ("", "if (i < n) x[i + k] = 1; ", ""),
    "loops": ("", "for (int k = 0; k < n; k++) ", "x[i + k]"), "loads": ("for k in y:\n    ", "tl.load(x, ", ""),
    "loops of Python": ("", "for k in y:\n", "    tl.load(k, k)"),
    "conditions": ("for (int k = 0; k < 4; k++) { ", "i + k + ", "; if (i < n) x[i + k] = 1; }"),
    "constants": ("const int A = B; for (int k = 0; k < A; k++) { ", "A = ", "; if (i < n) x[i + k] = 1; }"),
    "macros": ("", "#define A 1 1 1 1 f\n", "for (int k = 0; k < A; k++) if (i < n) x[i + k] = 1;"),
    "loops that are empty": ("", "for k in range(n, 0):\n", ""), "one loop": ("for k in range(", "n, ", "0):"),
    "masks": ("for k in y:\n", "    m |= y\n", "    tl.load(k, m)"),
    "masks before": ("m = y\n", "a, = m_\n", "for k in y:\n    tl.load(k, m)"),
    "declarations": ("", "float a; ", ""), "arrays without an end": ("", "float acc[", ""),
    "arrays": ("", "float a[1]", ""), "divisions": ("", "= 1 / n; int n;", ""),
    "loops in subscripts": ("", "for (;;) { a[a[1][", ""),
    "shared arrays": ("", "__shared__ float a[2][2]; a[k][0] = a[j]", ""), "digits": ("", "1", ""),
}
"""Texts as what they begin with, what they repeat, and what they end with."""


def outside(line: int) -> OutOfBounds:
    """A store to `x` in a line."""
    return OutOfBounds(access="store", kernel="k", line=line, tensor="x", given="out", elements=4, lowest=4, highest=4,
                       lanes=1, active=1, programs=1, program=(0, 0, 0), masked=True)


def read_all(source: str) -> None:
    """Have all languages read a file, the last line of which reaches outside, and look for what cannot be meant."""
    for phrases in (CUDA, TRITON):
        list(phrases.slips(source))
        phrases.outside(source, outside(source.count("\n") + 1).model_copy(update={"access": "load"}))
    CUDA.evidence(UndefinedBehaviour(what="shared", kernel="k", line=1, tensor="a"), source)
