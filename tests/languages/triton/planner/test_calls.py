"""First and second call, what the import has left, and what one case leaves to the next."""

from grader.plan.messages import Failed, Loaded, Planned, Refused
from grader.plan.plan import Copy, Data, Fill, Launch, Operations, Plan
from tests.languages.triton.planner.harness import CASE, EVEN, SILU, Planner, answer, assignment_of, given_of, plan_file
from tests.languages.triton.planner.test_idioms import KERNEL


def planned(rest: str) -> Plan:
    return answer(Plan, KERNEL + rest)


def kinds(operations: Operations | None) -> list[str]:
    return [operation.op for operation in operations or []]


def test_calls_that_do_the_same_on_temporaries_of_their_own_have_one_body() -> None:
    plan = planned("def silu(x, out):\n    y = torch.zeros_like(x)\n    launch(x, y)\n    launch(y, out)")
    assert kinds(plan.first) == ["fill", "launch", "launch"]
    assert plan.steady is None
    assert [(buffer.given, buffer.line) for buffer in plan.buffers] == [("x", 0), ("out", 0), ("", 16)]


def test_a_buffer_kept_from_the_first_call_gives_the_second_a_body_of_its_own(text: str) -> None:
    plan = planned(text)
    assert (kinds(plan.setup), kinds(plan.first), kinds(plan.steady)) == ([], ["fill", "launch"], ["launch"])
    assert plan.steady is not None
    assert plan.first[1] == plan.steady[0]


def test_what_the_import_did_to_a_buffer_in_use_is_the_setup(text: str) -> None:
    plan = planned(text)
    assert kinds(plan.setup) == ["fill", "data", "launch"]
    assert kinds(plan.first) == kinds(plan.steady) == ["launch"]
    assert [buffer.bytes for buffer in plan.buffers] == [180, 180, 16, 8]


def test_what_was_given_to_the_first_call_is_not_there_in_the_second(text: str) -> None:
    plan = planned(text)
    assert plan.steady is not None
    first, steady = plan.first[0], plan.steady[0]
    assert isinstance(first, Launch)
    assert isinstance(steady, Launch)
    assert first.arguments[0].buffer == 0  # type: ignore[union-attr]
    # Memory of the same size that nobody has written.
    assert steady.arguments[0].buffer == 2  # type: ignore[union-attr]
    assert (plan.buffers[2].given, plan.buffers[2].bytes) == ("", 180)


def test_a_graph_is_its_operations(text: str) -> None:
    plan = planned(text)
    assert kinds(plan.first) == ["fill", "launch"] * 2
    assert plan.steady is None


def test_operations_follow_what_streams_events_and_graphs_order(text: str) -> None:
    plan = planned(text)
    assert [operation.after for operation in plan.first] == [None, [], [1], [0, 1], None, None, [4], [3], None]
    assert plan.steady is None


def test_a_graph_of_the_first_call_is_replayed_on_what_that_was_given(text: str) -> None:
    plan = planned(text)
    assert plan.steady is not None
    assert {argument.buffer for argument in plan.steady[0].arguments  # type: ignore[union-attr]
            if argument.kind == "pointer"} == {2, 3}


def test_memory_of_an_earlier_case_asks_for_another_planner(text: str) -> None:
    source = KERNEL + text
    with Planner() as planner:
        assert isinstance(planner.load(source.encode(), "silu.py", "silu", given_of(SILU, CASE)), Loaded)
        first, *others = [planner.plan(given_of(SILU, case)) for case in (CASE, EVEN, CASE)]
    assert isinstance(first, Plan)
    for outcome in others:
        assert isinstance(outcome, Planned)
        assert outcome.earlier


def test_memory_that_is_kept_for_a_call_is_told_from_its_own(text: str) -> None:
    plan = planned(text)
    assert [buffer.kept for buffer in plan.buffers if not buffer.given] == [True, False, False]


