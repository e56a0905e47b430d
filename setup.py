"""The build of a wheel, which also holds the checkout's own course and the students' kit, as data.

They stay at the top of the checkout, where authors and TAs look for them; in a wheel they are `grader/shipped/`, with
the same layout. `grader.home.SHIPPED` is one or the other.
"""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

FOLDERS = ("assignments", "calibration", "reference", "student_template", "student_kit")
# With the last three a kit can be installed.
FILES = ("course.toml", "pyproject.toml", "constraints.txt", "LICENSE")
# What a checkout holds of somebody's teaching: hidden cases, grades and their records.
LEFT_OUT = shutil.ignore_patterns("__pycache__", "hidden.toml", "results", ".attempts")


class BuildWithCourses(build_py):
    def run(self) -> None:
        # An earlier build in this folder may have left modules that are gone since.
        shutil.rmtree(Path(self.build_lib, "grader"), ignore_errors=True)
        super().run()
        # An editable installation reads the checkout.
        if self.editable_mode:
            return
        root, into = Path(__file__).parent, Path(self.build_lib, "grader", "shipped")
        examples = [str(path.parent.relative_to(root)) for path in sorted(root.glob("examples/*/course.toml"))]
        for name in (*FOLDERS, *examples):
            shutil.copytree(root / name, into / name, ignore=LEFT_OUT)
        for name in FILES:
            shutil.copy2(root / name, into / name)


setup(cmdclass={"build_py": BuildWithCourses})
