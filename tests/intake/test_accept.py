"""An accepted request writes its turns, its trace and its outbox row together, or nothing."""

import threading
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import DataError, connection
from django.utils import timezone

from apps.intake.accept import KeyRefused, Submission, accept
from apps.intake.sessions import end_session
from apps.outbox.models import OutboxRow, UserLease
from apps.pipeline.core.enums import Reason, Role, Stage, TraceStatus, WorkKind, WorkState
from apps.pipeline.core.identifiers import session_id
from apps.pipeline.core.policy import MOST_REPEAT_WINDOW, Rule
from apps.pipeline.core.turn import NewTurn
from apps.projects.api_keys import CreatedKey
from apps.tenants.models import ApiKey, EndUser, Project
from apps.traces.models import ConfigurationVersion, Session, Span, Trace, Turn
from apps.tuning.rules import save_rule
from tests.api.counting import rows_by_table
from tests.outbox.second_connection import Aside

pytestmark = pytest.mark.django_db
KEPT, CHATTER = "I live in Lisbon.", "thanks a lot!"


def submission(project: Project, *contents: str, **more: Any) -> Submission:
    turns = tuple(NewTurn(role=Role.USER, content=content) for content in contents)
    return replace(Submission(project.id, None, "ana", "monday", turns), **more)


def stored(session: str = "monday") -> list[tuple[int, str, str]]:
    rows = Turn.objects.filter(session__external_id=session).order_by("position")
    return list(rows.values_list("position", "content", "rejected_for"))


def test_a_request_is_recorded_and_its_run_is_enqueued(project: Project, api_key: CreatedKey) -> None:
    said = timezone.now() - timedelta(days=3)
    turn = NewTurn(role=Role.USER, content=KEPT, speaker="Ana", occurred_at=said, external_id="t1")
    given = submission(project, turns=(turn,), api_key_id=api_key.key.id, topic="life", metadata={"app": "x"})

    accepted = accept(submission=given)

    user = EndUser.objects.get(project=project, external_id="ana")
    session = Session.objects.get(end_user=user, external_id="monday")
    trace = Trace.objects.get(id=accepted.trace_id)
    row = Turn.objects.get(trace=trace)
    assert (accepted.status, accepted.end_user_id) == (TraceStatus.QUEUED, user.id)
    assert (session.turn_count, session.ended_at, session.last_turn_at) == (1, None, row.received_at)
    assert (trace.status, trace.topic, trace.metadata, trace.outcomes) == ("queued", "life", {"app": "x"}, [])
    assert (trace.end_user_id, trace.project_id, trace.session_id) == (user.id, project.id, session.id)
    assert (trace.api_key_id, trace.finished_at, trace.created_at) == (api_key.key.id, None, row.received_at)
    assert trace.configuration == ConfigurationVersion.objects.get(project=project, is_active=True)
    assert (row.end_user_id, row.session_id, row.position) == (user.id, session.id, 0)
    assert (row.role, row.content, row.speaker, row.external_id) == ("user", KEPT, "Ana", "t1")
    assert (row.occurred_at, row.rejected_for, row.rejected_by) == (said, "", "")
    span = Span.objects.get(trace=trace)
    assert (span.stage, span.result, span.position, span.end_user_id) == (Stage.PRE_FILTER, "pass", 0, user.id)
    work = OutboxRow.objects.get()
    assert (work.kind, work.subject_id, work.state) == (WorkKind.RUN_PIPELINE, trace.id, WorkState.PENDING)
    assert (work.end_user_id, work.project_id, work.session_id) == (user.id, project.id, session.id)
    assert UserLease.objects.get(end_user_id=user.id).ready_at is not None


def test_what_the_rules_reject_owes_nothing(project: Project) -> None:
    accepted = accept(submission=submission(project, CHATTER))

    trace = Trace.objects.get()
    assert (accepted.status, trace.status) == (TraceStatus.REJECTED, "rejected")
    assert trace.finished_at == trace.created_at
    assert [line["reason"] for line in trace.outcomes] == ["thanks"]
    assert stored() == [(0, CHATTER, "thanks")]
    assert Turn.objects.get().rejected_by != ""
    assert Span.objects.get().result == "reject"
    assert not OutboxRow.objects.exists()
    assert not UserLease.objects.exists()


def test_one_turn_worth_a_look_is_enough(project: Project) -> None:
    accepted = accept(submission=submission(project, CHATTER, KEPT))

    assert accepted.status is TraceStatus.QUEUED
    assert stored() == [(0, CHATTER, "thanks"), (1, KEPT, "")]
    assert Trace.objects.get().counts["rejected"] == {"thanks": 1}
    assert OutboxRow.objects.count() == 1


