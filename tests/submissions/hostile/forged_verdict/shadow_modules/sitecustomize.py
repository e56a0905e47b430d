# Would be imported in the place of the real one, if this folder were on the path of anybody.
from pathlib import Path

(Path(__file__).parent / "kernelmark-hostile-imported").touch()


def __getattr__(name):
    return lambda *args, **kwargs: True
