"""Which GPUs are graded on: numbers of theirs, all by default, and one line for those that are not there."""

import os
import shutil
from importlib import metadata
from pathlib import Path

import pytest

from grader.errors import UserError
from grader.grading import doctor, gpus
from grader.grading.gpus import GpuCard
from grader.grading.lanes import spare_lanes
from grader.home import ROOT
from grader.judging.running.gpu_lock import GPU_LOCK
from tests.command import kernelmark, refused

THREE = [GpuCard(number, name, {"CUDA_VISIBLE_DEVICES": str(number)}) for number, name in enumerate(("A", "A", "B"))]
NO_GPU = not gpus.present()


@pytest.mark.parametrize(("option", "numbers"), [("all", [0, 1, 2]), ("0,2", [0, 2]), (" 1 ", [1]), ("2,0,2", [2, 0])])
def test_gpus_are_chosen_by_number(monkeypatch: pytest.MonkeyPatch, option: str, numbers: list[int]) -> None:
    monkeypatch.setattr(gpus, "present", lambda: THREE)
    assert [card.number for card in gpus.select(option)] == numbers


@pytest.mark.parametrize(("there", "option", "words"), [
    (THREE, "3", "--gpus: no GPU 3; this machine has 3, numbered from 0"),
    (THREE, "-1", "--gpus: no GPU -1; this machine has 3"),
    (THREE[:1], "1", "no GPU 1; this machine has 1"),
    (THREE, "first", "'first'; give all, or numbers such as 0,2"),
    (THREE, "0,", "numbers such as 0,2"),
])
def test_a_gpu_that_is_not_there_is_named(
    monkeypatch: pytest.MonkeyPatch, there: list[GpuCard], option: str, words: str
) -> None:
    monkeypatch.setattr(gpus, "present", lambda: there)
    with pytest.raises(UserError, match=r"^[^\n]+$") as raised:
        gpus.select(option)
    assert words in str(raised.value)


def test_gpus_of_several_models_are_told() -> None:
    assert gpus.unlike(THREE[:2]) == ""
    assert gpus.unlike(THREE) == (
        "GPUs are unlike: 0 is A, 1 is A, 2 is B; each result names its device, and --gpus chooses some of them")


@pytest.mark.parametrize(("words", "told"), [
    (("--device", "cpu"), "--gpus: --device cpu uses no GPU of this machine"),
    pytest.param((), "CUDA sees no GPU on this machine", marks=pytest.mark.skipif(not NO_GPU, reason="a GPU")),
])
def test_gpus_are_refused_in_one_line_where_none_is_used(tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    shutil.copytree(ROOT / "examples/class/alice", tmp_path / "class/alice")
    refused(told, "grade", tmp_path / "class", "--out", tmp_path / "out", "--gpus", "0", *words)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("memory", "processors", "numbers", "spare"), [
    ((141, 141), 32, "0101", 5),
    ((141,), 16, "00", 5),
    # Too few processors for two lanes, and too little memory.
    ((141,), 12, "0", 5), ((141, 141), 16, "01", 5), ((24,), 16, "0", 5), ((141,), 4, "0", 0),
    ((24, 141), 32, "011", 5),
    ((), 16, "", 0),
])
def test_a_large_gpu_has_two_lanes_that_share_a_lock(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, memory: tuple[int, ...], processors: int, numbers: str, spare: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(processors)))
    cards = [GpuCard(number, "A", {"CUDA_VISIBLE_DEVICES": str(number)}, size << 30)
             for number, size in enumerate(memory)]
    lanes = gpus.lanes(cards, tmp_path)
    assert "".join(lane["CUDA_VISIBLE_DEVICES"] for lane in lanes) == numbers
    assert spare_lanes(len(lanes)) == spare
    for lane in lanes:
        among = [other for other in lanes if other.get(GPU_LOCK) == lane.get(GPU_LOCK)]
        assert (GPU_LOCK in lane) == (numbers.count(lane["CUDA_VISIBLE_DEVICES"]) == 2)
        assert GPU_LOCK not in lane or among == [lane, lane]


CPU_BUILD = metadata.version("torch").endswith("+cpu")


@pytest.mark.skipif(not CPU_BUILD, reason="torch is the build that uses a GPU")
def test_a_gpu_that_this_build_of_torch_does_not_use_is_told_with_the_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/nvidiactl").touch()
    assert gpus.remedy_of_unused(tmp_path) == ""
    (tmp_path / "dev/nvidia0").touch()
    assert gpus.remedy_of_unused(tmp_path) == "make setup TORCH=gpu"
    # A machine that has one.
    monkeypatch.setattr(gpus, "TRACES", ("dev/null",))
    (line,) = doctor.device()
    assert (line.text, line.mark, line.remedy) == (gpus.UNUSED, "note", "make setup TORCH=gpu")
    shutil.copytree(ROOT / "examples/class/alice", tmp_path / "class/alice")
    for words, told in (((), True), (("--device", "cpu"), False)):
        result = kernelmark("grade", tmp_path / "class", "--out", tmp_path / "out", "--only", "silu", *words)
        assert result.returncode == 0 and (f"{gpus.UNUSED}; make setup TORCH=gpu\n" in result.stdout) == told, result
