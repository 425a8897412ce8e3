"""A preview shows what intake does after the rule is saved."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.common.errors import NotFound, Unfit
from apps.memories.models import Memory
from apps.pipeline.core.enums import Reason
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.policy import Rule
from apps.tenants.models import Project
from apps.traces.models import PreFilterRule, PreviewState, RulePreview, Trace, Turn
from apps.tuning import rules as asking
from apps.tuning import rules as running
from apps.tuning.rules import request_preview, run_preview, save_rule
from tests.worker.worker_helper import Person

pytestmark = pytest.mark.django_db

LISBON = Rule(name="lisbon", reason=Reason.PATTERN, pattern="lisbon", order=1)


@pytest.fixture
def ana(project: Project) -> Person:
    ana = Person(project)
    ana.says("I live in Lisbon.", "thanks!", "Lisbon was sunny, wasn't it?")
    ana.says("Do you know Lisbon?", "ok")
    ana.is_worked_for()
    return ana


def kinds(preview: RulePreview) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for example in preview.examples:
        found.setdefault(example["kind"], []).append(Turn.objects.get(id=example["turn"]).content)
    return found


def test_newly_dropped_turns_are_counted_and_those_that_made_memories_apart(project: Project, ana: Person) -> None:
    preview = request_preview(project_id=project.id, rule=LISBON, days=7)
    assert preview.state == PreviewState.DONE
    assert (preview.turns_total, preview.turns_done) == (5, 5)
    assert (preview.newly_dropped, preview.newly_kept, preview.harmful) == (3, 0, 1)
    assert preview.memories_lost == Memory.objects.filter(origins__turn__content="I live in Lisbon.").count() >= 1
    assert kinds(preview) == {
        "harmful": ["I live in Lisbon."],
        "dropped": ["Lisbon was sunny, wasn't it?", "Do you know Lisbon?"],
    }


@pytest.mark.parametrize(
    ("status", "counts"), [("pending_review", (1, 0)), ("rejected", (0, 1)), ("retracted", (0, 1))]
)
def test_what_waits_or_was_rejected_is_no_harm(
    project: Project, ana: Person, status: str, counts: tuple[int, int]
) -> None:
    (memory,) = Memory.objects.filter(origins__turn__content="I live in Lisbon.")
    Memory.objects.filter(pk=memory.pk).update(status=status)
    preview = request_preview(project_id=project.id, rule=LISBON, days=7)
    assert (preview.newly_dropped, preview.harmful, preview.memories_lost) == (3, 0, 0)
    assert (preview.memories_waiting, preview.memories_rejected) == counts
    assert "harmful" not in kinds(preview)


def test_a_rule_that_is_switched_off_keeps_what_it_dropped(project: Project, ana: Person) -> None:
    name = Turn.objects.get(content="thanks!").rejected_by
    rule = PreFilterRule.objects.get(project=project, name=name).as_rule().model_copy(update={"enabled": False})
    preview = request_preview(project_id=project.id, rule=rule, days=7)
    assert (preview.newly_dropped, preview.newly_kept) == (0, 1)
    assert kinds(preview) == {"kept": ["thanks!"]}


def test_a_preview_agrees_with_what_intake_then_does(project: Project, ana: Person) -> None:
    """After the rule is saved, the same turns of another user are rejected as the preview predicted."""
    before = Turn.objects.exclude(rejected_for="").count()
    preview = request_preview(project_id=project.id, rule=LISBON, days=7)
    save_rule(project_id=project.id, rule=LISBON)
    bea = Person(project, name="bea")
    for trace in Trace.objects.filter(end_user_id=ana.id).order_by("created_at"):
        bea.says(*trace.turns.order_by("position").values_list("content", flat=True))
    after = Turn.objects.filter(end_user_id=bea.id).exclude(rejected_for="").count()
    assert after - before == preview.newly_dropped - preview.newly_kept


def test_what_was_judged_against_an_earlier_turn_is_so_again(project: Project) -> None:
    """A repeated turn, and one sent again under its id, change neither way."""
    ana = Person(project)
    ana.says("I keep bees.")
    for _ in range(3):
        ana.says("I keep bees.")
    nothing = LISBON.model_copy(update={"pattern": "zebra"})
    preview = request_preview(project_id=project.id, rule=nothing, days=7)
    assert (preview.turns_done, preview.newly_dropped, preview.newly_kept) == (4, 0, 0)
    bees = LISBON.model_copy(update={"pattern": "bees"})
    assert request_preview(project_id=project.id, rule=bees, days=7).newly_dropped == 1


def test_only_the_last_days_and_this_project_are_looked_at(
    project: Project, other_project: Project, ana: Person
) -> None:
    Person(other_project).says("I live in Lisbon.")
    old = timezone.now() - timedelta(days=3)
    Turn.objects.filter(content="I live in Lisbon.").update(received_at=old)
    Trace.objects.filter(turns__content="I live in Lisbon.").update(created_at=old)
    assert request_preview(project_id=project.id, rule=LISBON, days=2).newly_dropped == 1
    assert request_preview(project_id=project.id, rule=LISBON, days=4).newly_dropped == 3


def test_saving_is_not_part_of_it(project: Project, ana: Person) -> None:
    request_preview(project_id=project.id, rule=LISBON, days=7)
    assert not PreFilterRule.objects.filter(name="lisbon").exists()


def test_many_turns_are_left_to_a_worker(project: Project, ana: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "IMMEDIATE_TURNS", 2)
    preview = request_preview(project_id=project.id, rule=LISBON, days=7)
    assert preview.state == PreviewState.WAITING
    run_preview(preview_id=preview.id)
    preview.refresh_from_db()
    assert (preview.state, preview.newly_dropped) == (PreviewState.DONE, 3)


def test_progress_is_reported_after_each_batch(project: Project, ana: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    progress: list[int] = []
    report = running._report

    def watched(preview: RulePreview, **more: Any) -> None:
        report(preview, **more)
        progress.append(RulePreview.objects.get(pk=preview.pk).turns_done)

    monkeypatch.setattr(running, "BATCH", 1)
    monkeypatch.setattr(running, "_report", watched)
    request_preview(project_id=project.id, rule=LISBON, days=7)
    assert progress == [3, 5, 5]


def test_a_preview_runs_once(project: Project, ana: Person) -> None:
    preview = request_preview(project_id=project.id, rule=LISBON, days=7)
    RulePreview.objects.filter(pk=preview.pk).update(newly_dropped=99)
    run_preview(preview_id=preview.id)
    preview.refresh_from_db()
    assert preview.newly_dropped == 99


def test_examples_are_few(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "MOST_EXAMPLES", 2)
    Person(project).says(*(f"Lisbon has {number} hills." for number in range(5)))
    preview = request_preview(project_id=project.id, rule=LISBON, days=7)
    assert preview.newly_dropped == 5
    assert len(preview.examples) == 2


def test_an_old_preview_is_forgotten_when_a_new_one_is_asked(project: Project) -> None:
    first = request_preview(project_id=project.id, rule=LISBON, days=7)
    RulePreview.objects.filter(pk=first.pk).update(created_at=timezone.now() - timedelta(days=2))
    second = request_preview(project_id=project.id, rule=LISBON, days=7)
    assert [preview.pk for preview in RulePreview.objects.all()] == [second.pk]


@pytest.mark.parametrize(("pattern", "days"), [("(lisbon", 7), ("", 0), ("lisbon", 0), ("lisbon", 91), ("x*", 7)])
def test_what_can_not_be_tried_is_refused_before_anything_is_written(project: Project, pattern: str, days: int) -> None:
    rule = LISBON.model_copy(update={"pattern": pattern or "lisbon"})
    with pytest.raises(Unfit):
        request_preview(project_id=project.id, rule=rule, days=days)
    assert not RulePreview.objects.exists()


def test_an_unknown_project_is_refused(db: None) -> None:
    with pytest.raises(NotFound):
        request_preview(project_id=new_id(), rule=LISBON, days=7)
