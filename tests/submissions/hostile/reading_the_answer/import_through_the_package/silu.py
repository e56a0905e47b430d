# The package of the grader is in the process, for the messages: its other modules are imported through it.
# verdict: runtime_error
# expect: refused
import sys

# shared: triton
def attack():
    package = sys.modules["grader"]
    said = []
    for name in ("grader.course.catalogue", "grader.course.course", "grader.judging.judge", "grader.judging.answers.compare", "grader.grading.grading"):
        try:
            __import__(name)
            print("found", name, "through", package)
            return
        except (ImportError, PermissionError, FileNotFoundError) as error:
            said.append(f"{name} {type(error).__name__}")
    raise RuntimeError(f"refused: {', '.join(said)}")
# shared: attacks
