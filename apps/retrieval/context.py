"""The context block of one end user: which memories it has, in the order of their value.

What the query needs comes first, then rules, then affirmed health, then upcoming events and other facts. Denials about
health and plans whose day has passed are in a block only if the query asks for them.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import chain

import numpy as np

from apps.memories.models import Entity, Memory
from apps.memories.models.memory import is_past_plan
from apps.memories.services.waiting_messages import WaitingMessage
from apps.pipeline.core.enums import CONSTRAINT, NOTE, MemoryType, Polarity, Stakes
from apps.pipeline.core.predicates import HEALTH_PREDICATES
from apps.providers import wordllama
from apps.retrieval.block import BlockSection, ContextBlock, CountTokens, SectionPart, render
from apps.retrieval.lines import Wording
from apps.retrieval.query import shown_statuses
from apps.retrieval.search import Ranking, open_contradictions

MAX_HITS = 30
MAX_RULES = 100
MAX_OTHERS = 150
MAX_UPCOMING = 5
# So many of each kind come before the others, so that no kind keeps the others out of a small block.
RELEVANT_FIRST, RULES_FIRST, HEALTH_FIRST, WEAK_FIRST = 8, 5, 4, 3
_HEALTH = HEALTH_PREDICATES | {"diet"}
_NAMES = frozenset({"name", "has_name"})
_COLUMNS = (  # of which a block is made, and with which pages show its lines
    *("end_user_id", "type", "status", "predicate", "object_text", "content", "polarity", "tags", "event_at"),
    *("event_precision", "said_at", "valid_from", "valid_until", "confidence", "confidence_parts"),
    *("source_confidence", "recurrence", "evidence", "trace_id"),
)
_NAMELESS = "User"


def build_block(
    ranking: Ranking,
    *,
    token_budget: int,
    quotes: Sequence[WaitingMessage] = (),
    count_tokens: CountTokens = wordllama.count_tokens,
) -> ContextBlock:
    """Read what is known and render it within the budget; `quotes` are messages that wait to be processed.

    The block of an unknown end user is empty; that of a query without text has the most important memories.
    """
    chosen = _chosen(ranking)
    places = list(dict.fromkeys(place for kind in chosen.values() for place in kind))
    ids = ranking.ids(places)
    disputed = open_contradictions(ids, end_user_id=ranking.end_user_id)
    known = Memory.objects.for_end_user(ranking.end_user_id).filter(id__in=[*ids, *chain(*disputed.values())])
    found = {each.id: each for each in known.only(*_COLUMNS).order_by("-said_at", "id")}
    names = Entity.objects.filter(end_user_id=ranking.end_user_id, is_user=True).values_list("name", flat=True)
    name = names.first() or ""
    rows = {place: found[each] for place, each in zip(places, ids, strict=True) if each in found}
    in_heading = {row.id for row in rows.values() if row.predicate in _NAMES and row.object_text == name}
    parts = [
        (section, [row for row in part if section is BlockSection.RELEVANT or row.id not in in_heading])
        for section, part in _parts(chosen, rows, ranking.now)
    ]
    statuses, least = shown_statuses(ranking.query.stakes), ranking.policy.least_confidence[ranking.query.stakes]
    shown = [each for each in found.values() if each.status in statuses and each.confidence >= least]
    wording = Wording(
        now=ranking.now,
        user_name="" if name == _NAMELESS else name,
        sure=ranking.policy.least_confidence[Stakes.HIGH],
        disputes={
            one: [each for each in shown if each.id in others]
            for one, others in disputed.items()
            if not found.keys().isdisjoint(others)
        },
    )
    return render(parts, wording, token_budget=token_budget, count_tokens=count_tokens, quotes=quotes)


def _chosen(ranking: Ranking) -> dict[str, list[int]]:
    """Return the places of the memories that a block may have by kind, the best of each kind first."""
    memories, scores = ranking.memories, ranking.scores
    may_be, is_asked = memories.eligible, ranking.min_score >= 0
    ordered = ranking.best(limit=MAX_OTHERS, min_score=-1.0)
    tenths, said_at = np.round(memories.importance, 1), memories.said_at
    latest = ordered if is_asked else sorted(np.flatnonzero(may_be).tolist(), key=lambda place: -said_at[place])
    is_next = memories.are_events & (memories.event_at > ranking.now.timestamp()) & may_be
    upcoming = sorted(np.flatnonzero(is_next).tolist(), key=lambda place: memories.event_at[place])
    return {
        "relevant": ranking.best(limit=MAX_HITS) if is_asked else [],
        "weak": latest[:WEAK_FIRST] if is_asked else [],  # hits below the least score
        "rules": scores.best(limit=MAX_RULES, min_score=-1.0, eligible=may_be & memories.are_rules),
        "upcoming": upcoming[:MAX_UPCOMING],
        "others": sorted(latest, key=lambda place: -tenths[place])[:MAX_OTHERS],
    }


def _parts(chosen: Mapping[str, list[int]], rows: Mapping[int, Memory], now: datetime) -> list[SectionPart]:
    relevant, weak, rules, upcoming, others = (
        [rows[place] for place in places if place in rows] for places in chosen.values()
    )
    notes, relevant = _divided(relevant)
    # Denials about health, and plans whose day has passed, are only told if the query asks for them.
    denials = {each.id for each in others if each.predicate in _HEALTH and each.polarity == Polarity.NEGATIVE}
    told = [each for each in others if each.id not in denials and not is_past_plan(each, now=now)]
    other_notes, facts = _divided(told)
    health = [each for each in facts if each.predicate in _HEALTH]
    dated = [each for each in facts if each.type == MemoryType.EVENT]
    facts = [each for each in facts if each.type != MemoryType.EVENT]
    weak = [each for each in weak if each in told]
    return [
        (BlockSection.RELEVANT, relevant[:RELEVANT_FIRST]),
        (BlockSection.QUOTES, _newest_first(notes[:RELEVANT_FIRST])),
        *_rules(rules[:RULES_FIRST]),
        (BlockSection.HEALTH, health[:HEALTH_FIRST]),
        (BlockSection.RELEVANT, relevant[RELEVANT_FIRST:]),
        (BlockSection.FACTS, _divided(weak)[1]),
        (BlockSection.UPCOMING, upcoming),
        *_rules(rules[RULES_FIRST:]),
        (BlockSection.HEALTH, health[HEALTH_FIRST:]),
        (BlockSection.FACTS, facts),
        (BlockSection.QUOTES, _newest_first(notes[RELEVANT_FIRST:])),
        (BlockSection.FACTS, _newest_first(dated)),
        (BlockSection.QUOTES, _newest_first(other_notes)),
    ]


def _rules(rows: Sequence[Memory]) -> list[SectionPart]:
    return [
        (BlockSection.CONSTRAINTS, [row for row in rows if CONSTRAINT in row.tags]),
        (BlockSection.CONVENTIONS, [row for row in rows if CONSTRAINT not in row.tags]),
    ]


def _divided(rows: Sequence[Memory]) -> tuple[list[Memory], list[Memory]]:
    """Divide memories into notes, which claim nothing, and the others."""
    return [row for row in rows if NOTE in row.tags], [row for row in rows if NOTE not in row.tags]


def _newest_first(rows: Iterable[Memory]) -> list[Memory]:
    return sorted(rows, key=lambda row: row.said_at, reverse=True)
