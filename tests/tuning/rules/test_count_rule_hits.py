"""Dropped turns are added to the counts of their rules, each once."""

import pytest

from apps.intake.accept import Submission, accept
from apps.pipeline.core.enums import Role
from apps.pipeline.core.turn import NewTurn
from apps.tenants.models import Project
from apps.traces.models import PreFilterRule, Turn
from apps.tuning import rules as counting
from apps.tuning.rules import count_rule_hits

pytestmark = pytest.mark.django_db


def send(project: Project, *contents: str, session: str = "monday") -> None:
    turns = tuple(NewTurn(role=Role.USER, content=content) for content in contents)
    accept(submission=Submission(project.id, None, "ana", session, turns))


def hits(project: Project) -> dict[str, int]:
    rules = PreFilterRule.objects.filter(project=project, hit_count__gt=0)
    return dict(rules.values_list("name", "hit_count"))


def dropped_by_rules() -> int:
    return Turn.objects.exclude(rejected_by="").count()


def test_each_dropped_turn_counts_once(project: Project) -> None:
    send(project, "thank you", "I live in Lisbon.", "good morning", "bye")
    dropped = dropped_by_rules()
    assert dropped >= 3
    assert count_rule_hits() == dropped
    assert sum(hits(project).values()) == dropped
    assert count_rule_hits() == 0
    assert sum(hits(project).values()) == dropped


def test_later_hits_are_added(project: Project) -> None:
    send(project, "thank you")
    count_rule_hits()
    before = hits(project)
    send(project, "thank you", session="tuesday")
    count_rule_hits()
    assert hits(project) == {name: 2 * count for name, count in before.items()}


def test_a_rule_knows_its_last_hit(project: Project) -> None:
    send(project, "thank you")
    count_rule_hits()
    rule = PreFilterRule.objects.get(project=project, hit_count__gt=0)
    assert rule.last_hit_at == Turn.objects.get(rejected_by=rule.name).received_at


def test_projects_are_counted_separately(project: Project, other_project: Project) -> None:
    send(project, "thank you")
    count_rule_hits()
    assert hits(project)
    assert not hits(other_project)


def test_many_hits_are_counted_in_parts(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "COUNTED_AT_ONCE", 2)
    send(project, "thank you", "good morning", "bye", "hello there", "ok thanks")
    assert count_rule_hits() == dropped_by_rules()


def test_a_rule_that_is_gone_is_passed_over(project: Project) -> None:
    send(project, "thank you")
    PreFilterRule.objects.filter(project=project).delete()
    assert count_rule_hits() == 1
    assert count_rule_hits() == 0
