"""Labelled pairs of sentences of one end user that say the same or not; bands are calibrated on them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from apps.pipeline.core.canonical import canonical_hash
from apps.pipeline.core.enums import MemoryType, Role, Status
from apps.pipeline.core.input_validation import BadInput
from apps.pipeline.core.policy import SimilarityBand
from apps.pipeline.core.ports import Embedder
from apps.pipeline.core.statement import Mention, Statement, StoredMemory
from apps.pipeline.deduplication.lexical_diff import distinct_words
from apps.pipeline.deduplication.matching import Match, compare
from apps.pipeline.deduplication.similarity import cosine, residual_cosines

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
    """A pair with its cosines; `rest` is None unless each sentence has words that the other one lacks."""

    pair: LabelledPair
    cosine: float
    residual: float | None

    def judged(self, band: SimilarityBand) -> Match:
        """Return the verdict of dedupe on the pair with a band."""
        one, two = (_memory(text, self.pair.type) for text in (self.pair.one, self.pair.two))
        return compare(one, two, cosine=self.cosine, residual=self.residual, band=band)


def read_pairs(lines: Iterable[Mapping[str, Any]]) -> Iterator[LabelledPair]:
    """Return the pairs of a file. Raises BadInput with the number of the first invalid line, counted from 1."""
    for number, line in enumerate(lines, start=1):
        try:
            yield LabelledPair.model_validate(line)
        except ValidationError as error:
            raise BadInput(error.errors()[0]["msg"], at=f"line {number}") from error


def score_pairs(*, pairs: Iterable[LabelledPair], embedder: Embedder) -> list[ScoredPair]:
    """Embed every sentence and residual once and compare those of each pair."""
    pairs = list(pairs)
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair.one, pair.two)))
    vectors = dict(zip(texts, embedder.embed(texts), strict=True))
    residuals = residual_cosines(pairs={(pair.one, pair.two) for pair in pairs}, embedder=embedder)
    return [
        ScoredPair(
            pair=pair,
            cosine=cosine(vectors[pair.one], vectors[pair.two]),
            residual=residuals.get(distinct_words(pair.one, pair.two)),
        )
        for pair in pairs
    ]


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
