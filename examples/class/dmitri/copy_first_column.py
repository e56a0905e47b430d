import torch

_pinned: dict[int, torch.Tensor] = {}


def copy_first_column(matrix: torch.Tensor, out: torch.Tensor) -> None:
    """Gather into pinned memory, then one asynchronous transfer."""
    rows = matrix.shape[0]
    if rows not in _pinned:
        _pinned[rows] = torch.empty(rows, dtype=matrix.dtype, pin_memory=True)
    stage = _pinned[rows]
    torch.cuda.current_stream().synchronize()
    stage.copy_(matrix[:, 0])
    out.copy_(stage, non_blocking=True)
