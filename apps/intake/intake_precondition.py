"""The precondition of intake: the API key, configuration version and last turns from which a request was judged.

These are parts of the statement that records a request (see accept.py). If the precondition holds, the statement writes
the request; otherwise it writes nothing and returns the actual state.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from apps.actions.errors import Conflict, ProjectArchived, Refused
from apps.pipeline.core.draft import Request
from apps.pipeline.core.policy import MOST_REPEAT_WINDOW
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.prefilter.conversation import EARLIER_TURN_CHARACTERS
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


# The CTE `agreed` has a row where the request may be recorded. An older turn with one of the request's turn ids is not
# among the last few that are cached, so such turns are compared by their number. The lock on the end user keeps an
# erasure from starting before the request is committed; see apps/tenants/end_users.py.
AGREED_CTES = f"""
named as (
    select id from traces_turn where end_user_id = %(end_user)s and session_id = %(session)s
        and external_id <> '' and external_id = any(%(turn_ids)s) and not withdrawn
), state as (
    select last_turn_at, turn_count,
        (select id from traces_configurationversion where project_id = %(project)s and is_active) as version_id,
        %(api_key)s::uuid is null
            or exists (select from tenants_apikey where id = %(api_key)s and {IS_USABLE}) as key_holds,
        (select erasing_since from tenants_enduser where id = %(end_user)s for key share) as erasing,
        (select archived_at from tenants_project where id = %(project)s)
    from (select) one left join traces_session on id = %(session)s
), agreed as (
    select last_turn_at is null as is_new from state
    where key_holds and erasing is null and archived_at is null and (%(always)s or (
        version_id = %(version)s and last_turn_at is not distinct from %(last_turn_at)s
        and (select count(*) from named) = %(known_ids)s))
)
"""  # noqa: S608  (only constants)
# "offset 0" makes the planner fetch each turn by its key; without statistics it would scan the whole table.
SELECT_STATE = f"""
select key_holds, shift, at, version_id, turn_count, last_turn_at,
    case when at is null then (select json_agg(earlier order by position)::text from (
        (select id from traces_turn where end_user_id = %(end_user)s and session_id = %(session)s and not withdrawn
         order by position desc limit %(window)s)
        union table named
    ) needed, lateral (
        select {select_turn(content="left(content, %(most)s) as content")}
        from traces_turn where id = needed.id offset 0
    ) earlier) end, erasing, archived_at
from state left join placed on true
"""  # noqa: S608  (only names of columns and constants)


def expected_state(state: IntakeState, *, request: Request, unconditional: bool) -> dict[str, Any]:
    """Return the query parameters of AGREED_CTES and SELECT_STATE, in addition to those of the recorded rows.

    With `unconditional` the request is recorded in any state, as long as its key is usable.
    """
    turn_ids = {turn.external_id for turn in request.turns if turn.external_id}
    return {
        "always": unconditional,
        "last_turn_at": state.last_turn_at,
        "turn_ids": list(turn_ids),
        "known_ids": sum(turn.external_id in turn_ids for turn in state.earlier_turns),
        "window": MOST_REPEAT_WINDOW,
        "most": EARLIER_TURN_CHARACTERS,
    }


def intake_state(row: Sequence[Any]) -> IntakeState:
    """Return the actual state from the row of a statement that wrote nothing.

    Raises KeyRefused, ProjectArchived and UserErasing.
    """
    key_holds, _, _, configuration_id, turn_count, last_turn_at, earlier, erasing_since, archived_at = row
    if not key_holds:
        raise KeyRefused("the key was revoked or has expired")
    if archived_at:
        raise ProjectArchived
    if erasing_since:
        raise UserErasing("the end user is being erased; try again when that is finished")
    turns = msgspec.json.decode(earlier or "[]", type=tuple[SourceTurn, ...])
    return IntakeState(configuration_id, turn_count=turn_count or 0, last_turn_at=last_turn_at, earlier_turns=turns)