def test_what_was_given_in_an_earlier_case_asks_for_another_planner() -> None:
    source = KERNEL + "kept = []\ndef silu(x, out):\n    kept.append(x)\n    launch(kept[0], out)\n"
    with Planner() as planner:
        assert isinstance(planner.load(source.encode(), "silu.py", "silu", given_of(SILU, CASE)), Loaded)
        assert isinstance(planner.plan(given_of(SILU, CASE)), Plan)
        assert isinstance(planner.plan(given_of(SILU, EVEN)), Planned)


def test_memory_that_an_earlier_case_has_only_filled_is_filled_once_more(text: str) -> None:
    source = KERNEL + text
    with Planner() as planner:
        assert isinstance(planner.load(source.encode(), "silu.py", "silu", given_of(SILU, CASE)), Loaded)
        for case in (CASE, EVEN, CASE):
            plan = planner.plan(given_of(SILU, case))
            assert isinstance(plan, Plan)
            assert sorted(one.value for one in (*plan.setup, *plan.first) if isinstance(one, Fill)) == [0.0, 5.0]
            assert kinds(plan.steady) == ["launch", "launch"]
            assert [buffer.bytes for buffer in plan.buffers[2:]].count(16) == 1


def test_copies_are_recorded_where_they_are_allowed(text: str) -> None:
    column = assignment_of("copy_first_column")
    case = next(case for case in column.cases if min(case.sizes.values()) > 1)
    plan = plan_file(text, column, case)
    assert isinstance(plan, Plan)
    assert all(isinstance(operation, Copy) for operation in plan.first)
    assert [buffer.place for buffer in plan.buffers] == ["host", "device", "host", "pinned", "device"]
    first = plan.first[0]
    assert isinstance(first, Copy)
    assert (first.source.buffer, first.source.strides, first.target.strides) == (0, [case.sizes["cols"]], [1])


def test_constants_are_kept_with_their_contents(text: str) -> None:
    import base64
    import struct

    plan = planned(text)
    contents = [base64.b64decode(operation.contents) for operation in plan.first if isinstance(operation, Data)]
    assert struct.pack("2f", 1.5, -2.0) in contents
    assert struct.pack("3f", 0, 1, 2) in contents
    assert [operation.value for operation in plan.first if isinstance(operation, Fill)][-1] == 4.0


def test_what_a_call_gives_back_is_told() -> None:
    for returned, told in (("out", "out"), ("out.view(-1)", "out"), ("torch.empty_like(x)", "tensor"), ("3", "other")):
        assert planned(f"def silu(x, out):\n    launch(x, out)\n    return {returned}").returned == told


def test_too_much_for_a_plan_is_told_as_such() -> None:
    for body, told in (
        ("for _ in range(20_000): out.zero_()", "too_large"),
        ("for i in range(2000): launch(x, torch.empty(4, device='cuda'))", "too_large"),
        ("for i in range(70): kernel[(1,)](x, out, 4, BLOCK=64, num_stages=i % 64 + 1, maxnreg=i + 1)",
         "too_many_kernels"),
    ):
        failed = answer(Failed, f"{KERNEL}def silu(x, out):\n    {body}\n")
        assert failed.failure == told, body


def test_memory_beyond_the_device_is_told_with_its_line() -> None:
    failed = answer(Failed, f"{KERNEL}def silu(x, out):\n    torch.empty(1 << 45, device='cuda')\n")
    assert (failed.failure, failed.line) == ("out_of_memory", 16)


def test_a_view_past_its_memory_fails_as_in_pytorch() -> None:
    failed = answer(Failed, f"{KERNEL}def silu(x, out):\n    launch(x.as_strided((9, 9), (9, 1)), out)\n")
    assert "out of bounds for storage" in failed.message


def test_a_refusal_in_a_finalizer_is_told(text: str) -> None:
    refused = answer(Refused, KERNEL + text)
    assert (refused.operator, refused.line) == ("aten::mul", 18)