def test_later_turns_stand_behind_and_open_the_session_again(project: Project) -> None:
    first = accept(submission=submission(project, KEPT, "I work as a nurse."))
    session = session_id(end_user_id=first.end_user_id, session_id="monday")
    end_session(project_id=project.id, end_user_id=first.end_user_id, session_id=session)
    assert Session.objects.get().ended_at is not None

    accept(submission=submission(project, "My sister is called Marta."))
    accept(submission=submission(project, KEPT, session_id="tuesday"))

    assert [position for position, _, _ in stored()] == [0, 1, 2]
    assert [position for position, _, _ in stored("tuesday")] == [0]
    monday = Session.objects.get(external_id="monday")
    assert (monday.turn_count, monday.ended_at) == (3, None)
    assert EndUser.objects.count() == UserLease.objects.count() == 1
    received = list(Turn.objects.filter(session=monday).order_by("position").values_list("received_at", flat=True))
    assert received == sorted(received)


def test_a_turn_that_is_sent_again_is_known_however_long_ago(project: Project) -> None:
    again = (NewTurn(role=Role.USER, content="I live in Porto.", external_id="t1"),)
    accept(submission=submission(project, turns=again))
    for number in range(MOST_REPEAT_WINDOW + 1):
        accept(submission=submission(project, f"My locker number is {number}."))

    accept(submission=submission(project, turns=again))

    assert stored()[-1] == (MOST_REPEAT_WINDOW + 2, "I live in Porto.", Reason.REPEATED_TURN)


@pytest.mark.parametrize("contents", [(KEPT,), (CHATTER,)])
def test_what_cannot_be_written_whole_leaves_nothing(
    project: Project, transactional_db: None, contents: tuple[str, ...]
) -> None:
    before = rows_by_table()

    with pytest.raises(DataError):
        accept(submission=submission(project, *contents, topic="x" * 65))

    assert rows_by_table() == before


@pytest.mark.parametrize("change", [{"revoked_at": timezone.now()}, {"expires_at": timezone.now()}])
def test_a_key_that_no_longer_holds_writes_nothing(
    project: Project, api_key: CreatedKey, change: dict[str, Any]
) -> None:
    ApiKey.objects.filter(id=api_key.key.id).update(**change)
    before = rows_by_table()

    with pytest.raises(KeyRefused):
        accept(submission=submission(project, KEPT, api_key_id=api_key.key.id))

    assert rows_by_table() == before


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("known", "place"), [([KEPT], 0), ([], 0), ([], 1)])
def test_turns_accepted_in_between_come_first_in_the_session_and_in_the_queue(
    project: Project, known: list[str], place: int
) -> None:
    """Before the session is locked; and where there is none to lock, before it is added."""
    for content in known:
        accept(submission=submission(project, content))
    accept(submission=submission(project, KEPT, session_id="tuesday"))  # the user is known, the session is not
    late = Aside(
        lambda: accept(submission=submission(project, "I work as a nurse.", "I have two cats.")), pause_before=place
    ).run()

    early = accept(submission=submission(project, "My sister is called Marta."))

    assert late.end().error is None
    contents = [content for _, content, _ in stored()]
    assert contents == [*known, "My sister is called Marta.", "I work as a nurse.", "I have two cats."]
    assert [position for position, _, _ in stored()] == [*range(len(contents))]
    queued = list(OutboxRow.objects.order_by("id").values_list("subject_id", flat=True))
    assert queued[-2:] == [early.trace_id, late.result.trace_id]
    traces = list(Trace.objects.order_by("created_at").values_list("id", flat=True))
    assert traces == queued


def test_new_rules_judge_the_next_request(project: Project) -> None:
    accept(submission=submission(project, KEPT))
    save_rule(project_id=project.id, rule=Rule(name="no_cats", reason=Reason.PATTERN, pattern="cats"))

    accepted = accept(submission=submission(project, "I have two cats."))

    assert Turn.objects.get(trace_id=accepted.trace_id).rejected_by == "no_cats"


@pytest.mark.django_db(transaction=True)
def test_what_arrives_at_once_stands_one_behind_the_other(project: Project) -> None:
    accept(submission=submission(project, KEPT))
    start, errors = threading.Barrier(6), list[Exception]()

    def send(caller: int) -> None:
        try:
            start.wait()
            for number in range(10):
                said = (f"I have {caller} cats and {number} dogs.", f"I am {caller} and {number}.")
                accept(submission=submission(project, *said))
        except Exception as error:  # noqa: BLE001  (the test's own thread tells it)
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=send, args=(caller,)) for caller in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert errors == []
    rows = list(Turn.objects.order_by("position").values_list("position", "trace_id", "received_at"))
    assert [position for position, _, _ in rows] == list(range(121))
    assert Session.objects.get().turn_count == 121
    together = [trace for trace, following in zip(rows[1::2], rows[2::2], strict=True) if trace[1] != following[1]]
    assert together == []
    assert [at for _, _, at in rows] == sorted(at for _, _, at in rows)
    assert [trace for _, trace, _ in rows[::2]] == list(
        OutboxRow.objects.order_by("id").values_list("subject_id", flat=True)
    )
