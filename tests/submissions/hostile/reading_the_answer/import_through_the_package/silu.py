# The package of the grader is in the process, for the messages: its other modules are imported through it.
# verdict: runtime_error
# expect: refused
import sys

# shared: triton
def attack():
    package = sys.modules["grader"]
    said = []
    for name in ("grader.model.catalogue", "grader.model.course", "grader.judge.judge", "grader.judge.compare", "grader.run.grading"):
        try:
            __import__(name)
            print("found", name, "through", package)
            return
        except (ImportError, PermissionError, FileNotFoundError) as error:
            said.append(f"{name} {type(error).__name__}")
    raise RuntimeError(f"refused: {', '.join(said)}")
# shared: attacks
