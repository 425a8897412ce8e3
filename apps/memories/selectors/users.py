"""End users: facts over time and the graph of entities."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from apps.console.labels import label
from apps.memories.models import Entity, Memory
from apps.pipeline.core.enums import Polarity, Status, values_of
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


def facts_over_time(*, end_user_id: UUID, now: datetime) -> dict[str, Any]:
    """Return the facts of a user by slot, the one changed last first (one query).

    Changed slots have `lanes` on one scale that `begins` at a time; `is_cut` tells that more could not be shown.
    """
    rows = Memory.objects.for_end_user(end_user_id).filter(status__in=_SHOWN, type__in=values_of(SLOT_TYPES))
    found = list(rows.exclude(predicate="").to_show().order_by("-valid_from", "-id")[: MOST_MEMORIES + 1])
    slots = _by_slot(found[:MOST_MEMORIES])
    changed = [each for each in slots if len(each) > 1]
    changed.sort(key=lambda values: max(each.valid_from for each in values), reverse=True)
    single = [each[0] for each in slots if len(each) == 1]
    begins = min((each[0].valid_from for each in changed), default=now)
    return {
        "lanes": [_lane(each, begins, now) for each in changed[:MOST_LANES]],
        "single": sorted(single, key=_place)[:MOST_SINGLE],
        "begins": begins,
        "is_cut": len(found) > MOST_MEMORIES or len(changed) > MOST_LANES or len(single) > MOST_SINGLE,
    }


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


def _lane(values: Sequence[Memory], begins: datetime, now: datetime) -> dict[str, Any]:
    """Return the values of a slot over time; periods that overlap lie in rows of their own."""
    ends: list[float] = []  # of the last period of each row, in percent
    periods = []
    for memory in values:
        start, width = _period(memory, begins, now)
        row = next((row for row, end in enumerate(ends) if end <= start), len(ends))
        ends[row : row + 1] = [start + width]
        periods.append(FactPeriod(memory, round(start, 2), round(width, 2), top=row * _ROW_HEIGHT))
    first = values[0]
    return {
        "subject": first.subject,
        "predicate": first.predicate,
        "periods": periods,
        "height": len(ends) * _ROW_HEIGHT,  # in pixels
    }


def _period(memory: Memory, begins: datetime, now: datetime) -> tuple[float, float]:
    """Return start and width in percent; every period is wide enough to be seen."""
    scale = max((now - begins).total_seconds(), 1.0)
    until = min(memory.valid_until or now, now)
    start = min(max((memory.valid_from - begins).total_seconds() / scale * 100, 0.0), 99.0)
    width = (until - memory.valid_from).total_seconds() / scale * 100
    return start, min(max(width, 1.0), 100.0 - start)


MAX_NODES = 24
MAX_MEMORIES = 2_000
LABEL_AT = 0.58  # of the way from the start of a line to its end
CENTRE, RADIUS = 300.0, 215.0  # in a view box of 600 by 600


@dataclass(frozen=True, slots=True)
class Node:
    """An entity and its position."""

    entity: Entity
    x: float
    y: float
    size: float
    anchor: str  # text-anchor of its name: start, middle or end


def entity_graph(*, end_user_id: UUID) -> dict[str, Any]:
    """Return the most mentioned entities, and as edges the relations between them in live memories (two queries)."""
    rows = Entity.objects.standing().filter(end_user_id=end_user_id)
    entities = list(rows.order_by("-is_user", "-mention_count", "name")[:MAX_NODES])
    nodes = {entity.pk: _placed(entity, index, len(entities)) for index, entity in enumerate(entities)}
    live = Memory.objects.for_end_user(end_user_id).live().filter(subject__in=list(nodes), object__has_key="entity")
    said = live.values_list("subject_id", "object__entity", "predicate", "polarity")[:MAX_MEMORIES]
    return {"nodes": list(nodes.values()), "edges": _edges(nodes, said)}


def _placed(entity: Entity, index: int, count: int) -> Node:
    size = 9.0 + min(math.sqrt(entity.mention_count), 6.0) * 1.5
    if index == 0:
        return Node(entity, CENTRE, CENTRE, size + 6, "middle")
    angle = 2 * math.pi * (index - 1) / max(count - 1, 1) - math.pi / 2
    x, y = CENTRE + RADIUS * math.cos(angle), CENTRE + RADIUS * math.sin(angle)
    anchor = "middle" if abs(x - CENTRE) < RADIUS / 4 else "start" if x > CENTRE else "end"
    return Node(entity, round(x, 1), round(y, 1), size, anchor)


def _edges(nodes: dict[UUID, Node], said: Iterable[tuple[UUID, str, str, str]]) -> list[dict[str, Any]]:
    """Return the lines between nodes: how the first is related to the second; more memories draw a wider line."""
    labels: defaultdict[tuple[UUID, UUID], list[str]] = defaultdict(list)
    ids = {node.entity.shown_id: identifier for identifier, node in nodes.items()}
    for subject, shown, predicate, polarity in said:
        other = ids.get(shown)
        if other is not None and other != subject:
            negation = "not " if polarity == Polarity.NEGATIVE else ""
            labels[subject, other].append(negation + label(predicate))
    return [_edge(nodes[one], nodes[other], found) for (one, other), found in labels.items()]


def _edge(start: Node, end: Node, labels: Sequence[str]) -> dict[str, Any]:
    return {
        "start": start,
        "end": end,
        "weight": min(1.0 + len(labels), 5.0),
        "label": ", ".join(dict.fromkeys(labels)),
        # Nearer to the end, since many lines start at the centre.
        "label_x": round(start.x + (end.x - start.x) * LABEL_AT, 1),
        "label_y": round(start.y + (end.y - start.y) * LABEL_AT, 1),
    }
