"""A run sees as many of its session's earlier turns as its policy looks back on."""

import pytest

from apps.pipeline.core.enums import Role
from apps.projects.services import change_policy
from apps.tenants.models import Project
from apps.traces.drafts import load_drafts
from tests.worker.worker_helper import Person

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("shown", [2, 20, 30])
def test_so_many_earlier_turns_are_loaded(project: Project, shown: int) -> None:
    change_policy(project_id=project.id, base=1, changes={("extraction", "max_turns"): shown})
    ana = Person(project)
    ana.says(*(f"I have read book number {number}." for number in range(35)))
    accepted = ana.says("I live in Lisbon.", "ok")
    (draft,) = load_drafts(end_user_id=ana.id, trace_ids=[accepted.trace_id])
    earlier = [turn.content for turn in draft.request.earlier_turns]
    assert earlier == [f"I have read book number {number}." for number in range(35 - shown, 35)]
    assert [turn.position for turn in draft.request.turns] == [35, 36]
    assert [turn.content for turn in draft.turns] == ["I live in Lisbon."]


def test_turns_are_loaded_as_they_were_accepted(project: Project) -> None:
    ana = Person(project)
    accepted = ana.says('Ich heiße "Åsa" \\ 🙂\nund wohne in Zürich.')
    (draft,) = load_drafts(end_user_id=ana.id, trace_ids=[accepted.trace_id])
    (turn,) = draft.request.turns
    assert turn.content == 'Ich heiße "Åsa" \\ 🙂\nund wohne in Zürich.'
    assert (turn.role, turn.speaker, turn.utc_offset, turn.occurred_at) == (Role.USER, "", 0, None)
    assert turn.received_at.utcoffset() is not None
