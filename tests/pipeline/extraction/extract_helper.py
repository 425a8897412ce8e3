"""Helpers that run the pattern extractor over one turn."""

from apps.pipeline.core.policy import ExtractionPolicy
from apps.pipeline.core.statement import Candidate
from apps.pipeline.extraction.patterns import extract
from tests.pipeline.builders import turn

POLICY = ExtractionPolicy()


def said(text: str, *, speaker: str = "") -> tuple[Candidate, ...]:
    """Return the candidates that the patterns find in one turn."""
    return extract(turn=turn(text, speaker=speaker), policy=POLICY)


def contents(text: str, *, speaker: str = "") -> list[str]:
    """Return the sentences that the patterns write for one turn."""
    return [candidate.content for candidate in said(text, speaker=speaker)]
