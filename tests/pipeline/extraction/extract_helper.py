"""Helpers that run the plain extractor over one turn."""

from apps.pipeline.core.enums import NOTE
from apps.pipeline.core.policy import ExtractionPolicy
from apps.pipeline.core.statement import Candidate
from apps.pipeline.extraction.plain.extractor import extract
from tests.pipeline.builders import turn

POLICY = ExtractionPolicy()


def said(text: str, *, speaker: str = "") -> tuple[Candidate, ...]:
    """Return the candidates of one turn, notes among them."""
    return extract(turn=turn(text, speaker=speaker), policy=POLICY)


def contents(text: str, *, speaker: str = "") -> list[str]:
    """Return the statements of one turn, without its note."""
    return [candidate.content for candidate in said(text, speaker=speaker) if NOTE not in candidate.tags]
