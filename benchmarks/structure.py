"""Counts of the simulator against Nsight Compute's, launch by launch: kernels of one file after another, at the first
timed case.

    python -m benchmarks.structure [FILE ...] > rows.md     (default: the references, and files of the corpus)

Needs a GPU and ncu, which reads the counters of our own program `grader.grading.replay`. A cell is our count, scaled
from the programs that ran to all, and ncu's over ours.
"""

from __future__ import annotations

import math
import secrets
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from grader.course.catalogue import assignments, files
from grader.course.course import read_course
from grader.course.submission import Source
from grader.grading.profilers import ToolFailure, metric_rows, recorded, value
from grader.home import ROOT
from grader.judging.evidence.structure import structure_facts
from grader.judging.prepared import PreparedTask, Task
from grader.judging.running.lane import LANE
from grader.results.launched import LaunchFacts
from tests.graded import FILES
from tests.members import Member

_L1, _SASS = "l1tex__", "smsp__sass_l1tex_data_"
_SHARED = ("ld", "st", "ldgsts", "ldsm", "stsm")
COUNTED: Mapping[str, tuple[str, ...]] = {
    "load requests": (f"{_L1}t_requests_pipe_lsu_mem_global_op_ld.sum",),
    "load sectors": (f"{_L1}t_sectors_pipe_lsu_mem_global_op_ld.sum",),
    "store requests": (f"{_L1}t_requests_pipe_lsu_mem_global_op_st.sum",),
    "store sectors": (f"{_L1}t_sectors_pipe_lsu_mem_global_op_st.sum",),
    "atomic requests": (f"{_L1}t_requests_pipe_lsu_mem_global_op_red.sum",
                        f"{_L1}t_requests_pipe_lsu_mem_global_op_atom.sum"),
    "shared wavefronts": tuple(f"{_SASS}pipe_lsu_wavefronts_mem_shared_op_{operation}.sum" for operation in _SHARED),
    "bank conflicts": (
        *(f"{_L1}data_bank_conflicts_pipe_lsu_mem_shared_op_{operation}.sum" for operation in _SHARED[:2]),
        *(f"{_SASS}bank_conflicts_pipe_lsu_mem_shared_op_{operation}.sum" for operation in _SHARED[2:])),
    "multiply-adds": tuple(f"smsp__sass_thread_inst_executed_op_{instruction}_pred_on.sum"
                           for instruction in ("ffma", "fmul", "dfma", "dmul")),
    "operations of tensor cores": tuple(f"sm__ops_path_tensor_src_{kind}.sum" for kind in (
        "fp16", "bf16_dst_fp32", "tf32_dst_fp32", "fp64")),
    "divergent branches": ("smsp__sass_branch_targets_threads_divergent.sum",),
    "local requests": (f"{_L1}t_requests_pipe_lsu_mem_local_op_ld.sum",
                       f"{_L1}t_requests_pipe_lsu_mem_local_op_st.sum"),
    "bytes read": ("dram__bytes_read.sum",),
    "bytes written": ("dram__bytes_write.sum",),
}
MEMBERS = (
    "cuda_transpose_naive", "cuda_transpose_tile", "cuda_transpose_swizzled", "cuda_gemm_naive", "cuda_gemm_tile",
    "cuda_gemm_wgmma", "cuda_gemm_warp_an_element", "cuda_silu_float4", "cuda_silu_through_shared",
    "cuda_silu_copies_ahead", "cuda_silu_local_array_set", "cuda_silu_block_of_100", "cuda_rms_norm_matrix_warp_a_row",
    "cuda_rms_norm_matrix_block_a_row", "cuda_rms_norm_vector_atomic", "cuda_softmax_online", "cuda_greyscale_pixels",
    "gemm_plain", "gemm_block_pointers", "gemm_without_dot", "rmsnorm_matrix_tile_of_rows",
    "rmsnorm_vector_two_kernels",
)


