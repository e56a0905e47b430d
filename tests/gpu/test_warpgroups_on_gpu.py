"""Products of warpgroups and bulk copies against a GPU: the layouts of matrices in shared memory."""

import ctypes
import subprocess
from typing import Any

import numpy as np
import pytest
import torch

from grader.device.driver import checked
from grader.languages.cuda.toolkit import assembler
from grader.simulation.ptx.lanes import Array
from tests.simulation.ptx.launching import compiled, entries
from tests.simulation.ptx.test_bulk_copies import CASES, COLUMNS, ROWS, Boxes, numbers
from tests.simulation.ptx.warpgroups import PRODUCTS, Product, drawn

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(120)]


def launched(text: str, threads: int, arrays: list[Array], *values: int, wide: bool = False) -> list[Array]:
    """What a kernel of one block leaves in arrays of bytes. `values` follow, of 64 bits if `wide`."""
    # Only machines with a GPU have it.
    from cuda.bindings import driver

    cubin = subprocess.run([assembler(), "-arch=sm_90a", "-o", "/dev/stdout", "/dev/stdin"], input=text.encode(),
                           capture_output=True, check=True).stdout
    there = [torch.from_numpy(array.view(np.uint8).reshape(-1).copy()).cuda() for array in arrays]
    function = checked(driver.cuModuleGetFunction(checked(driver.cuModuleLoadData(cubin)), entries(text)[0].encode()))
    number: Any = ctypes.c_uint64 if wide else ctypes.c_int32
    arguments = ((*(tensor.data_ptr() for tensor in there), *values),
                 (ctypes.c_void_p,) * len(there) + (number,) * len(values))
    stream = torch.cuda.current_stream().cuda_stream
    checked(driver.cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, stream, arguments, 0))
    return [tensor.cpu().numpy() for tensor in there]


@pytest.mark.parametrize("product", PRODUCTS, ids=str)
def test_products(product: Product) -> None:
    image, descriptors, expected = drawn(product)
    _, out = launched(product.text(), 128, [image, np.zeros(128 * product.words, "u4")], *descriptors, wide=True)
    np.testing.assert_allclose(
        product.result(out), expected, rtol=2e-3 if product.kinds[0] == "f16" else 1e-5, atol=1e-5)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_boxes(case: Boxes) -> None:
    out, image = np.zeros((ROWS, COLUMNS), "f2"), np.zeros(case.wide * case.high, "f2")
    _, theirs, box = launched(compiled(case.source), 32, [numbers(), out, image], ROWS, COLUMNS, case.x, case.y)
    outcome, (_, ours, ourbox) = case.run()
    assert outcome.findings == []
    np.testing.assert_array_equal(ours.raw, theirs)
    np.testing.assert_array_equal(ourbox.raw, box)
