# Looks for seeds, tokens and folders of the grader in its environment, and in what the program began with.
# verdict: runtime_error
# expect: refused
# needs: a variable KERNELMARK_SECRET in the judge's environment, so that the member can fail
import ctypes
import os
from pathlib import Path
# shared: and_triton
WORDS = ("SEED", "TOKEN", "SECRET", "PASSWORD", "PYTEST", "KERNELMARK", "CREDENTIAL", "SSH_", "API_KEY", "GITHUB_")


def names():
    yield from os.environ
    try:
        yield from (text.partition("=")[0] for text in Path("/proc/self/environ").read_text().split("\0"))
    except OSError as error:
        print(error)
    pointers = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
    at = 0
    while pointers and pointers[at]:
        yield pointers[at].decode("utf-8", "replace").partition("=")[0]
        at += 1


def attack():
    found = sorted({name for name in names() if any(word in name.upper() for word in WORDS)})
    if not found:
        raise RuntimeError("refused: no such name")
    print(found)
# shared: attacks
