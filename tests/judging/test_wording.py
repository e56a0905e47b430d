"""The part of a tensor in which all marked elements lie."""

from collections.abc import Callable

import torch
from torch import Tensor

from grader.judging.explain.wording import part, say
from grader.languages.triton.phrases import PHRASES
from tests.rows import each_row


@each_row(("shape", "marked", "says"), [
    ((3, 8), lambda at: at % 8 >= 5, "in columns 5 to 7"),
    ((3, 8), lambda at: at % 8 == 2, "in column 2"),
    ((3, 8), lambda at: at >= 13, "from out[1, 5] on"),
    ((2, 2, 4), lambda at: at >= 8, "from out[1, 0, 0] on"),
    ((2, 2, 4), lambda at: at % 4 < 2, "in columns 0 to 1"),
    ((9,), lambda at: (at > 2) & (at < 6), ""),
    ((9,), lambda at: at == 4, ""),
    ((9,), lambda at: at > 5, "from out[6] on"),
    ((3, 8), lambda at: at >= 0, ""),
    ((3, 8), lambda at: at % 3 == 0, ""),
    ((3, 8), lambda at: (at % 8 >= 5) & (at != 6), ""),
    ((3, 8), lambda at: (at < 9) & (at > 2), ""),
    ((), lambda at: at == 0, ""),
])  # fmt: skip
def test_a_part_holds_all_marked_elements_and_no_other(
    shape: tuple[int, ...], marked: Callable[[Tensor], Tensor], says: str
) -> None:
    numbers = torch.arange(torch.Size(shape).numel())
    assert say(PHRASES, part("out", marked(numbers).reshape(shape))) == says
