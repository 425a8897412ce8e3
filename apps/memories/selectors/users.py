"""End users: facts over time and the graph of entities."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Case, Count, OuterRef, QuerySet, Subquery, Value, When
from django.db.models.functions import Coalesce

from apps.console.labels import label
from apps.memories.models import Entity, Memory
from apps.memories.querysets import EntityQuerySet
from apps.pipeline.core.enums import LIVE_STATUSES, Polarity, Status, values_of
from apps.pipeline.core.type_traits import SLOT_TYPES
from apps.tenants.models import EndUser

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


@dataclass(frozen=True, slots=True)
class Edge:
    """A line between two nodes; `weight` is its width, `label` how the first is related to the second."""

    start: Node
    end: Node
    weight: float
    label: str

    @property
    def label_x(self) -> float:
        """Return where the label is: nearer to the end, since many lines start at the centre."""
        return round(self.start.x + (self.end.x - self.start.x) * LABEL_AT, 1)

    @property
    def label_y(self) -> float:
        """Return the height of the label."""
        return round(self.start.y + (self.end.y - self.start.y) * LABEL_AT, 1)


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes and edges to draw."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


def entity_graph(*, end_user_id: UUID) -> Graph:
    """Return the most mentioned entities and the relations between them in live memories (two queries)."""
    rows = Entity.objects.standing().filter(end_user_id=end_user_id)
    entities = list(rows.order_by("-is_user", "-mention_count", "name")[:MAX_NODES])
    nodes = {entity.pk: _placed(entity, index, len(entities)) for index, entity in enumerate(entities)}
    live = Memory.objects.for_end_user(end_user_id).live().filter(subject__in=list(nodes), object__has_key="entity")
    said = live.values_list("subject_id", "object__entity", "predicate", "polarity")[:MAX_MEMORIES]
    return Graph(nodes=tuple(nodes.values()), edges=tuple(_edges(nodes, list(said))))


def _placed(entity: Entity, index: int, count: int) -> Node:
    size = 9.0 + min(math.sqrt(entity.mention_count), 6.0) * 1.5
    if index == 0:
        return Node(entity, CENTRE, CENTRE, size + 6, "middle")
    angle = 2 * math.pi * (index - 1) / max(count - 1, 1) - math.pi / 2
    x, y = CENTRE + RADIUS * math.cos(angle), CENTRE + RADIUS * math.sin(angle)
    anchor = "middle" if abs(x - CENTRE) < RADIUS / 4 else "start" if x > CENTRE else "end"
    return Node(entity, round(x, 1), round(y, 1), size, anchor)


def _edges(nodes: dict[UUID, Node], said: list[tuple[UUID, str, str, str]]) -> list[Edge]:
    lines: Counter[tuple[UUID, UUID]] = Counter()
    labels: defaultdict[tuple[UUID, UUID], dict[str, None]] = defaultdict(dict)
    ids = {entity.entity.shown_id: identifier for identifier, entity in nodes.items()}
    for subject, shown, predicate, polarity in said:
        other = ids.get(shown)
        if other is not None and other != subject:
            lines[(subject, other)] += 1
            negation = "not " if polarity == Polarity.NEGATIVE else ""
            labels[subject, other][negation + label(predicate)] = None
    return [
        Edge(nodes[one], nodes[other], min(1.0 + count, 5.0), ", ".join(labels[one, other]))
        for (one, other), count in lines.items()
    ]


def end_users(*, project_id: UUID, words: str = "") -> QuerySet[EndUser]:
    """Return the end users of a project that were not erased, newest first, annotated with `live_memories`."""
    live = Memory.objects.filter(end_user=OuterRef("pk"), status__in=values_of(LIVE_STATUSES))
    counted = live.order_by().values("end_user").annotate(rows=Count("pk")).values("rows")
    rows = EndUser.objects.for_project(project_id).present()
    if words:
        rows = rows.filter(external_id__icontains=words)
    return rows.annotate(live_memories=Coalesce(Subquery(counted), 0)).order_by("-created_at", "id")


def count_by_status(*, end_user_id: UUID) -> dict[str, int]:
    """Count the memories of a user by status."""
    counted = Memory.objects.for_end_user(end_user_id).order_by().values_list("status").annotate(rows=Count("id"))
    return dict(counted)


def merge_candidates(entity: Entity) -> EntityQuerySet:
    """Return the other entities of the same end user: same type first, then most mentioned."""
    rows = Entity.objects.standing().filter(end_user=entity.end_user_id).exclude(pk=entity.pk)
    type_rank = Case(When(type=entity.type, then=Value(0)), default=Value(1))
    return rows.order_by(type_rank, "-mention_count", "id")
