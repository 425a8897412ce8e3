"""With the session cache a process writes the same as if it read the state for each request."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import pytest
from cachetools import LRUCache
from django.db import connection, transaction
from hypothesis import example, given, settings
from hypothesis import strategies as st

from apps.intake import session_cache
from apps.intake.accept import Submission, accept
from apps.intake.intake_precondition import KeyRefused
from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import Reason, Role
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.policy import MOST_REPEAT_WINDOW, Rule
from apps.pipeline.core.turn import NewTurn
from apps.projects.api_keys import CreatedKey, revoke_key
from apps.tenants.models import Project
from apps.traces.models import Session, Trace, Turn
from apps.tuning.rules import save_rule
from tests.api.counting import rows_by_table
from tests.soak import few

pytestmark = pytest.mark.django_db
KEPT = "I live in Lisbon."


@pytest.fixture(autouse=True)
def _nothing_is_recalled() -> None:
    session_cache.forget()


def said(project: Project, *turns: NewTurn, session: str = "monday", user: str = "ana") -> Submission:
    return Submission(project.id, None, user, session, turns)


def by_user(content: str, turn_id: str = "") -> NewTurn:
    return NewTurn(role=Role.USER, content=content, external_id=turn_id)


@dataclass
class Process:
    """The cache of another process."""

    sessions: dict[UUID, Any]
    configurations: dict[UUID, UUID]

    @contextmanager
    def acting(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(session_cache, "_sessions", self.sessions)
            patch.setattr(session_cache, "_configurations", self.configurations)
            yield


@dataclass(frozen=True)
class Sent:
    process: int
    session: str
    turns: tuple[NewTurn, ...]
    is_undone: bool = False


CONTENTS = (KEPT, "Do you live in Porto?", "yes", "2", "thanks a lot!", "I have two cats.", "how about monday")
TURNS = st.builds(
    NewTurn,
    role=st.sampled_from([Role.USER, Role.ASSISTANT]),
    content=st.sampled_from(CONTENTS),
    external_id=st.sampled_from(["", "", "t1", "t2"]),
)
SENT = st.builds(
    Sent,
    process=st.integers(0, 1),
    session=st.sampled_from(["monday", "tuesday"]),
    turns=st.lists(TURNS, min_size=1, max_size=4, unique_by=lambda turn: turn.external_id or id(turn)).map(tuple),
    is_undone=st.sampled_from([False, False, False, True]),
)
LONG_AGO = [Sent(0, "monday", (by_user("I have two cats.", "t1"),))]
LONG_AGO += [Sent(0, "monday", (by_user(KEPT), NewTurn(role=Role.ASSISTANT, content="yes")))] * MOST_REPEAT_WINDOW


@settings(max_examples=few())
@given(requests=st.lists(SENT, max_size=14))
@example(requests=[*LONG_AGO, Sent(0, "monday", (by_user("I have two cats.", "t1"),))])
@example(requests=[*LONG_AGO, Sent(1, "monday", (by_user(KEPT),)), Sent(0, "monday", (by_user("yes"),))])
def test_a_cached_session_is_written_like_one_that_was_read(project: Project, requests: list[Sent]) -> None:
    recalling, looking = str(new_id()), str(new_id())
    processes = [Process({}, {}), Process({}, {})]

    for sent in requests:
        given_turns = said(project, *sent.turns, session=sent.session)
        with processes[sent.process].acting():
            _accept(replace(given_turns, user_id=recalling), is_undone=sent.is_undone)
        with Process({}, {}).acting():
            _accept(replace(given_turns, user_id=looking), is_undone=sent.is_undone)

    one, other = (Trace.objects.filter(end_user__external_id=user) for user in (recalling, looking))
    assert [_of(trace) for trace in one.order_by("id")] == [_of(trace) for trace in other.order_by("id")]
    counts = (
        Session.objects.filter(end_user__external_id=user)
        .order_by("external_id")
        .values_list("external_id", "turn_count")
        for user in (recalling, looking)
    )
    assert list(next(counts)) == list(next(counts))


def _accept(submission: Submission, *, is_undone: bool) -> None:
    with transaction.atomic():
        accept(submission=submission)
        transaction.set_rollback(is_undone)


def _of(trace: Trace) -> tuple[Any, ...]:
    turns = trace.turns.order_by("position").values_list("position", "role", "content", "external_id", "rejected_for")
    return trace.status, trace.session.external_id, trace.counts, list(turns)


def test_a_revoked_key_is_refused_at_once(project: Project, api_key: CreatedKey) -> None:
    given_turns = replace(said(project, by_user(KEPT)), api_key_id=api_key.key.id)
    accept(submission=given_turns)
    revoke_key(project_id=project.id, key_id=api_key.key.id)
    before = rows_by_table()

    with pytest.raises(KeyRefused):
        accept(submission=given_turns)

    assert rows_by_table() == before


def test_new_rules_judge_the_next_request(project: Project) -> None:
    accept(submission=said(project, by_user(KEPT)))
    save_rule(project_id=project.id, rule=Rule(name="no_cats", reason=Reason.PATTERN, pattern="cats"))

    accepted = accept(submission=said(project, by_user("I have two cats.")))

    assert Turn.objects.get(trace_id=accepted.trace_id).rejected_by == "no_cats"


def test_few_sessions_and_short_ones_are_remembered(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_cache, "_sessions", LRUCache(maxsize=2))
    for name in ("monday", "tuesday", "wednesday"):
        accept(submission=said(project, by_user(KEPT), session=name))
    long = (by_user(f"I have {number} dogs. " * 1_000) for number in range(6))
    accept(submission=said(project, *long, session="long"))

    names = Session.objects.filter(id__in=session_cache._sessions).values_list("external_id", flat=True)

    assert set(names) == {"tuesday", "wednesday"}


@pytest.mark.django_db(transaction=True)
def test_what_arrives_at_once_stands_one_behind_the_other(project: Project) -> None:
    accept(submission=said(project, by_user(KEPT)))
    start, errors = threading.Barrier(6), list[Exception]()

    def send(caller: int) -> None:
        try:
            start.wait()
            for number in range(10):
                turns = (by_user(f"I have {caller} cats and {number} dogs."), by_user(f"I am {caller} and {number}."))
                accept(submission=said(project, *turns))
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
