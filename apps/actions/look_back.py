"""Look at what a request finds: whether its key still holds, the configuration, and the last turns of its session."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import msgspec
from django.db import connection

from apps.actions.errors import Refused
from apps.pipeline.draft import Origin, SourceTurn
from apps.pipeline.policy import MOST_REPEAT_WINDOW
from apps.tenants.keys import HOLDS

LOOK_BACK_CHARACTERS = 4_000  # of an earlier turn; a repeat of a longer one is not noticed


class KeyRefused(Refused):
    """The key that the request came by was revoked or has expired."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a request finds; `now` is the database's clock."""

    now: datetime
    configuration_id: UUID
    turn_count: int  # of the session
    # What the rules look back on: the last few turns, and any that was sent under one of the request's ids.
    earlier_turns: tuple[SourceTurn, ...]


_LOOK = f"""
select clock_timestamp(),
    %(api_key)s::uuid is null or exists (select from tenants_apikey where id = %(api_key)s and {HOLDS}),
    (select id from traces_configurationversion where project_id = %(project)s and is_active),
    coalesce((select turn_count from traces_session where id = %(session)s), 0),
    (select json_agg(earlier order by position)::text from (
        (select id, position, role, left(content, %(most)s) as content, received_at, speaker, occurred_at, external_id
         from traces_turn where end_user_id = %(end_user)s and session_id = %(session)s
         order by position desc limit %(window)s)
        union
        select id, position, role, left(content, %(most)s) as content, received_at, speaker, occurred_at, external_id
        from traces_turn where end_user_id = %(end_user)s and session_id = %(session)s
            and external_id <> '' and external_id = any(%(turn_ids)s)
    ) earlier)
"""  # noqa: S608  (only a constant of another module)


def look_back(*, origin: Origin, turn_ids: Sequence[str]) -> Found:
    """Return what is there. Raises KeyRefused.

    Of requests that arrive at once for one session, the later ones may not see the turns of the first among the
    earlier ones: a repeated turn is then left for dedupe to find.
    """
    values = {
        "api_key": origin.api_key_id,
        "project": origin.project_id,
        "end_user": origin.end_user_id,
        "session": origin.session_id,
        "window": MOST_REPEAT_WINDOW,
        "most": LOOK_BACK_CHARACTERS,
        "turn_ids": list(turn_ids),
    }
    with connection.cursor() as cursor:
        cursor.execute(_LOOK, values)
        now, holds, configuration, turn_count, earlier = cursor.fetchone()
    if not holds:
        raise KeyRefused("the key was revoked or has expired")
    turns = msgspec.json.decode(earlier or "[]", type=tuple[SourceTurn, ...])
    return Found(now=now, configuration_id=configuration, turn_count=turn_count, earlier_turns=turns)
