"""What a search considered, as rows of the recall page, and how two configuration versions differ in it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from uuid import UUID

from apps.memories.models import Memory
from apps.pipeline.core.policy import RankingWeights
from apps.retrieval.block import BlockLine
from apps.retrieval.explain import Exclusion, ScoredMemory
from apps.retrieval.ranking import PRIORS
from apps.search.services import ExplainedBlock, Recall
from apps.tenants.models import EndUser

MOST_OFFERED = 50  # users that the form offers
_REASONS: dict[Exclusion, str] = {
    Exclusion.OTHER_AGENT: "told by another agent, or private to one",
    Exclusion.STATUS: "its status is not shown at these stakes",
    Exclusion.EXPIRED: "it has expired",
    Exclusion.NOT_YET_VALID: "it was not true yet",
    Exclusion.NO_LONGER_VALID: "it was no longer true",
    Exclusion.CONFIDENCE: "less confident than these stakes require",
    Exclusion.UNRELATED: "nothing in common with the query",
    Exclusion.MIN_SCORE: "below the least score",
    Exclusion.LIMIT: "others are better",
}
_NAMES = {"named": "name"}
_FAR_DOWN = "not among the first of the list"


@dataclass(frozen=True, slots=True)
class ScorePart:
    """A part of a score."""

    name: str
    value: float


@dataclass(frozen=True, slots=True)
class RecallRow:
    """A scored memory: its place or why it has none, its score by part; `against` the other version."""

    memory: Memory
    place: int | None
    outcome: str
    score: float
    parts: tuple[ScorePart, ...]
    evidence: tuple[ScorePart, ...]
    against: str = ""
    differs: bool = False


@dataclass(frozen=True, slots=True)
class BlockRow:
    """A line of a context block, and whether the block of the other version has it."""

    line: BlockLine
    differs: bool = False


@dataclass(frozen=True, slots=True)
class BlockRows:
    """The lines of a block, those that the budget leaves out, and those of the other version alone."""

    shown: tuple[BlockRow, ...]
    omitted: tuple[BlockLine, ...]
    only_against: tuple[BlockLine, ...]


def reason_of(exclusion: Exclusion) -> str:
    """Return why a memory is no result, as a sentence without its end."""
    return _REASONS[exclusion]


def offered_users(*, project_id: UUID) -> list[str]:
    """Return the identifiers of the newest end users."""
    rows = EndUser.objects.for_project(project_id).present().order_by("-created_at", "id")
    return list(rows.values_list("external_id", flat=True)[:MOST_OFFERED])


def meanings_of_parts() -> list[tuple[str, str]]:
    """Return each part of the relevance with what it is."""
    fields = [(name, field) for name, field in RankingWeights.model_fields.items() if name not in PRIORS]
    return [(_NAMES.get(name, name), field.description or f"its {name}") for name, field in fields]


def left_out(recall: Recall) -> list[tuple[str, int]]:
    """Return how many scored memories are no result, by reason."""
    excluded = recall.search.excluded
    return [(reason, excluded[each]) for each, reason in _REASONS.items() if excluded.get(each)]


def unscored_of(recall: Recall) -> list[tuple[Memory, str]]:
    """Return the memories that were not scored, each with the reason."""
    return [(each.memory, reason_of(each.exclusion)) for each in recall.search.unscored]


def recall_rows(recall: Recall, *, against: Recall | None) -> list[RecallRow]:
    """Return the scored memories in order of their scores, followed by further results of the other version."""
    others = {each.hit.memory.id: each for each in against.search.scored} if against else {}
    rows = []
    for each in recall.search.scored:
        other = others.pop(each.hit.memory.id, None)
        differs = against is not None and (other is None or other.place != each.place)
        rows.append(_row(each, _outcome(each), against=_placed(other) if against else "", differs=differs))
    for each in others.values():
        if each.place:
            rows.append(_row(replace(each, place=None), _FAR_DOWN, against=_placed(each), differs=True))
    return rows


def block_rows(block: ExplainedBlock, *, against: ExplainedBlock | None) -> BlockRows:
    """Return the lines of a block, compared with another one."""
    texts = _texts(block.lines.shown)
    others = _texts(against.lines.shown) if against else texts
    return BlockRows(
        shown=tuple(BlockRow(line, differs=_text(line) not in others) for line in block.lines.shown),
        omitted=block.lines.omitted,
        only_against=tuple(line for line in against.lines.shown if _text(line) not in texts) if against else (),
    )


def _row(scored: ScoredMemory, outcome: str, *, against: str, differs: bool) -> RecallRow:
    return RecallRow(
        memory=scored.hit.memory,
        place=scored.place,
        outcome=outcome,
        score=scored.hit.score,
        parts=_parts(scored.hit.parts),
        evidence=_parts(scored.hit.evidence),
        against=against,
        differs=differs,
    )


def _placed(scored: ScoredMemory | None) -> str:
    if scored is None:
        return _FAR_DOWN
    return f"place {scored.place}, score {scored.hit.score:.3f}" if scored.place else _outcome(scored)


def _outcome(scored: ScoredMemory) -> str:
    return reason_of(scored.exclusion) if scored.exclusion else ""


def _parts(values: Mapping[str, float]) -> tuple[ScorePart, ...]:
    """Return the parts that are not zero at the precision shown."""
    return tuple(ScorePart(_NAMES.get(name, name), value) for name, value in values.items() if round(value, 3))


def _texts(lines: Iterable[BlockLine]) -> frozenset[tuple[str, str]]:
    return frozenset(map(_text, lines))


def _text(line: BlockLine) -> tuple[str, str]:
    return line.section, line.text
