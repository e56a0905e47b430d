"""Puts the repository's root on the path, so that these tests share `tests.pages.samples`; and the browser of those
that look at pages."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
             "--disable-sync"]

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = os.environ.get("KERNELMARK_CHROMIUM") or shutil.which("chromium")
    if importlib.util.find_spec("playwright") is None:
        pytest.skip("playwright is missing: pip install playwright")
    if chromium is None:
        pytest.skip("chromium is missing: apt-get install chromium, or set KERNELMARK_CHROMIUM")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield browser
        browser.close()
