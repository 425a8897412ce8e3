"""A rule is tried on stored turns: what it shows is what intake does after the rule is saved."""

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.common.errors import Unfit
from apps.memories.models import Memory
from apps.pipeline.core.enums import Reason
from apps.pipeline.core.policy import Rule
from apps.tenants.models import Project
from apps.traces.models import PreFilterRule, Trace, Turn
from apps.tuning import rules as trying
from apps.tuning.rules import RuleTrial, TurnChange, save_rule, try_rule
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


def tried(project: Project, rule: Rule = LISBON, *, days: int = 7) -> RuleTrial:
    return try_rule(project_id=project.id, rule=rule, days=days)


def contents(changes: list[TurnChange]) -> list[str]:
    return [Turn.objects.get(id=change.turn_id).content for change in changes]


def test_newly_dropped_turns_are_counted_and_those_that_made_memories_apart(project: Project, ana: Person) -> None:
    found = tried(project)
    assert (found.turns, len(found.dropped), len(found.kept)) == (5, 3, 0)
    lost = Memory.objects.filter(origins__turn__content="I live in Lisbon.").count()
    assert found.memories == {"accepted": lost, "waiting": 0, "rejected": 0}
    assert lost >= 1
    assert contents(found.harmful) == ["I live in Lisbon."]
    assert contents(found.dropped) == ["I live in Lisbon.", "Lisbon was sunny, wasn't it?", "Do you know Lisbon?"]


@pytest.mark.parametrize(
    ("status", "counts"), [("pending_review", (1, 0)), ("rejected", (0, 1)), ("retracted", (0, 1))]
)
def test_what_waits_or_was_rejected_is_no_harm(
    project: Project, ana: Person, status: str, counts: tuple[int, int]
) -> None:
    (memory,) = Memory.objects.filter(origins__turn__content="I live in Lisbon.")
    Memory.objects.filter(pk=memory.pk).update(status=status)
    found = tried(project)
    assert (len(found.dropped), found.harmful) == (3, [])
    assert tuple(found.memories.values()) == (0, *counts)


def test_a_rule_that_is_switched_off_keeps_what_it_dropped(project: Project, ana: Person) -> None:
    name = Turn.objects.get(content="thanks!").rejected_by
    rule = PreFilterRule.objects.get(project=project, name=name).as_rule().model_copy(update={"enabled": False})
    found = tried(project, rule)
    assert (found.dropped, contents(found.kept)) == ([], ["thanks!"])


def test_a_trial_agrees_with_what_intake_then_does(project: Project, ana: Person) -> None:
    """After the rule is saved, the same turns of another user are rejected as it predicted."""
    before = Turn.objects.exclude(rejected_for="").count()
    found = tried(project)
    save_rule(project_id=project.id, rule=LISBON)
    bea = Person(project, name="bea")
    for trace in Trace.objects.filter(end_user_id=ana.id).order_by("created_at"):
        bea.says(*trace.turns.order_by("position").values_list("content", flat=True))
    after = Turn.objects.filter(end_user_id=bea.id).exclude(rejected_for="").count()
    assert after - before == len(found.dropped) - len(found.kept)


def test_what_was_judged_against_an_earlier_turn_is_so_again(project: Project) -> None:
    """A repeated turn changes neither way."""
    ana = Person(project)
    for _ in range(4):
        ana.says("I keep bees.")
    nothing = LISBON.model_copy(update={"pattern": "zebra"})
    assert (tried(project, nothing).turns, tried(project, nothing).changes) == (4, ())
    bees = LISBON.model_copy(update={"pattern": "bees"})
    assert len(tried(project, bees).dropped) == 1


def test_what_was_sent_again_under_its_id_long_after_is_no_change(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana = Person(project)
    ana.says("I live in Lisbon.")
    ana.says(*(f"The number is {number}." for number in range(30)))
    ana.says("I live in Lisbon.")
    Turn.objects.filter(content="I live in Lisbon.").update(external_id="t1")
    for most_turns in (1, trying.PREVIEWED_TURNS):  # the first one before or among those that are tried
        monkeypatch.setattr(trying, "PREVIEWED_TURNS", most_turns)
        assert contents(tried(project).dropped) == ["I live in Lisbon."][: most_turns - 1]


def test_only_the_last_days_and_this_project_are_looked_at(
    project: Project, other_project: Project, ana: Person
) -> None:
    Person(other_project).says("I live in Lisbon.")
    Trace.objects.filter(turns__content="I live in Lisbon.").update(created_at=timezone.now() - timedelta(days=3))
    assert len(tried(project, days=2).dropped) == 1
    assert len(tried(project, days=4).dropped) == 3


def test_saving_is_not_part_of_it(project: Project, ana: Person) -> None:
    tried(project)
    assert not PreFilterRule.objects.filter(name="lisbon").exists()


@pytest.mark.parametrize(("pattern", "days"), [("(lisbon", 7), ("lisbon", 0), ("lisbon", 91), ("x*", 7)])
def test_what_can_not_be_tried_is_refused(project: Project, pattern: str, days: int) -> None:
    with pytest.raises(Unfit):
        tried(project, LISBON.model_copy(update={"pattern": pattern}), days=days)
