"""Samples are drawn at random from what was stored and from what was not, and never twice."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from apps.common.errors import Unfit
from apps.memories.models import EvaluationItem, EvaluationSample, LedgerEntry, Memory
from apps.memories.services.revising import retract
from apps.memories.services.store import StoreRequest, store
from apps.pipeline.core.enums import MemoryType, SampleKind
from apps.pipeline.direct_write.new_memory import NewMemory
from apps.tenants.models import Project
from apps.traces.models import Trace
from apps.tuning.evaluation import samples as drawing
from apps.tuning.evaluation.samples import draw_samples, start_of, week_of
from apps.worker.tasks import draw_weekly_samples
from tests.tuning.evaluation.evaluated import contents, drawn, told
from tests.worker.worker_helper import Person

pytestmark = pytest.mark.django_db
MEMORY, TURN = SampleKind
STORED = {"User lives in Lisbon.", "User works as a nurse.", "User likes green tea."}


def note(project: Project, text: str) -> Memory:
    new = NewMemory(type=MemoryType.PREFERENCE, content=text)
    (made,) = store(request=StoreRequest(project_id=project.pk, api_key_id=None, user_id="ana", memories=(new,)))
    return Memory.objects.get(pk=made)


def test_memories_and_turns_without_one_are_drawn(project: Project) -> None:
    told(project)
    samples = drawn(project)
    assert set(contents(samples[MEMORY])) == STORED
    assert set(contents(samples[TURN])) == {"Good morning!", "The weather is odd today."}
    assert (samples[MEMORY].population, samples[TURN].population) == (3, 2)
    assert samples[TURN].counts == [{"version": 1, "turns": 5, "passed": 4, "stored": 3}]
    assert LedgerEntry.objects.filter(verb="sample_drawn", object_kind="evaluation_sample").count() == 2


def test_an_item_keeps_what_it_was_when_it_was_drawn(project: Project) -> None:
    told(project)
    note(project, "Ana dislikes tulips.")
    drawn(project)
    items = EvaluationItem.objects.filter(memory__isnull=False).values_list("memory_type", "model", "version")
    assert sorted(items, key=str) == [
        ("fact", "plain", 1),
        ("fact", "plain", 1),
        ("preference", "direct", None),
        ("preference", "plain", 1),
    ]
    assert set(EvaluationItem.objects.filter(turn__isnull=False).values_list("model", "version")) == {("", 1)}


def test_only_active_memories_of_the_period_are_drawn(project: Project) -> None:
    told(project)
    old, gone = note(project, "Ana dislikes tulips."), note(project, "Ana dislikes roses.")
    Memory.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(days=8))
    retract(project_id=project.pk, memory_id=gone.pk)
    assert set(contents(drawn(project)[MEMORY])) == STORED


def test_turns_of_traces_that_have_not_ended_or_were_rolled_back_are_not_drawn(project: Project) -> None:
    told(project).says("I own a boat.")
    Trace.objects.filter(status="done").update(status="rolled_back")
    assert TURN not in drawn(project)


def test_the_same_seed_draws_the_same(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "SIZES", {MEMORY: 5, TURN: 2})
    told(project)
    for number in range(30):
        note(project, f"Ana owns the book number {number}.")
    firsts = []
    for seed in (1, 1, 2, 3):
        samples = drawn(project, seed=seed)
        firsts.append(contents(samples[MEMORY]))
        EvaluationSample.objects.all().delete()
    assert firsts[0] == firsts[1]
    assert len({tuple(each) for each in firsts}) == 3
    assert all(len(each) == 5 for each in firsts)


def test_nothing_is_drawn_twice(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "SIZES", {MEMORY: 2, TURN: 1})
    told(project)
    first, second = drawn(project), drawn(project)
    assert set(contents(first[MEMORY])) | set(contents(second[MEMORY])) == STORED
    assert second[MEMORY].population == 3
    with pytest.raises(Unfit):
        drawn(project)


@pytest.mark.parametrize("days", [0, -1, 93])
def test_an_impossible_period_is_refused(project: Project, days: int) -> None:
    now = timezone.now()
    with pytest.raises(Unfit):
        draw_samples(project_id=project.pk, since=now - timedelta(days=days), until=now)


def test_a_period_that_goes_on_ends_now(project: Project) -> None:
    told(project)
    now = timezone.now()
    samples = draw_samples(project_id=project.pk, since=now - timedelta(days=1), until=now + timedelta(days=60))
    assert {each.week for each in samples} == {week_of(now)}
    assert max(each.until for each in samples) < now + timedelta(days=1)
    with pytest.raises(Unfit):
        draw_samples(project_id=project.pk, since=now + timedelta(days=1), until=now + timedelta(days=2))


def test_other_projects_are_left_alone(project: Project, other_project: Project) -> None:
    told(other_project)
    with pytest.raises(Unfit):
        drawn(project)


@pytest.mark.parametrize(
    ("until", "week"),
    [
        (datetime(2030, 6, 10, tzinfo=UTC), date(2030, 6, 3)),  # a Monday: the week before it has ended
        (datetime(2030, 6, 10, 0, 1, tzinfo=UTC), date(2030, 6, 10)),
        (datetime(2030, 6, 16, 23, tzinfo=UTC), date(2030, 6, 10)),
    ],
)
def test_the_week_of_a_period(until: datetime, week: date) -> None:
    assert week_of(until) == week


def test_the_schedule_draws_the_last_week_once(project: Project, other_project: Project) -> None:
    told(project)
    this_week = start_of(week_of(timezone.now()))
    assert draw_weekly_samples() == 0
    some_day_of_last_week = this_week - timedelta(days=3)
    Trace.objects.update(created_at=some_day_of_last_week)
    Memory.objects.update(created_at=some_day_of_last_week)
    assert draw_weekly_samples() == 1
    assert draw_weekly_samples() == 0
    found = EvaluationSample.objects.filter(project=project)
    assert {(each.kind, each.since, each.until, each.actor) for each in found} == {
        (kind, this_week - timedelta(days=7), this_week, "system") for kind in SampleKind
    }
    assert {each.week for each in found} == {(this_week - timedelta(days=7)).date()}


@pytest.mark.django_db(transaction=True)
def test_turns_are_accepted_while_samples_are_drawn(project: Project) -> None:
    """A draw of many turns takes seconds, and each accepted turn refers to the project that it has locked."""
    told(project)
    with transaction.atomic():
        drawn(project)
        with ThreadPoolExecutor(max_workers=1) as other:
            other.submit(_says, project).result()
    assert Trace.objects.filter(status="queued").count() == 1


def _says(project: Project) -> None:
    try:
        with connection.cursor() as cursor:
            cursor.execute("set lock_timeout = '20s'")  # fails instead of waiting for the draw that waits for it
        Person(project).says("I own a boat.")
    finally:
        connection.close()
