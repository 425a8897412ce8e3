"""The dashboard's tallies agree with the traces, however often and late they are computed."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from apps.pipeline.core.enums import TraceStatus
from apps.tenants.models import Project
from apps.traces import tallies
from apps.traces.funnel_metrics import Measure
from apps.traces.models import HourlyLatency, HourlyTally, ModelCall, Span, TalliedHour, Trace
from apps.traces.tallies import (
    CLOSED_AFTER,
    HOUR,
    count_now,
    hour_of,
    hours_to_tally,
    latencies_now,
    tally_hour,
)
from tests.worker.worker_helper import Person

pytestmark = pytest.mark.django_db

Sums = dict[tuple[str, str, str], float]


def tally() -> None:
    """Tally what has been written until now."""
    tallies.tally(settled_after=timedelta())


def sums(project: Project) -> Sums:
    rows = HourlyTally.objects.filter(project=project)
    found: Sums = {}
    for measure, stage, reason, amount in rows.values_list("measure", "stage", "reason", "amount"):
        found[measure, stage, reason] = found.get((measure, stage, reason), 0) + amount
    return found


@pytest.fixture
def spoken(project: Project) -> Person:
    ana = Person(project)
    ana.says("thanks!", "good morning", "I live in Lisbon.")
    ana.says("What is the weather like?")
    ana.says("thank you", session="tuesday")
    ana.is_worked_for()
    return ana


def test_tallies_agree_with_the_traces(project: Project, spoken: Person) -> None:
    tally()
    counted = sums(project)
    assert counted["turns", "", ""] == 5
    rejected = [trace.counts["rejected"] for trace in Trace.objects.filter(project=project)]
    for reason in {reason for counts in rejected for reason in counts}:
        assert counted["drops", "pre_filter", reason] == sum(counts.get(reason, 0) for counts in rejected)
    traces = Trace.objects.filter(project=project)
    stored = sum(trace.counts["stored"] for trace in traces)
    assert stored >= 1
    assert counted["rulings", "", "stored"] == stored
    assert counted["traces", "", TraceStatus.DONE] == 2
    assert counted["traces", "", TraceStatus.REJECTED] == 1
    assert counted["drops", "extract", "no_candidate"] >= 1


def test_a_count_of_now_agrees_with_the_tallies_of_its_hours(project: Project, spoken: Person) -> None:
    tally()
    now = timezone.now()
    found: Sums = {}
    counted = count_now(project_id=project.pk, since=now - HOUR, until=now, step=timedelta(minutes=5))
    for moment, measure, stage, reason, amount in counted:
        assert now - timedelta(minutes=5) <= moment < now
        found[measure, stage, reason] = found.get((measure, stage, reason), 0) + amount
    assert found == sums(project)
    buckets = HourlyLatency.objects.filter(project=project).order_by().values_list("stage", "bucket", "spans")
    assert sorted(latencies_now(project_id=project.pk, since=now - HOUR, until=now)) == sorted(buckets)


def test_a_count_of_now_leaves_out_what_is_older(project: Project, spoken: Person) -> None:
    now = timezone.now()
    Span.objects.update(created_at=now - timedelta(minutes=61))
    assert count_now(project_id=project.pk, since=now - HOUR, until=now, step=timedelta(minutes=5)) == []
    assert latencies_now(project_id=project.pk, since=now - HOUR, until=now) == []


def test_redacted_data_is_counted_by_kind(project: Project) -> None:
    ana = Person(project)
    ana.says("My password is hunter22.", "I pay with 4111 1111 1111 1111 and live in Lisbon.")
    ana.is_worked_for()

    tally()

    counted = sums(project)
    assert (counted["redacted", "", "secret"], counted["redacted", "", "card"]) == (1, 1)


def test_every_span_is_in_a_bucket_of_latency(project: Project, spoken: Person) -> None:
    Span.objects.filter(stage="extract").update(latency_us=1_000)
    tally()
    rows = HourlyLatency.objects.filter(project=project)
    assert sum(row.spans for row in rows) == Span.objects.count()
    (extract,) = rows.filter(stage="extract")
    assert 2 ** (extract.bucket / 8) <= 1_000 < 2 ** ((extract.bucket + 1) / 8)


def test_calls_tokens_and_dollars_are_added_up(project: Project, spoken: Person) -> None:
    trace = Trace.objects.filter(project=project).earliest("created_at")
    calls = (
        {
            "answer": '{"memories": [{"type": "fact"}]}',
            "cache_read_tokens": 4_200,
            "cost_usd": "0.0010",
            "answer_kind": "memories",
            "invalid_objects": 2,
        },
        {
            "answer": '{"memories": []}',
            "input_tokens": 300,
            "output_tokens": 20,
            "cost_usd": "0.0005",
            "answer_kind": "empty",
            "prompt_cut": True,
        },
        {"purpose": "judge_pairs", "answer": "?", "error": "unparsable", "answer_kind": "unparsable"},
        {"error": "timed out"},
    )
    for each in calls:
        common = {"purpose": "extract", "request_hash": "0", "model": "m", "prompt_version": "1"}
        ModelCall.objects.create(end_user=trace.end_user, trace=trace, **{**common, **each})
    tally()
    counted = sums(project)
    assert (counted["calls", "", ""], counted["calls_cached", "", ""], counted["calls_failed", "", ""]) == (4, 1, 2)
    assert {key[1:]: amount for key, amount in counted.items() if key[0] == "answers"} == {
        ("extract", "memories"): 1,
        ("extract", "empty"): 1,
        ("judge_pairs", "unparsable"): 1,
    }
    assert (counted["invalid_objects", "", ""], counted["cut_prompts", "", "m"]) == (2, 1)
    assert counted["tokens", "", "cache_read"] == 4_200
    assert counted["cost", "", ""] == pytest.approx(0.0015)


def test_reasons_for_review_are_counted_one_by_one(project: Project, spoken: Person) -> None:
    trace = Trace.objects.filter(project=project, status=TraceStatus.DONE).earliest("created_at")
    pending = {"outcome": "pending_review", "stage": "persist", "turn": "t"}
    trace.outcomes = [
        {**pending, "reason": "weaker_evidence, contradiction"},
        {**pending, "reason": "weaker_evidence"},
        {**pending, "outcome": "stored", "reason": "unsure_duplicate"},
    ]
    trace.save(update_fields=["outcomes"])
    tally()
    assert {why: amount for (measure, _, why), amount in sums(project).items() if measure == "reviews"} == {
        "weaker_evidence": 2,
        "contradiction": 1,
    }


def test_repeating_a_tally_changes_nothing_and_adds_new_turns(project: Project, spoken: Person) -> None:
    tally()
    before = sums(project)
    tally()
    assert sums(project) == before
    spoken.says("bye", session="wednesday")
    tally()
    assert sums(project)["turns", "", ""] == before["turns", "", ""] + 1


def turns_of(project: Project) -> float:
    return sums(project).get(("turns", "", ""), 0)


def test_an_open_hour_reads_only_what_is_new_and_is_counted_anew_when_it_is_over(project: Project) -> None:
    ana, start = Person(project), hour_of(timezone.now() - 5 * HOUR)
    minutes = (1, 20, 10)  # the last one was committed late
    for number, minute in enumerate(minutes):
        ana.says("thank you", session=str(number))
        latest = Span.objects.filter(created_at__gte=timezone.now() - HOUR)
        latest.update(created_at=start + timedelta(minutes=minute))
        tally_hour(start, now=start + timedelta(minutes=minute + 1))
        assert TalliedHour.objects.get(hour=start).counted_until is not None
    assert turns_of(project) == 2
    latencies = HourlyLatency.objects.filter(project=project, stage="pre_filter")
    assert sum(each.spans for each in latencies) == 2

    tally_hour(start, now=start + HOUR + timedelta(minutes=1))  # the hour is over, but a transaction may be open
    assert turns_of(project) == 2
    tally_hour(start, now=start + HOUR + CLOSED_AFTER)
    assert turns_of(project) == 3
    assert sum(each.spans for each in latencies.all()) == 3


def test_what_was_written_a_moment_ago_is_left_for_the_next_tally(project: Project) -> None:
    Person(project).says("thank you")
    tallies.tally()
    assert turns_of(project) == 0
    tally()
    assert turns_of(project) == 1


def test_projects_are_counted_separately(project: Project, other_project: Project, spoken: Person) -> None:
    tally()
    assert sums(project)
    assert not sums(other_project)


def test_an_hour_without_traces_has_no_tallies(project: Project, spoken: Person) -> None:
    tally_hour(hour_of(Trace.objects.earliest("created_at").created_at) - HOUR, now=timezone.now())
    assert not sums(project)


def test_a_first_run_begins_with_the_first_span_and_continues_in_batches(project: Project, spoken: Person) -> None:
    now = timezone.now()
    Span.objects.filter(stage="pre_filter").update(created_at=now - 30 * HOUR)
    first = hour_of(now - 30 * HOUR)
    assert hours_to_tally(now=now, most=3) == [first, first + HOUR, first + 2 * HOUR]
    tally()
    tallied = set(TalliedHour.objects.values_list("hour", flat=True))
    assert min(tallied) == first
    assert tallied >= {first + number * HOUR for number in range(31)}
    assert sums(project)["turns", "", ""] == 5


def hour(text: str) -> datetime:
    return datetime.fromisoformat(f"2026-03-01T{text}:00+00:00")


@pytest.mark.parametrize(
    ("tallied_at", "now", "expected"),
    [
        ("09:59", "10:05", ["09:00", "10:00"]),  # the last minute of the hour before is not in yet
        ("10:05", "10:20", ["09:00", "10:00"]),  # a transaction may still have been open
        ("10:11", "10:20", ["10:00"]),
        ("09:30", "09:31", ["09:00"]),
        ("09:30", "12:00", ["09:00", "10:00", "11:00", "12:00"]),  # nothing ran in between
    ],
)
def test_an_hour_is_recomputed_until_it_is_closed(tallied_at: str, now: str, expected: list[str]) -> None:
    assert timedelta(minutes=5) < CLOSED_AFTER <= timedelta(minutes=11)
    TalliedHour.objects.create(hour=hour("08:00"), tallied_at=hour("09:15"))
    TalliedHour.objects.create(hour=hour("09:00"), tallied_at=hour(tallied_at))
    assert hours_to_tally(now=hour(now), most=10) == [hour(each) for each in expected]


def test_nothing_to_do_before_there_is_a_trace(project: Project) -> None:
    assert tallies.hours_to_tally(now=timezone.now(), most=10) == []
    assert tallies.tally() == 0


def test_every_measure_that_is_counted_has_a_name(project: Project, spoken: Person) -> None:
    tally()
    assert {Measure(measure) for measure, _, _ in sums(project)} <= set(Measure)
