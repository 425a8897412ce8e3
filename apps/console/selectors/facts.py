"""Facts of an end user over time: a lane for each slot whose value has changed, and a table of the others."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from apps.memories.models import Memory
from apps.pipeline.core.enums import Status, values_of
from apps.pipeline.core.type_traits import SLOT_TYPES

MOST_MEMORIES = 1_000  # the latest ones
MOST_LANES = 60
MOST_SINGLE = 200
_SHOWN = (Status.ACTIVE, Status.PENDING_REVIEW, Status.SUPERSEDED)
_ROW_HEIGHT = 10  # of a lane, in pixels

SlotKey = tuple[UUID | None, str, str]


@dataclass(frozen=True, slots=True)
class FactPeriod:
    """A value and the period in which it was valid: `start` and `width` in percent, `top` in pixels."""

    memory: Memory
    start: float
    width: float
    top: int


@dataclass(frozen=True, slots=True)
class FactLane:
    """The values of a slot over time, earliest first; periods that overlap lie in rows of their own."""

    subject: str
    predicate: str
    periods: tuple[FactPeriod, ...]
    row_count: int

    @property
    def height(self) -> int:
        """Return the height of the lane in pixels."""
        return self.row_count * _ROW_HEIGHT


@dataclass(frozen=True, slots=True)
class FactsOverTime:
    """All facts: changed slots on one scale that begins at `begins`, and those with a single value."""

    lanes: tuple[FactLane, ...]
    single: tuple[Memory, ...]
    begins: datetime
    is_cut: bool  # there are more than could be shown


def facts_over_time(*, end_user_id: UUID, now: datetime) -> FactsOverTime:
    """Return the facts of a user by slot, the one changed last first (one query)."""
    rows = Memory.objects.for_end_user(end_user_id).filter(status__in=_SHOWN, type__in=values_of(SLOT_TYPES))
    found = list(rows.exclude(predicate="").to_show().order_by("-valid_from", "-id")[: MOST_MEMORIES + 1])
    slots = _by_slot(found[:MOST_MEMORIES])
    changed = [each for each in slots if len(each) > 1]
    changed.sort(key=lambda values: max(each.valid_from for each in values), reverse=True)
    single = [each[0] for each in slots if len(each) == 1]
    begins = min((each[0].valid_from for each in changed), default=now)
    return FactsOverTime(
        lanes=tuple(_lane(each, begins, now) for each in changed[:MOST_LANES]),
        single=tuple(sorted(single, key=_place)[:MOST_SINGLE]),
        begins=begins,
        is_cut=len(found) > MOST_MEMORIES or len(changed) > MOST_LANES or len(single) > MOST_SINGLE,
    )


def _by_slot(memories: Sequence[Memory]) -> list[list[Memory]]:
    """Return the values of each slot, earliest first; a value that was replaced is in the slot of the one after it."""
    slots: defaultdict[SlotKey, list[Memory]] = defaultdict(list)
    keys: dict[UUID | None, SlotKey] = {}
    for memory in memories:
        keys[memory.pk] = keys.get(memory.superseded_by_id) or _slot_of(memory)
        slots[keys[memory.pk]].insert(0, memory)
    return list(slots.values())


def _slot_of(memory: Memory) -> SlotKey:
    """Return what holds one value at a time: for a predicate with many values, each value by itself."""
    return memory.subject_id, memory.predicate, "" if memory.stateful else memory.object_text.casefold()


def _place(memory: Memory) -> tuple[bool, str, str, str]:
    """Return where a single value is listed: those about the user first, then by name."""
    is_user = memory.subject is not None and memory.subject.is_user
    return not is_user, memory.subject.name if memory.subject else "", memory.predicate, memory.object_text


def _lane(values: Sequence[Memory], begins: datetime, now: datetime) -> FactLane:
    ends: list[float] = []  # of the last period of each row, in percent
    periods = []
    for memory in values:
        start, width = _period(memory, begins, now)
        row = next((row for row, end in enumerate(ends) if end <= start), len(ends))
        ends[row : row + 1] = [start + width]
        periods.append(FactPeriod(memory, round(start, 2), round(width, 2), top=row * _ROW_HEIGHT))
    subject, first = values[0].subject, values[0]
    return FactLane(subject.name if subject else "", first.predicate, tuple(periods), len(ends))


def _period(memory: Memory, begins: datetime, now: datetime) -> tuple[float, float]:
    """Return start and width in percent; every period is wide enough to be seen."""
    scale = max((now - begins).total_seconds(), 1.0)
    until = min(memory.valid_until or now, now)
    start = min(max((memory.valid_from - begins).total_seconds() / scale * 100, 0.0), 99.0)
    width = (until - memory.valid_from).total_seconds() / scale * 100
    return start, min(max(width, 1.0), 100.0 - start)
