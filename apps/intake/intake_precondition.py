"""The precondition of intake: the API key, configuration version and last turns from which a request was judged.

The transaction that records a request reads them first, and locks what must not change until it is committed.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Exists, OuterRef, Subquery, Value
from django.db.models.functions import Now

from apps.common.errors import Conflict, ProjectArchived, Refused
from apps.pipeline.core.draft import Request
from apps.pipeline.core.policy import MOST_REPEAT_WINDOW
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.prefilter.conversation import EARLIER_TURN_CHARACTERS
from apps.tenants.keys import usable_keys
from apps.tenants.models import EndUser, Project
from apps.traces.models import ConfigurationVersion, Session, Turn


class KeyRefused(Refused):
    """The API key of the request was revoked or has expired."""


class UserErasing(Conflict):
    """The end user of the request is being erased."""


@dataclass(frozen=True, slots=True)
class IntakeState:
    """The state from which a request is judged."""

    configuration_id: UUID
    turn_count: int = 0  # of the session
    last_turn_at: datetime | None = None  # None for a new session; unique per accepted request of a session
    # The earlier turns that the rules need: the last few, and any with one of the request's turn ids.
    earlier_turns: tuple[SourceTurn, ...] = ()


@dataclass(frozen=True, slots=True)
class LockedSession:
    """The state of a session that is locked until the transaction ends, and the time of the turns to be added to it.

    The time is the database's, and later than that of all turns before. `is_user_known` is false for a new end user,
    and `was_user_erased` set for one who returns.
    """

    state: IntakeState
    at: datetime
    is_user_known: bool
    was_user_erased: bool


_TICK = timedelta(microseconds=1)  # the resolution of the database's times


def lock_session(*, expected: IntakeState, request: Request) -> LockedSession:
    """Lock the end user and the session of a request, in this order; return the state of the session.

    It is `expected` itself where that is the current one. Raises KeyRefused, ProjectArchived and UserErasing.
    """
    origin = request.origin
    user = EndUser.objects.select_for_update(no_key=True).filter(id=origin.end_user_id).first()
    if user is not None and user.erasing_since is not None:
        raise UserErasing("the end user is being erased; try again when that is finished")
    sessions = Session.objects.select_for_update(no_key=True)
    session = sessions.filter(end_user_id=origin.end_user_id, id=origin.session_id).first()
    turn_count, last_turn_at = (session.turn_count, session.last_turn_at) if session else (0, None)

    # By a statement that begins after the locks are held, so that its time is later than that of all turns before.
    active = ConfigurationVersion.objects.filter(project_id=OuterRef("id"), is_active=True).values("id")
    key_holds = Exists(usable_keys().filter(id=origin.api_key_id)) if origin.api_key_id else Value(True)
    project = Project.objects.annotate(version=Subquery(active), key_holds=key_holds, now=Now())
    archived_at, version, holds, now = project.values_list("archived_at", "version", "key_holds", "now").get(
        id=origin.project_id
    )
    if not holds:
        raise KeyRefused("the key was revoked or has expired")
    if archived_at is not None:
        raise ProjectArchived

    turns = Turn.objects.filter(end_user_id=origin.end_user_id, session_id=origin.session_id, withdrawn=False)
    turn_ids = {turn.external_id for turn in request.turns if turn.external_id}
    named = turns.filter(external_id__in=turn_ids)
    # An older turn with one of the request's turn ids is not among the last few that are cached.
    known_ids = sum(turn.external_id in turn_ids for turn in expected.earlier_turns)
    is_expected = (version, last_turn_at) == (expected.configuration_id, expected.last_turn_at)
    state = expected
    if not is_expected or (turn_ids and named.count() != known_ids):
        rows = {row.position: row for row in (*turns.order_by("-position")[:MOST_REPEAT_WINDOW], *named)}
        earlier = tuple(_beginning(rows[position].as_source()) for position in sorted(rows))
        state = IntakeState(version, turn_count=turn_count, last_turn_at=last_turn_at, earlier_turns=earlier)
    at = now if last_turn_at is None else max(now, last_turn_at + _TICK)
    was_user_erased = user is not None and user.erased_at is not None
    return LockedSession(state, at, is_user_known=user is not None, was_user_erased=was_user_erased)


def _beginning(turn: SourceTurn) -> SourceTurn:
    """Return a turn with as much of its text as the rules compare."""
    return replace(turn, content=turn.content[:EARLIER_TURN_CHARACTERS])
