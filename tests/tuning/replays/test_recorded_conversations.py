"""Whole conversations replay without a difference: by patterns, and with the answers of a model."""

from datetime import UTC, datetime
from itertools import groupby
from typing import Any

import pytest
from django.db import connection

from apps.intake.accept import Submission, accept
from apps.pipeline.core.enums import Role
from apps.pipeline.core.turn import NewTurn
from apps.projects.services import create_project
from apps.tenants.models import Project
from apps.traces.models import ModelCall
from benchmarks.data import find
from benchmarks.locomo_data import Conversation, LocomoTurn, load
from benchmarks.truth import RECORDED
from benchmarks.truth.gold import load as load_gold
from benchmarks.truth.recorded_model import NAME, RecordedAnswers, RecordedModel
from benchmarks.truth.replay import replay
from tests.tuning.replays.replay_helper import differences, replay_of, replayed, stored
from tests.worker.worker_helper import Person

pytestmark = pytest.mark.django_db
LONG = ("nursing", "family_household")


@pytest.mark.parametrize("name", ["mover", *(pytest.param(name, marks=pytest.mark.soak) for name in LONG)])
def test_answers_of_a_model_are_found_again(name: str, settings: Any) -> None:
    settings.MODEL = NAME
    (conversation,) = load_gold(names=[name])
    answers = RecordedAnswers.read(RECORDED / f"{name}.jsonl")
    project = create_project(name=name, slug="recorded")
    told = replay(conversation, project=project, model=RecordedModel(turns=conversation.turns, answers=answers))

    runs, again = replay_of(told.end_user_id)

    assert [(run.head.trace_id, run.state, run.error, run.diff) for run in differences(runs)] == []
    assert replayed(again) == stored(told.end_user_id) != []
    assert ModelCall.objects.filter(end_user_id=told.end_user_id).exists()


TURNS_OF_A_REQUEST = 10


def _said(turn: LocomoTurn) -> NewTurn:
    said_at = turn.said_at or datetime(2023, 1, 1, tzinfo=UTC)
    return NewTurn(role=Role.USER, content=turn.text, speaker=turn.speaker, occurred_at=said_at)


def _in_parts(said: list[NewTurn], *, most: int) -> list[list[NewTurn]]:
    return [said[start : start + most] for start in range(0, len(said), most)]


def locomo() -> Conversation:
    try:
        return min(load(find(None, "locomo_dev.json")), key=lambda each: len(each.turns))
    except FileNotFoundError as absent:
        pytest.skip(str(absent))


def analyse() -> None:
    """Tell the planner how many rows there are: autovacuum does not see those of an open transaction.

    Without, looking for similar memories joins each memory with each vector, which takes twenty times as long.
    """
    with connection.cursor() as cursor:
        cursor.execute("analyze memories_memory, memories_memoryvector")


@pytest.mark.soak
def test_a_conversation_of_locomo_replays_without_a_difference(project: Project) -> None:
    conversation = locomo()
    person = Person(project, conversation.id)
    for session, turns in groupby(conversation.turns, key=lambda turn: turn.session):
        for said in _in_parts([_said(turn) for turn in turns], most=TURNS_OF_A_REQUEST):
            accept(submission=Submission(project.id, None, conversation.id, str(session), tuple(said)))
        while person.is_worked_for():
            pass
        analyse()

    runs, again = replay_of(person.id)

    assert len(runs) > len({turn.session for turn in conversation.turns})
    assert [(run.head.trace_id, run.state, run.error, run.diff) for run in differences(runs)] == []
    assert replayed(again) == stored(person.id) != []
