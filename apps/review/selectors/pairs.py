"""Contradictions and possible duplicates, how they were compared and settled."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models.functions import Coalesce

from apps.memories.models import Memory, MemoryLink
from apps.memories.querysets import MemoryLinkQuerySet
from apps.pipeline.core.enums import LinkKind, LinkResolution, LinkStatus
from apps.review.selectors.cases import (
    ConsequenceLine,
    EvidenceTurns,
    ShownComment,
    comments_on,
    link_options,
    load_evidence,
    pairs_with_comment_count,
)
from apps.review.selectors.comparisons import Comparison, keeping, load_comparisons, older_first
from apps.review.skipping import place_among
from apps.review.text_differences import ComparedText, compared_texts

_SIDES = ("from_memory", "to_memory")
_HEAVY = [f"{side}__{field}" for side in _SIDES for field in ("terms", "context_terms", "context")]


@dataclass(frozen=True, slots=True)
class ContradictionSide:
    """One of the two memories; `said`, `start` and `width` place it on the timeline, in percent."""

    name: str  # A or B
    memory: Memory
    words: tuple[ComparedText, ...]  # its content, with what the other one says differently
    keeps: LinkResolution  # how the pair is settled if this side alone is true
    evidence: tuple[EvidenceTurns, ...]
    said: float
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A contradiction or possible duplicate with both sides, the older one first."""

    link: MemoryLink
    sides: tuple[ContradictionSide, ContradictionSide]
    begins: datetime
    ends: datetime
    comparison: Comparison | None  # if deduplication compared the two
    options: tuple[ConsequenceLine, ...] = ()  # what each decision would change, while the pair is open
    comments: tuple[ShownComment, ...] = ()  # on either memory

    @property
    def is_duplicate(self) -> bool:
        """Return True if the two may say the same."""
        return self.link.kind == LinkKind.POSSIBLE_DUPLICATE

    @property
    def newer(self) -> Memory:
        """Return the memory that was said later, which begins where the other one ends."""
        return self.sides[1].memory

    @property
    def seen(self) -> str:
        """Return both memories with their versions, as a form sends them."""
        return " ".join(f"{each.pk}:{each.version}" for each in self.versions)

    @property
    def versions(self) -> tuple[Memory, Memory]:
        """Return both memories in the order of the link, as the form sends them."""
        return self.link.from_memory, self.link.to_memory


def open_pairs(*, project_id: UUID, words: str = "", kind: LinkKind | None = None) -> MemoryLinkQuerySet:
    """Return the pairs that are still open, contradictions first, then oldest first."""
    rows = MemoryLink.objects.for_project(project_id).to_settle()
    return pairs_with_comment_count(_chosen(rows, words, kind)).order_by("kind", "created_at", "id")


def settled_pairs(*, project_id: UUID, words: str = "", kind: LinkKind | None = None) -> MemoryLinkQuerySet:
    """Return the pairs that somebody has settled, latest first."""
    rows = MemoryLink.objects.for_project(project_id).filter(status=LinkStatus.SETTLED)
    return _chosen(rows, words, kind).order_by("-settled_at", "id")


def skipped_last(rows: MemoryLinkQuerySet, skipped: Sequence[UUID]) -> MemoryLinkQuerySet:
    """Move skipped pairs to the end, in the order of skipping."""
    return rows.annotate(skipped=Coalesce(place_among(skipped), 0)).order_by("skipped", *rows.query.order_by)


def _chosen(rows: MemoryLinkQuerySet, words: str, kind: LinkKind | None) -> MemoryLinkQuerySet:
    if words:
        rows = rows.of_words(words)
    if kind is not None:
        rows = rows.of_kind(kind)
    return rows.select_related("from_memory", "to_memory", "end_user").defer(*_HEAVY)


def load_contradiction(link: MemoryLink, *, now: datetime) -> Contradiction:
    """Load both sides and place them on one timeline (at most twelve queries)."""
    older, newer = older_first(link)
    begins = min(moment for memory in (older, newer) for moment in (memory.valid_from, memory.said_at))
    ends = max(now, *(memory.valid_until or now for memory in (older, newer)))
    words = compared_texts(older.content, newer.content)
    sides = (
        _side("A", older, words[0], keeps=keeping(link, older), period=(begins, ends)),
        _side("B", newer, words[1], keeps=keeping(link, newer), period=(begins, ends)),
    )
    return Contradiction(
        link=link,
        sides=sides,
        begins=begins,
        ends=ends,
        comparison=load_comparisons([link]).get(link.pk),
        options=link_options(link, now=now) if link.status == LinkStatus.OPEN else (),
        comments=comments_on(older, newer),
    )


def _side(
    name: str,
    memory: Memory,
    words: tuple[ComparedText, ...],
    *,
    keeps: LinkResolution,
    period: tuple[datetime, datetime],
) -> ContradictionSide:
    begins, ends = period
    scale = max((ends - begins).total_seconds(), 1.0)

    def at(moment: datetime) -> float:
        return round((moment - begins).total_seconds() / scale * 100, 2)

    start = min(at(memory.valid_from), 99.0)
    width = max(at(memory.valid_until or ends) - start, 1.0)
    return ContradictionSide(
        name, memory, words, keeps, load_evidence(memory), said=at(memory.said_at), start=start, width=width
    )
