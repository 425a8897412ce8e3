"""Two plans and two results are compared by what they decide."""

from decimal import Decimal
from typing import Any

import pytest

from apps.pipeline.core.enums import ExtractorKind
from apps.pipeline.core.model_calls import Purpose
from apps.pipeline.core.policy import DecayPolicy, ExtractionPolicy, Policy, PreFilterPolicy
from apps.tuning.replays.differences import RunResult, added_totals, diff_of, operation_changes, totals_of
from apps.tuning.replays.services import estimate


def add(memory_id: str, content: str, **more: Any) -> dict[str, Any]:
    return {"op": "AddMemory", "memory_id": memory_id, "candidate": {"content": content}, "status": "active", **more}


HOME = add("m1", "User lives in Rome.", canonical_hash="1", expected_version=1)
MERGE = {"op": "MergeInto", "memory_id": "m1", "candidate": {"content": "At home in Rome."}, "expected_version": 3}


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ([HOME], [HOME], []),
        ([HOME], [add("m1", "User lives in Rome.", canonical_hash="2", expected_version=4)], []),
        ([HOME, {"op": "EnqueueWork", "memory_id": "m1"}], [HOME], []),
        ([HOME], [], [("removed", "AddMemory", "User lives in Rome.", "")]),
        ([], [HOME], [("added", "AddMemory", "", "User lives in Rome.")]),
        (
            [HOME],
            [add("m1", "User is in Rome.")],
            [("changed", "AddMemory", "User lives in Rome.", "User is in Rome.")],
        ),
        ([MERGE, MERGE], [MERGE], [("removed", "MergeInto", "At home in Rome.", "")]),
        (
            [MERGE],
            [HOME],
            [("removed", "MergeInto", "At home in Rome.", ""), ("added", "AddMemory", "", "User lives in Rome.")],
        ),
    ],
)
def test_operations(before: list[Any], after: list[Any], found: list[Any]) -> None:
    changes = operation_changes(before, after)
    assert [(each["kind"], each["operation"], each["before_content"], each["content"]) for each in changes] == found


def test_a_field_is_named_by_its_path() -> None:
    (change,) = operation_changes([HOME], [HOME | {"candidate": {"content": "User lives in Rome.", "importance": 0.9}}])
    assert change["fields"] == [{"name": "candidate.importance", "before": None, "after": 0.9}]


def test_what_is_new_names_the_turns_that_state_it() -> None:
    new = add("m1", "User lives in Rome.") | {"candidate": {"content": "x", "source_turn_ids": ["t1", "t2"]}}
    assert [each["turn_ids"] for each in operation_changes([], [new])] == [["t1", "t2"]]
    assert [each["turn_ids"] for each in operation_changes([new], [])] == [[]]


EFFORT = {"calls": 1, "tokens": 100, "cost_usd": "0.5", "latency_us": 7}


def result(rejected: dict[str, str] | None = None, *operations: dict[str, Any], **more: Any) -> RunResult:
    return RunResult(rejected=rejected or {}, outcomes=more.pop("outcomes", ()), operations=operations, **more)


def test_sums_count_each_kind_of_difference() -> None:
    before = result({"t1": "greeting", "t2": "thanks"}, HOME, effort=EFFORT)
    after = result({"t1": "pattern:x", "t3": "pattern:x"}, MERGE)
    diff = diff_of(recorded=before, replayed=after)
    assert [(each["turn_id"], each["before"], each["after"]) for each in diff["turns"]] == [
        ("t1", "greeting", "pattern:x"),
        ("t2", "thanks", ""),
        ("t3", "", "pattern:x"),
    ]
    totals = totals_of(diff, before=EFFORT, after={"calls": 0, "cost_usd": "0"})
    assert totals == {
        "different": 1,
        "turns_dropped": 1,
        "turns_kept": 1,
        "memories_removed": 1,
        "merged_added": 1,
        "calls_before": 1,
        "tokens_before": 100,
        "cost_usd_before": "0.5",
        "latency_us_before": 7,
    }
    assert added_totals(totals, totals)["cost_usd_before"] == "1.0"
    assert added_totals({}, totals) == totals


def test_what_it_took_is_no_difference() -> None:
    assert not diff_of(recorded=result(effort=EFFORT), replayed=result())
    assert diff_of(recorded=result(), replayed=result(failure="unparsable"))


def test_discarded_candidates_are_compared_and_silent_turns_are_not() -> None:
    line = {
        "turn": "t1",
        "content": "x",
        "outcome": "discarded",
        "stage": "conflict",
        "reason": "no",
        "memory_id": None,
    }
    silent = line | {"content": None, "stage": "extract"}
    diff = diff_of(recorded=result(outcomes=[silent]), replayed=result(outcomes=[line]))
    assert [(each["is_new"], each["content"], each["reason"]) for each in diff["discards"]] == [(True, "x", "no")]


BY_MODEL, BY_PLAIN = (Policy(extraction=ExtractionPolicy(extractor=kind)) for kind in ("model", "plain"))
STRICTER = BY_MODEL.model_copy(update={"pre_filter": PreFilterPolicy(min_letters=9)})
FORGETFUL = BY_MODEL.model_copy(update={"decay": DecayPolicy(archive_below=0.5)})
CALLS = [
    {"purpose": Purpose.EXTRACT, "prompt_version": "v1", "calls": 4, "tokens": 400, "cost": Decimal("0.4")},
    {"purpose": Purpose.INDEX_QUESTIONS, "prompt_version": "v1", "calls": 9, "tokens": 900, "cost": Decimal("0.9")},
]


@pytest.mark.parametrize(
    ("policy", "recorded", "prompt", "calls"),
    [
        (None, BY_MODEL, "v1", 0),
        (BY_MODEL, BY_MODEL, "v1", 0),
        (FORGETFUL, BY_MODEL, "v1", 0),
        (STRICTER, BY_MODEL, "v1", 4),
        (None, BY_MODEL, "v2", 4),
        (BY_PLAIN, BY_MODEL, "v1", 0),
        (BY_MODEL, BY_PLAIN, "v1", 7),
    ],
)
def test_the_estimate_is_all_or_nothing(policy: Policy | None, recorded: Policy, prompt: str, calls: int) -> None:
    found = estimate(
        recorded=CALLS, prompts={Purpose.EXTRACT: prompt}, policy=policy, recorded_policies=[recorded], traces=7
    )
    assert (found["new_calls_at_most"], found["new_tokens_at_most"]) == (calls, calls * 100)
    assert Decimal(found["new_cost_usd_at_most"]) == Decimal("0.1") * calls


def test_without_records_a_call_is_guessed() -> None:
    found = estimate(recorded=(), prompts={}, policy=BY_MODEL, recorded_policies=[BY_PLAIN], traces=2)
    assert (found["recorded_calls"], found["new_calls_at_most"], found["new_tokens_at_most"]) == (0, 2, 8_000)
    assert Decimal(found["new_cost_usd_at_most"]) == 0
    assert BY_PLAIN.extraction.extractor is ExtractorKind.PLAIN
