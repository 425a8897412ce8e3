"""The precondition of intake: the API key, configuration version and last turns from which a request was judged.

The first statement of the transaction that records a request reads them, and locks what must not change until it is
committed. All statements name the end user, so that each runs on one shard of a distributed database.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec

from apps.actions.errors import Conflict, ProjectArchived, Refused
from apps.outbox.fetch import fetch
from apps.pipeline.core.draft import Request
from apps.pipeline.core.policy import MOST_REPEAT_WINDOW
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.prefilter.conversation import EARLIER_TURN_CHARACTERS
from apps.tenants.constant_statements import run_constant
from apps.tenants.keys import IS_USABLE
from apps.traces.turn_codec import select_turn


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

# The lock on the end user keeps an erasure from starting before the request is committed, and is taken before that of
# the session; see apps/tenants/end_users.py. An older turn with one of the request's turn ids is not among the last few
# that are cached, so such turns are compared by their number.
_LOCK_STATE = f"""
with owner as materialized (
    select known.* from (select) one left join (
        select true as is_known, erasing_since, erased_at from tenants_enduser where id = %(end_user)s for key share
    ) known on true
)
select (select id from traces_configurationversion where project_id = %(project)s and is_active),
    %(api_key)s::uuid is null or exists (select from tenants_apikey where id = %(api_key)s and {IS_USABLE}),
    (select archived_at from tenants_project where id = %(project)s),
    is_known, erasing_since, erased_at, turn_count, last_turn_at,
    (select count(*) from traces_turn where end_user_id = %(end_user)s and session_id = %(session)s
        and external_id <> '' and external_id = any(%(turn_ids)s) and not withdrawn),
    clock_timestamp()
from owner left join (
    select turn_count, last_turn_at from traces_session where end_user_id = %(end_user)s and id = %(session)s
    for no key update
) session on true
"""  # noqa: S608  (only constants)
# "offset 0" makes the planner fetch each turn by its key; without statistics it would scan the whole table.
_EARLIER_TURNS = f"""
select json_agg(earlier order by position)::text from (
    (select id from traces_turn where end_user_id = %(end_user)s and session_id = %(session)s and not withdrawn
     order by position desc limit %(window)s)
    union
    select id from traces_turn where end_user_id = %(end_user)s and session_id = %(session)s
        and external_id <> '' and external_id = any(%(turn_ids)s) and not withdrawn
) needed, lateral (
    select {select_turn(content="left(content, %(most)s) as content")}
    from traces_turn where end_user_id = %(end_user)s and id = needed.id offset 0
) earlier
"""  # noqa: S608  (only names of columns and constants)


def lock_session(*, expected: IntakeState, request: Request) -> LockedSession:
    """Lock the session of a request and return its state: `expected` itself where that is the current one.

    Raises KeyRefused, ProjectArchived and UserErasing.
    """
    values = _values(request)
    ((version, key_holds, archived_at, is_known, erasing_since, erased_at, turn_count, last_turn_at, named, now),) = (
        run_constant(_LOCK_STATE, values).fetchall()
    )
    if not key_holds:
        raise KeyRefused("the key was revoked or has expired")
    if archived_at:
        raise ProjectArchived
    if erasing_since:
        raise UserErasing("the end user is being erased; try again when that is finished")
    known_ids = sum(turn.external_id in values["turn_ids"] for turn in expected.earlier_turns)
    is_expected = (version, last_turn_at, named) == (expected.configuration_id, expected.last_turn_at, known_ids)
    state = expected if is_expected else _read_state(version, turn_count or 0, last_turn_at, values)
    at = now if last_turn_at is None else max(now, last_turn_at + _TICK)
    return LockedSession(state, at, is_user_known=bool(is_known), was_user_erased=erased_at is not None)


def _read_state(version: UUID, turn_count: int, last_turn_at: datetime | None, values: dict[str, Any]) -> IntakeState:
    """Read the earlier turns by a statement that begins after the session is locked, so that it sees all of them."""
    ((earlier,),) = fetch(_EARLIER_TURNS, values)
    turns = msgspec.json.decode(earlier or "[]", type=tuple[SourceTurn, ...])
    return IntakeState(version, turn_count=turn_count, last_turn_at=last_turn_at, earlier_turns=turns)


def _values(request: Request) -> dict[str, Any]:
    origin = request.origin
    return {
        "end_user": origin.end_user_id,
        "project": origin.project_id,
        "session": origin.session_id,
        "api_key": origin.api_key_id,
        "turn_ids": list({turn.external_id for turn in request.turns if turn.external_id}),
        "window": MOST_REPEAT_WINDOW,
        "most": EARLIER_TURN_CHARACTERS,
    }
