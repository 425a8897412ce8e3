"""How two memories were compared, and how a pair was settled."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db.models import OuterRef, Subquery, Value
from django.db.models.functions import Coalesce

from apps.console.labels import time_since
from apps.memories.models import Memory, MemoryLink, MemoryVector
from apps.pipeline.core.enums import LinkResolution, Stage
from apps.pipeline.core.policy import SimilarityBand
from apps.review.selectors.history import latest_changes
from apps.traces.models import Span

MAX_CHARACTERS = 90  # of a statement that is quoted


def older_first(link: MemoryLink) -> tuple[Memory, Memory]:
    """Return both memories in the order in which they were said."""
    one, other = link.from_memory, link.to_memory
    return (one, other) if one.said_at < other.said_at else (other, one)


def keeping(link: MemoryLink, memory: Memory) -> LinkResolution:
    """Return how a pair is settled if one of its memories alone is true."""
    return LinkResolution.KEPT_FROM if memory.pk == link.from_memory_id else LinkResolution.KEPT_TO


def settled_pair(*, project_id: UUID, link_id: UUID) -> MemoryLink | None:
    """Return a pair that was settled, None for an open one."""
    rows = MemoryLink.objects.for_project(project_id).select_related("from_memory", "to_memory")
    return rows.filter(pk=link_id, settled_at__isnull=False).first()


def settlement_text(link: MemoryLink) -> str:
    """Return how a pair was settled, such as "kept “…”, rejected the other"; empty if no person did."""
    if link.resolution not in set(LinkResolution):
        return ""
    match LinkResolution(link.resolution):
        case LinkResolution.KEPT_FROM:
            return f"kept “{_cut(link.from_memory.content)}”, rejected the other"
        case LinkResolution.KEPT_TO:
            return f"kept “{_cut(link.to_memory.content)}”, rejected the other"
        case LinkResolution.CHANGED:
            return "dated the change: the newer one supersedes the older one"
        case LinkResolution.BOTH:
            return "kept both"
        case LinkResolution.UNRELATED:
            return "kept both, which are about different things"
        case LinkResolution.MERGED:
            return f"merged into “{_cut(link.to_memory.content)}”"


def settled_by(*, project_id: UUID, link_id: UUID) -> str:
    """Return who settled a pair, how and when; empty while it is open."""
    link = settled_pair(project_id=project_id, link_id=link_id)
    if link is None or link.settled_at is None:
        return ""
    sides = [link.from_memory_id, link.to_memory_id]
    changes = latest_changes(project_id=project_id, memory_ids=sides).values()
    actor = max(changes, key=lambda change: change.at).actor if changes else "somebody"
    done = settlement_text(link) or "closed the pair"
    return f"{actor} already {done} ({time_since(link.settled_at)})"


def _cut(text: str) -> str:
    return text if len(text) <= MAX_CHARACTERS else f"{text[: MAX_CHARACTERS - 1]}…"


@dataclass(frozen=True, slots=True)
class Comparison:
    """A verdict of deduplication, with the cosine from which a judge or a person decides."""

    verdict: str
    by: str  # the tier that decided: facts, hash, value, cosine or judge
    cosine: float
    unsure: float
    guards: tuple[str, ...]  # kinds of difference between the texts

    @property
    def mark(self) -> float:
        """Return the cosine in percent."""
        return round(self.cosine * 100, 1)

    @property
    def band_start(self) -> float:
        """Return the start of the band in percent."""
        return round(self.unsure * 100, 1)

    @property
    def band_width(self) -> float:
        """Return the width of the band in percent."""
        return round((1 - self.unsure) * 100, 1)


def load_comparisons(links: Iterable[MemoryLink]) -> dict[UUID, Comparison]:
    """Return the comparison by link, for links whose memories were compared (one query)."""
    written = [link for link in links if link.trace_id is not None]
    if not written:
        return {}
    users = {link.end_user_id for link in written}
    # The later memory of a link was written by the trace of the link.
    later = {link.from_memory_id for link in written}
    vectors = MemoryVector.objects.filter(end_user_id=OuterRef("end_user_id"), memory__trace_id=OuterRef("trace_id"))
    embedder = Subquery(vectors.filter(memory__in=later).values("embedder")[:1])
    spans = Span.objects.filter(
        end_user_id__in=users, trace_id__in={link.trace_id for link in written}, stage=Stage.DEDUPE
    )
    found = spans.select_related("trace__configuration").annotate(embedder=Coalesce(embedder, Value("")))
    by_trace = {span.trace_id: span for span in found}
    compared = ((link, by_trace[link.trace_id]) for link in written if link.trace_id in by_trace)
    results = ((link, _comparison(link, span, span.embedder)) for link, span in compared)
    return {link.pk: each for link, each in results if each is not None}


def _comparison(link: MemoryLink, span: Span, embedder: str) -> Comparison | None:
    # What deduplication recorded about the other memory, for the candidate that became this one.
    compared = span.details.get("compared", {}).get(str(link.from_memory.candidate_index), {})
    note = next((each for each in compared.get("near", ()) if each["memory"] == str(link.to_memory_id)), None)
    if note is None or note["cosine"] is None:
        return None
    band: SimilarityBand = span.trace.configuration.as_policy().dedupe.band(embedder=embedder)
    return Comparison(note["verdict"], note["tier"], note["cosine"], band.unsure, tuple(note["guards"]))
