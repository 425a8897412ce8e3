"""Matching: whether two memories are one, by their hashes, their cosine and the difference checks."""

from dataclasses import dataclass
from enum import StrEnum

from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.enums import SpeechAct
from apps.pipeline.core.policy import SimilarityBand
from apps.pipeline.core.statement import StoredMemory
from apps.pipeline.deduplication.containment import tells_event_less_exactly
from apps.pipeline.deduplication.difference_checks import (
    Difference,
    contradictions,
    differences,
    names_are_part,
    names_grow,
    tells_relative_time,
)
from apps.pipeline.deduplication.event_periods import may_be_one_time
from apps.pipeline.deduplication.lexical_diff import (
    adds_nothing,
    distinct_words,
    makes_another,
    shared_words,
    shares_topic,
    stems,
)
from apps.pipeline.lexicon.language import is_english

# These alone do not prove a difference: word order, modality, tense, being and having.
_SOFT = frozenset({Difference.ORDER, Difference.MODALITY, Difference.TENSE, Difference.BEING, Difference.FOCUS})


class MatchVerdict(StrEnum):
    """How two memories relate."""

    SAME = "same"
    UNSURE = "unsure"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Match:
    """A verdict with its reasons."""

    verdict: MatchVerdict
    tier: str  # "facts" if their triples differ, "hash", "value", "event" or "cosine"
    cosine: float | None = None
    residual: float | None = None  # the cosine of their residuals, if both have one
    differences: frozenset[Difference] = frozenset()


def compare(
    one: StoredMemory, two: StoredMemory, *, cosine: float | None, band: SimilarityBand, residual: float | None = None
) -> Match:
    """Compare two memories of one end user; their order does not matter.

    Triples are compared first, then hashes, then values of which one is more precise, then cosines by the band of the
    embedder. A pair that fails a difference check is never the same; if only word order or modality differs, it is
    unsure. `residual` is the cosine of the residuals. It decides if each sentence has one, because long sentences about
    one person are similar whatever they say.
    """
    if _facts_differ(one, two):
        return Match(MatchVerdict.DIFFERENT, "facts", cosine)
    if one.canonical_hash == two.canonical_hash:
        differing = _differences_of_equal_triples(one, two)
        return Match(MatchVerdict.DIFFERENT if differing else MatchVerdict.SAME, "hash", cosine, residual, differing)
    if _is_more_precise(one, two) and not contradictions(one.content, two.content):
        return Match(MatchVerdict.SAME, "value", cosine)
    if tells_event_less_exactly(one, two) or tells_event_less_exactly(two, one):
        return Match(MatchVerdict.SAME, "event", cosine)
    if cosine is None or cosine < band.words:
        return Match(MatchVerdict.DIFFERENT, "cosine", cosine)
    differing = differences(one.content, two.content)
    if _conclusive(differing, one.content, two.content):
        return Match(MatchVerdict.DIFFERENT, "cosine", cosine, residual, differing)
    verdict = _compare_words(one.content, two.content, cosine=cosine, residual=residual, band=band)
    english = is_english(one.content) and is_english(two.content)  # what the difference checks can read
    if verdict is MatchVerdict.SAME and (differing or not english or not _objects_agree(one, two)):
        verdict = MatchVerdict.UNSURE
    return Match(verdict, "cosine", cosine, residual, differing)


def _conclusive(differing: frozenset[Difference], one: str, two: str) -> frozenset[Difference]:
    """Return the differences that prove that two sentences differ; one that only has fewer names may be the same."""
    tells_less = names_are_part(one, two) and not names_grow(one, two)
    return differing - _SOFT - ({Difference.NAME} if tells_less else frozenset())


def _compare_words(one: str, two: str, *, cosine: float, residual: float | None, band: SimilarityBand) -> MatchVerdict:
    first, second = distinct_words(one, two)
    if first == second:
        return MatchVerdict.SAME
    if not (first and second):
        return _compare_contained(one, two, cosine=cosine, band=band)
    if residual is not None and residual >= band.residual_same and cosine >= band.unsure:
        return MatchVerdict.SAME
    alike = cosine >= band.near or (cosine >= band.unsure and (residual is None or residual >= band.residual_unsure))
    return MatchVerdict.UNSURE if alike or shares_topic(one, two) else MatchVerdict.DIFFERENT


def _compare_contained(one: str, two: str, *, cosine: float, band: SimilarityBand) -> MatchVerdict:
    """Compare two sentences of which one says all that the other says; sharing only their subject is not enough."""
    first, second = distinct_words(one, two)
    more, less = (first, two) if first else (second, one)
    if not shared_words(one, two):
        return MatchVerdict.DIFFERENT
    if cosine >= band.unsure and adds_nothing(more, to=less):
        return MatchVerdict.SAME
    if cosine >= band.same and not makes_another(more):
        return MatchVerdict.SAME
    return MatchVerdict.UNSURE if cosine >= band.unsure or shares_topic(one, two) else MatchVerdict.DIFFERENT


def _differences_of_equal_triples(one: StoredMemory, two: StoredMemory) -> frozenset[Difference]:
    """Return the differences that separate equal triples: all for events, which can recur; else contradictions."""
    if one.traits.repeatable:
        return differences(one.content, two.content)
    return contradictions(one.content, two.content)


def _facts_differ(one: StoredMemory, two: StoredMemory) -> bool:
    """Return True if the structured fields prove that these are two memories."""
    meant = (one.speech_act is SpeechAct.ASSERTED) == (two.speech_act is SpeechAct.ASSERTED)
    if one.type is not two.type or one.polarity is not two.polarity or not meant:
        return True
    if one.subject_id != two.subject_id and not one.traits.ties_entities:
        return True
    return _happened_apart(one, two) or _values_differ(one, two)


def _happened_apart(one: StoredMemory, two: StoredMemory) -> bool:
    if not one.traits.repeatable:
        return False
    if one.event_at and two.event_at:
        return not may_be_one_time(one, two)
    relative = tells_relative_time(one.content) or tells_relative_time(two.content)
    return relative and one.said_at.date() != two.said_at.date()


def _values_differ(one: StoredMemory, two: StoredMemory) -> bool:
    """Return True if the same predicate has two values without a common word: likes tea, likes coffee."""
    if one.predicate != two.predicate or one.canonical_hash == two.canonical_hash:
        return False
    first, second = stems(one.object_text), stems(two.object_text)
    return bool(first and second) and not first & second


def _is_more_precise(one: StoredMemory, two: StoredMemory) -> bool:
    """Return True if the values of a slot begin alike and one is more precise: Munich, and Munich in Bavaria."""
    if not (one.stateful and two.stateful) or one.predicate != two.predicate or one.subject_id != two.subject_id:
        return False
    short, long = sorted((canonical_text(one.object_text), canonical_text(two.object_text)), key=len)
    return bool(short) and long.startswith(f"{short} ")


def _objects_agree(one: StoredMemory, two: StoredMemory) -> bool:
    if one.predicate != two.predicate:
        return True
    first, second = stems(one.object_text), stems(two.object_text)
    return first <= second or second <= first
