# Reaches frames through a traceback, a generator and the record of all threads.
# verdict: runtime_error
# expect: refused
import sys
import types
# shared: and_triton
NAMES = ("expected", "oracle", "right_answer", "inputs", "seed", "generator", "reference")


def frames():
    try:
        raise ValueError
    except ValueError as error:
        yield lambda error=error: error.__traceback__.tb_frame
    yield lambda: (lambda one: (next(one), one.gi_frame)[1])(n for n in (1, 2))
    yield lambda: next(iter(sys._current_frames().values()))
    yield lambda: types.TracebackType(None, sys._getframe(), 0, 1).tb_frame


def attack():
    found, said = [], []
    for way in frames():
        try:
            frame = way()
        except PermissionError as error:
            said.append(str(error).partition(" ")[0])
            continue
        while frame is not None:
            found += [name for name in (*frame.f_locals, *frame.f_globals) if name in NAMES]
            frame = frame.f_back
    if not found:
        raise RuntimeError(f"refused: {said or 'no frame holds an answer'}")
# shared: attacks