def ours(launch: LaunchFacts) -> dict[str, float]:
    """Return the counts of a launch, scaled from the programs that ran to all; none of what was not counted."""
    warps = launch.warps
    if warps is None:
        return {}

    def total(space: str, way: str, of: str) -> float:
        return launch.scale * sum(
            float(getattr(access, of)) for access in warps.accesses if (access.space, access.access) == (space, way))

    shared = [(total("shared", way, "parts"), total("shared", way, "least")) for way in ("load", "store")]
    return {
        "load requests": total("global", "load", "requests"), "load sectors": total("global", "load", "parts"),
        "store requests": total("global", "store", "requests"), "store sectors": total("global", "store", "parts"),
        "atomic requests": total("global", "atomic", "requests"),
        "shared wavefronts": sum(parts for parts, _ in shared),
        "bank conflicts": sum(parts - least for parts, least in shared),
        "multiply-adds": launch.scale * warps.multiply_adds,
        "operations of tensor cores": 2 * launch.scale * warps.tensor_multiply_adds,
        "divergent branches": launch.scale * sum(branching.divergent for branching in warps.branching),
        # A request is that of 32 lanes, mostly with four bytes each.
        "local requests": launch.scale * warps.local / 128,
        "bytes read": launch.scale * sum(access.needed for access in launch.accesses if access.access == "load"),
        "bytes written": launch.scale * sum(access.needed for access in launch.accesses if access.access == "store")}


def rows(path: Path) -> Iterator[str]:
    """Yield a Markdown row for each launch of a file's kernels."""
    assignment = assignments()[FILES[path.name]].written(path.name, path.read_text())
    course = read_course(ROOT / "course.toml", frozenset(files()))
    source = Source(path.read_bytes(), file=path.name)
    name = path.parent.name if path.parent.parent.name == "accepted" else f"{path.parent.name}/{path.name}"
    facts = structure_facts(PreparedTask(Task(assignment, source, course, secrets.token_bytes(32), "cuda")))[0]
    case = assignment.timed[0]
    if isinstance(facts, str):
        yield f"| {name} | {facts} |"
        return
    with recorded(assignment, case, source, course) as made:
        metrics = [name for names in COUNTED.values() for name in names]
        counters = made if isinstance(made, ToolFailure) else metric_rows(made, metrics)
    if isinstance(counters, ToolFailure):
        yield f"| {name} | {counters.message} |"
        return
    for launch, row in zip(facts.launched.launches, counters, strict=False):
        counted = ours(launch)
        cells = [_cell(counted.get(what, math.nan), [value(row, metric) for metric in of])
                 for what, of in COUNTED.items()]
        yield f"| {name}{' (cut)' if launch.cut else ''} {launch.kernel} | {' | '.join(cells)} |"
    if len(counters) != len(facts.launched.launches):
        yield f"| {name} | {len(facts.launched.launches)} launches, {len(counters)} of ncu |"


def _cell(ours: float, metrics: Sequence[float | None]) -> str:
    seen = [metric for metric in metrics if metric is not None]
    if not seen:
        return "–"
    return f"{ours:.4g} · {sum(seen) / ours:.3f}" if ours else f"{ours:.4g} · {sum(seen):g}"


def main(chosen: list[str]) -> None:
    paths = [Path(file) for file in chosen] or [
        *sorted((ROOT / "reference").glob("*.py")), *sorted((ROOT / "reference/cuda").rglob("*.cu")),
        *(path for name in MEMBERS for path in Member(f"accepted/{name}").folder().iterdir())]
    print(f"| file, kernel | {' | '.join(COUNTED)} |\n|{'---|' * (len(COUNTED) + 1)}", flush=True)
    LANE.open(gpu=True)
    try:
        for path in paths:
            try:
                for row in rows(path):
                    print(row, flush=True)
            except Exception as error:
                print(f"| {path} | {type(error).__name__}: {str(error)[:200]} |", flush=True)
    finally:
        LANE.close()


if __name__ == "__main__":
    main(sys.argv[1:])
