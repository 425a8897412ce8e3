"""The entities of an end user as a graph: the user in the centre, an edge where a memory links two of them."""

import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from uuid import UUID

from apps.console.labels import label
from apps.memories.models import Entity, Memory
from apps.pipeline.core.enums import Polarity

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
