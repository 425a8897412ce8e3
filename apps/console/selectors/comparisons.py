"""How similar two linked memories were when the later one was written."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db.models import OuterRef, Subquery, Value
from django.db.models.functions import Coalesce

from apps.memories.models import MemoryLink, MemoryVector
from apps.pipeline.core.enums import Stage
from apps.pipeline.core.policy import SimilarityBand
from apps.traces.models import Span


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
