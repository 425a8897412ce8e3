"""Calibrate the bands of dedupe on labelled pairs of sentences, in a new configuration version."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from uuid import UUID

from django.db import transaction
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from apps.common.errors import Unfit
from apps.pipeline.core.canonical import canonical_hash
from apps.pipeline.core.enums import MemoryType, Role, Status
from apps.pipeline.core.policy import SimilarityBand
from apps.pipeline.core.ports import Embedder
from apps.pipeline.core.statement import Mention, Statement, StoredMemory
from apps.pipeline.deduplication.matching import Match, MatchVerdict, compare, cosine
from apps.projects.services import configure
from apps.tenants.models import Project
from apps.traces.policies import active_policy

MAX_DIFFERENT = 0.10  # share of paraphrases that may be kept apart without a question
_UNSURE = [place / 100 for place in range(98, 38, -2)]
_SAID_AT = datetime(2025, 6, 2, tzinfo=UTC)
_SUBJECT = UUID(int=1)


class PairLabel(StrEnum):
    """A person's judgement of two sentences."""

    PARAPHRASE = "paraphrase"
    NEAR_MISS = "near_miss"  # similar, with a difference in one thing that matters
    UNRELATED = "unrelated"


class LabelledPair(BaseModel):
    """One line of a file of pairs; other keys are for people and ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    one: str = Field(min_length=1)
    two: str = Field(min_length=1)
    label: PairLabel
    type: MemoryType = MemoryType.FACT
    half: str = ""


@dataclass(frozen=True, slots=True)
class ScoredPair:
    """A pair with its cosine."""

    pair: LabelledPair
    cosine: float

    def judged(self, band: SimilarityBand) -> Match:
        """Return the verdict of dedupe on the pair with a band."""
        one, two = (_memory(text, self.pair.type) for text in (self.pair.one, self.pair.two))
        return compare(one, two, cosine=self.cosine, band=band)


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A band, and its results on the pairs that it was calibrated on."""

    band: SimilarityBand
    merged_wrongly: int
    merged_share: float  # of the paraphrases
    unsure_share: float
    different_share: float
    flagged_wrongly: int  # near-misses and unrelated pairs that would go to a judge


def calibrate(*, project_id: UUID, file: Path, embedder: Embedder) -> Calibrated:
    """Find the embedder's band from a file of pairs, one JSON object per line, and save it in the project's policy.

    Returns the band with its results on the pairs. Raises Unfit for an unusable file; the
    configuration stays unchanged then.
    """
    pairs = list(read_pairs(file.read_text(encoding="utf-8").splitlines()))
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair.one, pair.two)))
    vectors = dict(zip(texts, embedder.embed(texts), strict=True))
    found = best_band([ScoredPair(pair, cosine(vectors[pair.one], vectors[pair.two])) for pair in pairs])
    with transaction.atomic():
        Project.objects.select_for_update().get(id=project_id)  # nobody changes the policy meanwhile
        policy = active_policy(project_id=project_id)
        dedupe = policy.dedupe.model_copy(update={"bands": {**policy.dedupe.bands, embedder.name: found.band}})
        note = f"band of {embedder.name} calibrated on {file.name}"[:255]
        configure(project_id=project_id, policy=policy.model_copy(update={"dedupe": dedupe}), note=note)
    return found


def read_pairs(lines: Iterable[str]) -> Iterator[LabelledPair]:
    """Return the pairs of a file. Raises Unfit with the number of the first invalid line, counted from 1."""
    for number, line in enumerate(lines, start=1):
        try:
            yield LabelledPair.model_validate_json(line)
        except ValidationError as error:
            raise Unfit(f"line {number}: {error.errors()[0]['msg']}") from error


def best_band(pairs: Sequence[ScoredPair]) -> Calibrated:
    """Find the highest lower limit that keeps few paraphrases apart.

    Raises Unfit unless there are both paraphrases and other pairs.
    """
    labels = {pair.pair.label for pair in pairs}
    if PairLabel.PARAPHRASE not in labels or len(labels) == 1:
        raise Unfit("pairs that say the same and pairs that don't are both needed")
    measured = [measure(pairs, band=SimilarityBand(unsure=unsure)) for unsure in _UNSURE]
    return next((each for each in measured if each.different_share <= MAX_DIFFERENT), measured[-1])


def measure(pairs: Sequence[ScoredPair], *, band: SimilarityBand) -> Calibrated:
    """Count the results of a band on labelled pairs."""
    verdicts = Counter((pair.pair.label is PairLabel.PARAPHRASE, pair.judged(band).verdict) for pair in pairs)
    total = max(1, sum(pair.pair.label is PairLabel.PARAPHRASE for pair in pairs))
    return Calibrated(
        band=band,
        merged_wrongly=verdicts[False, MatchVerdict.SAME],
        merged_share=round(verdicts[True, MatchVerdict.SAME] / total, 4),
        unsure_share=round(verdicts[True, MatchVerdict.UNSURE] / total, 4),
        different_share=round(verdicts[True, MatchVerdict.DIFFERENT] / total, 4),
        flagged_wrongly=verdicts[False, MatchVerdict.UNSURE],
    )


@lru_cache(maxsize=4_096)
def _memory(content: str, type: MemoryType) -> StoredMemory:
    """Return a memory that consists of a sentence only, without a triple."""
    subject = Mention(text="", entity_id=_SUBJECT)
    said = Statement(type=type, subject=subject, predicate="says", content=content)
    return StoredMemory(
        id=UUID(int=2),
        version=1,
        status=Status.ACTIVE,
        canonical_hash=canonical_hash(said),
        confidence=0.8,
        role=Role.USER,
        said_at=_SAID_AT,
        **said.statement_fields(),
    )
