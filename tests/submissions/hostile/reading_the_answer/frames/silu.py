# Walks up the stack for a frame that holds the right answer, or a way to it.
# verdict: runtime_error
# expect: refused
import sys
# shared: and_triton
NAMES = ("expected", "oracle", "right_answer", "inputs", "seed", "generator", "reference")


def attack():
    found = []
    try:
        frame = sys._getframe()
    except PermissionError as error:
        raise RuntimeError(f"refused: {error}") from None
    while frame is not None:
        found += [name for name in (*frame.f_locals, *frame.f_globals) if name in NAMES]
        frame = frame.f_back
    if not found:
        raise RuntimeError("refused: no frame holds an answer")
# shared: attacks
