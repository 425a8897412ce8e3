"""The holders of slots of several end users at once, in one round trip."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

from apps.memories.codec import STORED_WIDTH, read_stored, select_stored
from apps.pipeline.core.ports import Slot
from apps.pipeline.core.statement import StoredMemory

# Each probe is numbered.
_HOLDERS_OF_SEVERAL = """
with wanted as (
    select slot.number, m.end_user_id, m.id
    from unnest(%(slot_numbers)s::int[], %(slot_users)s::uuid[], %(subjects)s::uuid[], %(predicates)s::text[])
        as slot(number, end_user_id, subject_id, predicate)
    join memories_memory m on m.end_user_id = slot.end_user_id and m.subject_id = slot.subject_id
        and m.predicate = slot.predicate
    union
    select * from unnest(%(id_numbers)s::int[], %(id_users)s::uuid[], %(ids)s::uuid[])
)
select_stored, wanted.number
from wanted
join unnest(%(private_to)s::text[]) with ordinality as asking(private_to, number) on asking.number = wanted.number + 1
join memories_memory m on m.end_user_id = wanted.end_user_id and m.id = wanted.id
    and m.status in ('active', 'pending_review') and m.private_to = asking.private_to
order by wanted.number, m.said_at, m.id
""".replace("select_stored", select_stored(owner="m.end_user_id"))


@dataclass(frozen=True, slots=True)
class HolderProbe:
    """Which memories of one end user are wanted: the holders of slots, and those with identifiers."""

    end_user_id: UUID
    slots: tuple[Slot, ...]
    ids: tuple[UUID, ...]
    private_to: str = ""


def holders_of_several(*, probes: Sequence[HolderProbe]) -> list[tuple[StoredMemory, ...]]:
    """Return for each probe what `holders` of the reader returns, for any number of end users in one round trip."""
    slots = [(number, probe.end_user_id, slot) for number, probe in enumerate(probes) for slot in set(probe.slots)]
    ids = [(number, probe.end_user_id, id) for number, probe in enumerate(probes) for id in set(probe.ids)]
    values: dict[str, Any] = {
        "slot_numbers": [number for number, _, _ in slots],
        "slot_users": [user for _, user, _ in slots],
        "subjects": [slot.subject_id for _, _, slot in slots],
        "predicates": [slot.predicate for _, _, slot in slots],
        "id_numbers": [number for number, _, _ in ids],
        "id_users": [user for _, user, _ in ids],
        "ids": [id for _, _, id in ids],
        "private_to": [probe.private_to for probe in probes],
    }
    found: list[list[StoredMemory]] = [[] for _ in probes]
    with connection.cursor() as cursor:
        cursor.execute(_HOLDERS_OF_SEVERAL, values)
        for row in cursor.fetchall():
            found[row[STORED_WIDTH]].append(read_stored(row))
    return [tuple(each) for each in found]
