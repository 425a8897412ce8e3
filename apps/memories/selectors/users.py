"""End users: facts over time and the graph of entities."""

import math
from collections import defaultdict
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


def facts_over_time(*, end_user_id: UUID, now: datetime) -> dict[str, Any]:
    """Return the facts of a user by slot, the one changed last first (one query).

    Changed slots have `lanes` on one scale that `begins` at a time: of each period of a value `start` and `width` in
    percent, and `top` in pixels. `is_cut` tells that more could not be shown.
    """
    rows = Memory.objects.for_end_user(end_user_id).filter(status__in=_SHOWN, type__in=values_of(SLOT_TYPES))
    found = list(rows.exclude(predicate="").to_show().order_by("-valid_from", "-id")[: MOST_MEMORIES + 1])
    slots: defaultdict[SlotKey, list[Memory]] = defaultdict(list)  # the values of each, earliest first
    keys: dict[UUID | None, SlotKey] = {}
    for memory in found[:MOST_MEMORIES]:
        # Of a predicate with many values, each value is a slot by itself.
        own = memory.subject_id, memory.predicate, "" if memory.stateful else memory.object_text.casefold()
        # A value that was replaced is in the slot of the one after it.
        keys[memory.pk] = keys.get(memory.superseded_by_id) or own
        slots[keys[memory.pk]].insert(0, memory)
    changed = [each for each in slots.values() if len(each) > 1]
    changed.sort(key=lambda values: max(each.valid_from for each in values), reverse=True)
    single = [each[0] for each in slots.values() if len(each) == 1]
    begins = min((each[0].valid_from for each in changed), default=now)
    scale = max((now - begins).total_seconds(), 1.0)
    lanes: list[dict[str, Any]] = []
    for values in changed[:MOST_LANES]:
        # Of the last period of each row, in percent; periods that overlap lie in rows of their own.
        ends: list[float] = []
        periods = []
        for memory in values:
            start = min(max((memory.valid_from - begins).total_seconds() / scale * 100, 0.0), 99.0)
            until = min(memory.valid_until or now, now)
            width = (until - memory.valid_from).total_seconds() / scale * 100
            width = min(max(width, 1.0), 100.0 - start)  # wide enough to be seen
            row = next((row for row, end in enumerate(ends) if end <= start), len(ends))
            ends[row : row + 1] = [start + width]
            place = {"start": round(start, 2), "width": round(width, 2), "top": row * _ROW_HEIGHT}
            periods.append({"memory": memory, **place})
        height = len(ends) * _ROW_HEIGHT  # in pixels
        about = {"subject": values[0].subject, "predicate": values[0].predicate}
        lanes.append({**about, "periods": periods, "height": height})
    return {
        "lanes": lanes,
        "single": sorted(single, key=_place)[:MOST_SINGLE],
        "begins": begins,
        "is_cut": len(found) > MOST_MEMORIES or len(changed) > MOST_LANES or len(single) > MOST_SINGLE,
    }


def _place(memory: Memory) -> tuple[bool, str, str, str]:
    """Return where a single value is listed: those about the user first, then by name."""
    is_user = memory.subject is not None and memory.subject.is_user
    return not is_user, memory.subject.name if memory.subject else "", memory.predicate, memory.object_text


MAX_NODES = 24
MAX_MEMORIES = 2_000
LABEL_AT = 0.58  # of the way from the start of a line to its end
CENTRE, RADIUS = 300.0, 215.0  # in a view box of 600 by 600


def entity_graph(*, end_user_id: UUID) -> dict[str, Any]:
    """Return the most mentioned entities, and as edges the relations between them in live memories (two queries)."""
    rows = Entity.objects.standing().filter(end_user_id=end_user_id)
    entities = list(rows.order_by("-is_user", "-mention_count", "name")[:MAX_NODES])
    nodes: dict[UUID, dict[str, Any]] = {}
    for index, entity in enumerate(entities):
        size = 9.0 + min(math.sqrt(entity.mention_count), 6.0) * 1.5
        if index == 0:
            nodes[entity.pk] = {"entity": entity, "x": CENTRE, "y": CENTRE, "size": size + 6, "anchor": "middle"}
            continue
        angle = 2 * math.pi * (index - 1) / max(len(entities) - 1, 1) - math.pi / 2
        x, y = CENTRE + RADIUS * math.cos(angle), CENTRE + RADIUS * math.sin(angle)
        anchor = "middle" if abs(x - CENTRE) < RADIUS / 4 else "start" if x > CENTRE else "end"
        nodes[entity.pk] = {"entity": entity, "x": round(x, 1), "y": round(y, 1), "size": size, "anchor": anchor}
    live = Memory.objects.for_end_user(end_user_id).live().filter(subject__in=list(nodes), object__has_key="entity")
    said = live.values_list("subject_id", "object__entity", "predicate", "polarity")[:MAX_MEMORIES]
    ids = {entity.shown_id: entity.pk for entity in entities}
    labels: defaultdict[tuple[UUID, UUID], list[str]] = defaultdict(list)  # how the first is related to the second
    for subject, shown, predicate, polarity in said:
        other = ids.get(shown)
        if other is not None and other != subject:
            negation = "not " if polarity == Polarity.NEGATIVE else ""
            labels[subject, other].append(negation + label(predicate))
    edges: list[dict[str, Any]] = []
    for (subject, other), found in labels.items():
        start, end = nodes[subject], nodes[other]
        edges.append(
            {
                "start": start,
                "end": end,
                "weight": min(1.0 + len(found), 5.0),  # more memories draw a wider line
                "label": ", ".join(dict.fromkeys(found)),
                # Nearer to the end, since many lines start at the centre.
                "label_x": round(start["x"] + (end["x"] - start["x"]) * LABEL_AT, 1),
                "label_y": round(start["y"] + (end["y"] - start["y"]) * LABEL_AT, 1),
            }
        )
    return {"nodes": list(nodes.values()), "edges": edges}
