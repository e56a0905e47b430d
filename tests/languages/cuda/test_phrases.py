"""What students are told of the compiler's messages and of CUDA's runtime's."""

import re

from grader.course import catalogue
from grader.judging.explain import explain_failure
from grader.judging.explain.refusals import explain_refusal
from grader.judging.explain.wording import mistaken, say
from grader.languages.cuda.phrases import PHRASES
from grader.languages.cuda.phrases.compiling import unwrap
from grader.plan.messages import Refused
from grader.results.verdicts import FailureKind
from tests.languages.outside import outside
from tests.rows import beside, each_row

SILU = catalogue.assignments()["silu"].model_copy(update={"suffix": ".cu"})

OTHERS = r"\btl\.|torch|[Tt]riton|num_warps|BLOCK"
DATA = beside(__file__)


@each_row(("message", "line", "said"), DATA["compiled"])
def test_a_message_of_the_compiler_tells_what_to_do(message: str, line: str, said: str) -> None:
    detail = explain_failure(SILU, "compile_error", message, line=1, source=line)
    assert said in detail.hint and "{" not in detail.hint.replace("{ ", "").replace("each {", "")
    # The place stands beside the message.
    assert "silu.cu" not in detail.message and "error:" not in detail.message


def test_the_compilers_code_and_what_follows_are_left_out() -> None:
    said = ('silu.cu(3): error: no instance of overloaded function "atomicMax" matches the argument list\n'
            "            argument types are: (float *, float)\n    atomicMax(x, 1.0f);\n    ^\n\n"
            'silu.cu(9): error: identifier "j" is undefined\n')
    assert unwrap(said) == ('No instance of overloaded function "atomicMax" matches the argument list; '
                            "argument types are: (float *, float)")
    assert unwrap("undefined reference to `f()'") == "Undefined reference to `f()'"
    assert unwrap("cudaMalloc of 8 bytes: the GPU has 4") == "cudaMalloc of 8 bytes: the GPU has 4"


@each_row(("kind", "message", "said"), DATA["run"])
def test_a_failure_of_host_code_tells_what_to_do(kind: FailureKind, message: str, said: str) -> None:
    assert said in explain_failure(SILU, kind, message).hint


def test_a_refusal_is_a_sentence_of_cuda() -> None:
    detail = explain_refusal(SILU, "x\ny\n", Refused(seq=0, why="read_values", operator="cudaMemcpy", line=2))
    assert detail.message == ("Line 2 brings numbers to the host (`cudaMemcpy`), but host code runs without the "
                              "values of arrays.")
    assert "Leave the numbers on the GPU" in detail.hint


def test_no_sentence_speaks_of_another_language() -> None:
    assert not re.findall(OTHERS, " ".join(PHRASES.sentences.values()))


def test_no_mistake_of_an_assignment_is_told_in_another_language() -> None:
    hints = {mistake.hint for assignment in catalogue.assignments().values() if "cuda" in assignment.forms
             for mistake in assignment.mistakes}
    told = {hint: say(PHRASES, mistaken(hint)) for hint in hints}
    others = rf"{OTHERS}|other=|float\('|{{|program|\blanes?\b|masked?\b|axis"
    assert {hint: said for hint, said in told.items() if re.search(others, said)} == {}


@each_row(("source", "said"), DATA["slips"])
def test_what_a_file_cannot_mean_is_told_by_its_text(source: str, said: str) -> None:
    found = [say(PHRASES, slip.seen) for slip in PHRASES.slips(source)]
    assert (said in found[0] and len(found) == 1) if said else not found


GUARDED = """__global__ void k(float *x, int n) {
    int i = threadIdx.x, j = 0;
    for (int k = 0; k < 4; k++)
        if (i < n) {
            x[HERE] = 0.f;
        }
}
"""


@each_row(("before", "after", "said"), DATA["guarded"])
def test_a_condition_is_held_against_the_index(before: str, after: str, said: str) -> None:
    source = GUARDED.replace(before, after).replace("HERE", "i + k * 32")
    slip = PHRASES.outside(source, outside(5))
    assert said in say(PHRASES, slip.seen) if said and slip else slip is None and not said, slip


@each_row(("defined", "constant"), [
    ("#define FOUR 4\n", True), ("#define FOUR (2 * 2) // rows\n", True), ("const int FOUR = 4;\n", True),
    ("constexpr int FOUR = TWO * TWO;\n", True), ("#define FOUR min(4, left)\n", False),
    ("const int FOUR = left;\n", False), ("int FOUR = 4;\n", False), ("#define FOURTH 4\n", False),
])
def test_a_loop_that_counts_to_a_constant(defined: str, constant: bool) -> None:
    source = defined + GUARDED.replace("HERE", "i + k").replace("k < 4", "k < FOUR")
    assert (PHRASES.outside(source, outside(6)) is not None) == constant
