"""How alike two linked memories were found to be when the later one came in."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from apps.memories.models import MemoryLink, MemoryVector
from apps.pipeline.core.enums import Stage
from apps.pipeline.core.policy import SimilarityBand
from apps.traces.models import Span


@dataclass(frozen=True, slots=True)
class Compared:
    """A verdict of stage 4 with the band in which likeness alone settles nothing; all in cosines."""

    verdict: str
    by: str  # the tier that settled it: facts, hash, value, cosine or judge
    cosine: float
    unsure: float
    same: float
    guards: tuple[str, ...]  # in what the words differ

    @property
    def mark(self) -> float:
        """Return the place of the cosine in hundredths."""
        return round(self.cosine * 100, 1)

    @property
    def band_start(self) -> float:
        """Return where the band begins in hundredths."""
        return round(self.unsure * 100, 1)

    @property
    def band_width(self) -> float:
        """Return how wide the band is in hundredths."""
        return round((self.same - self.unsure) * 100, 1)


def compared(links: Iterable[MemoryLink]) -> dict[UUID, Compared]:
    """Return by link what stage 4 found of its two memories, for those that it compared (two queries)."""
    asked = [link for link in links if link.trace_id is not None]
    if not asked:
        return {}
    users = {link.end_user_id for link in asked}
    spans = Span.objects.filter(
        end_user_id__in=users, trace_id__in={link.trace_id for link in asked}, stage=Stage.DEDUPE
    ).select_related("trace__configuration")
    by_trace = {span.trace_id: span for span in spans}
    vectors = MemoryVector.objects.filter(end_user_id__in=users, memory__in={link.from_memory_id for link in asked})
    embedders = dict(vectors.values_list("memory_id", "embedder"))
    found = ((link, by_trace[link.trace_id]) for link in asked if link.trace_id in by_trace)
    told = ((link, _told(link, span, embedders.get(link.from_memory_id, ""))) for link, span in found)
    return {link.pk: each for link, each in told if each is not None}


def _told(link: MemoryLink, span: Span, embedder: str) -> Compared | None:
    note = _note(span.details, link)
    if note is None or note["cosine"] is None:
        return None
    band: SimilarityBand = span.trace.configuration.as_policy().dedupe.band(embedder=embedder)
    return Compared(note["verdict"], note["tier"], note["cosine"], band.unsure, band.same, tuple(note["guards"]))


def _note(details: Mapping[str, Any], link: MemoryLink) -> Mapping[str, Any] | None:
    """Find what the candidate that became the one memory was told of the other."""
    near = details.get("compared", {}).get(str(link.from_memory.candidate_index), {}).get("near", ())
    return next((note for note in near if note["memory"] == str(link.to_memory_id)), None)
