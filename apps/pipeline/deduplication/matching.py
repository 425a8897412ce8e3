"""Matching: whether two memories are one, by their hashes, their cosine and the difference checks."""

from dataclasses import dataclass
from enum import StrEnum

from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.enums import SpeechAct
from apps.pipeline.core.policy import SimilarityBand
from apps.pipeline.core.statement import StoredMemory
from apps.pipeline.deduplication.containment import tells_event_less_exactly
from apps.pipeline.deduplication.difference_checks import (
    Guard,
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
_SOFT = frozenset({Guard.ORDER, Guard.MODALITY, Guard.TENSE, Guard.BEING, Guard.FOCUS})


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
    guards: frozenset[Guard] = frozenset()


def compare(
    one: StoredMemory, two: StoredMemory, *, cosine: float | None, band: SimilarityBand, residual: float | None = None
) -> Match:
    """Compare two memories of one end user; their order does not matter.

    Triples are compared first, then hashes, then values of which one is more precise, then cosines by the band of the
    embedder. A pair that fails a difference check is never the same; if only word order or modality differs, it is
    unsure. `rest` is the cosine of the residuals. It decides if each sentence has one, because long sentences about
    one person are similar whatever they say.
    """
    if _facts_differ(one, two):
        return Match(MatchVerdict.DIFFERENT, "facts", cosine)
    if one.canonical_hash == two.canonical_hash:
        guards = _guards_of_equal_triples(one, two)
        return Match(MatchVerdict.DIFFERENT if guards else MatchVerdict.SAME, "hash", cosine, residual, guards)
    if _told_more_precisely(one, two) and not contradictions(one.content, two.content):
        return Match(MatchVerdict.SAME, "value", cosine)
    if tells_event_less_exactly(one, two) or tells_event_less_exactly(two, one):
        return Match(MatchVerdict.SAME, "event", cosine)
    if cosine is None or cosine < band.words:
        return Match(MatchVerdict.DIFFERENT, "cosine", cosine)
    guards = differences(one.content, two.content)
    if _hard(guards, one.content, two.content):
        return Match(MatchVerdict.DIFFERENT, "cosine", cosine, residual, guards)
    likeness = _likeness(one.content, two.content, cosine=cosine, residual=residual, band=band)
    english = is_english(one.content) and is_english(two.content)  # what the difference checks can read
    if likeness is MatchVerdict.SAME and (guards or not english or not _objects_agree(one, two)):
        likeness = MatchVerdict.UNSURE
    return Match(likeness, "cosine", cosine, residual, guards)


def _hard(guards: frozenset[Guard], one: str, two: str) -> frozenset[Guard]:
    """Return the differences that prove that two sentences differ; one that only has fewer names may be the same."""
    tells_less = names_are_part(one, two) and not names_grow(one, two)
    return guards - _SOFT - ({Guard.NAME} if tells_less else frozenset())


def _likeness(one: str, two: str, *, cosine: float, residual: float | None, band: SimilarityBand) -> MatchVerdict:
    first, second = distinct_words(one, two)
    if first == second:
        return MatchVerdict.SAME
    if not (first and second):
        return _of_more_and_less(one, two, cosine=cosine, band=band)
    if residual is not None and residual >= band.residual_same and cosine >= band.unsure:
        return MatchVerdict.SAME
    alike = cosine >= band.near or (cosine >= band.unsure and (residual is None or residual >= band.residual_unsure))
    return MatchVerdict.UNSURE if alike or shares_topic(one, two) else MatchVerdict.DIFFERENT


def _of_more_and_less(one: str, two: str, *, cosine: float, band: SimilarityBand) -> MatchVerdict:
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


def _guards_of_equal_triples(one: StoredMemory, two: StoredMemory) -> frozenset[Guard]:
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


def _told_more_precisely(one: StoredMemory, two: StoredMemory) -> bool:
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
