"""What a request finds: whether its key still holds, the configuration, and the last turns of its session.

Parts of the statement that writes a request down (see accept.py): where all is as the request was judged by, it goes
on; else it writes nothing, and tells what is there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from apps.actions.errors import Refused
from apps.pipeline.core.draft import Request
from apps.pipeline.core.policy import MOST_REPEAT_WINDOW
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.prefilter.conversation import EARLIER_TURN_CHARACTERS
from apps.tenants.keys import HOLDS
from apps.traces.turn_codec import select_turn


class KeyRefused(Refused):
    """The key that the request came by was revoked or has expired."""


@dataclass(frozen=True, slots=True)
class IntakeState:
    """What a request is judged by."""

    configuration_id: UUID
    turn_count: int = 0  # of the session
    last_turn_at: datetime | None = None  # none where the session is new; no two arrivals have the same
    # What the rules look back on: the last few turns, and any that was sent under one of the request's ids.
    earlier_turns: tuple[SourceTurn, ...] = ()


# `agreed` has a row where the request may be written down. A turn that was sent long ago under one of the request's
# ids is not remembered with the last few: so those are counted.
AGREED = f"""
named as (
    select id from traces_turn where end_user_id = %(end_user)s and session_id = %(session)s
        and external_id <> '' and external_id = any(%(turn_ids)s)
), looked as (
    select session.last_turn_at, coalesce(session.turn_count, 0) as turn_count,
        (select id from traces_configurationversion where project_id = %(project)s and is_active) as configuration_id,
        %(api_key)s::uuid is null
            or exists (select from tenants_apikey where id = %(api_key)s and {HOLDS}) as key_holds
    from (select) request left join traces_session session on session.id = %(session)s
), agreed as (
    select last_turn_at is null as is_new from looked
    where key_holds and (%(as_it_is)s or (
        configuration_id = %(configuration)s and last_turn_at is not distinct from %(last_turn_at)s
        and (select count(*) from named) = %(known_ids)s))
)
"""  # noqa: S608  (only a constant of another module)
# The `offset` holds the planner to one look a turn: knowing little of a young table, it would read all of it.
FOUND = f"""
select key_holds, placed.shift, placed.at, configuration_id, turn_count, last_turn_at,
    case when placed.at is null then (select json_agg(earlier order by position)::text from (
        (select id from traces_turn where end_user_id = %(end_user)s and session_id = %(session)s
         order by position desc limit %(window)s)
        union table named
    ) kept, lateral (
        select {select_turn(content="left(content, %(most)s) as content")}
        from traces_turn where id = kept.id offset 0
    ) earlier) end
from looked left join placed on true
"""  # noqa: S608  (only names of columns)


def expected_state(found: IntakeState, *, request: Request, as_it_is: bool) -> dict[str, Any]:
    """Return what AGREED and FOUND are filled with, beside what the rows of the request are filled with.

    With `as_it_is` the request is written down whatever it finds but a bad key.
    """
    turn_ids = {turn.external_id for turn in request.turns if turn.external_id}
    return {
        "as_it_is": as_it_is,
        "last_turn_at": found.last_turn_at,
        "turn_ids": list(turn_ids),
        "known_ids": sum(turn.external_id in turn_ids for turn in found.earlier_turns),
        "window": MOST_REPEAT_WINDOW,
        "most": EARLIER_TURN_CHARACTERS,
    }


def intake_state(row: Sequence[Any]) -> IntakeState:
    """Return what the statement found where it wrote nothing. Raises KeyRefused."""
    key_holds, _, _, configuration_id, turn_count, last_turn_at, earlier = row
    if not key_holds:
        raise KeyRefused("the key was revoked or has expired")
    turns = msgspec.json.decode(earlier or "[]", type=tuple[SourceTurn, ...])
    return IntakeState(configuration_id, turn_count=turn_count, last_turn_at=last_turn_at, earlier_turns=turns)
