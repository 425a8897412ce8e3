"""Matching: whether two memories are one, by their fields, their words, the guard and their cosine."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from enum import StrEnum
from operator import mul

from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.enums import Precision, SpeechAct
from apps.pipeline.core.policy import SimilarityBand
from apps.pipeline.core.ports import Embedder, Neighbour, Vector
from apps.pipeline.core.statement import Statement, StoredMemory
from apps.pipeline.deduplication.guard import (
    Difference,
    differences,
    exclusions,
    plain_words,
    stems,
    tells_relative_time,
)
from apps.pipeline.resolution.dates import around

# Share of the cosine from which memories may be duplicates. Other names and numbers lower a cosine: "on the Team plan",
# "on the Business plan". Below it, the differences between two sentences say nothing about them.
NEAR_SHARE = 0.75
_WHOLE = frozenset({Precision.MONTH, Precision.QUARTER, Precision.YEAR})


class MatchVerdict(StrEnum):
    """How two memories relate."""

    SAME = "same"
    UNSURE = "unsure"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Match:
    """A verdict with its reasons."""

    verdict: MatchVerdict
    tier: str  # what decided: "facts", "words", "hash", "value", "cosine", "extractor" or "judge"
    cosine: float | None = None
    differences: frozenset[Difference] = frozenset()


def compare(one: StoredMemory, two: StoredMemory, *, cosine: float | None, band: SimilarityBand) -> Match:
    """Compare two memories of one end user; their order does not matter.

    Only equal words, equal triples and a more precise value of a slot prove that two memories are one. A cosine proves
    nothing, as "moved to Rome" and "moved from Rome" are nearly equal: it selects the pairs for a judge or a person.
    """
    if _are_apart(one, two):
        return Match(MatchVerdict.DIFFERENT, "facts", cosine)
    if plain_words(one.content) == plain_words(two.content):
        return Match(MatchVerdict.SAME, "words", cosine)
    is_one_subject, is_one_predicate = one.subject_id == two.subject_id, one.predicate == two.predicate
    has_same_hash = one.canonical_hash == two.canonical_hash
    first, second = stems(one.object_text), stems(two.object_text)
    # Two values without a common word: likes tea, likes coffee.
    values_differ = is_one_predicate and not has_same_hash and first and second and first.isdisjoint(second)
    has_other_subject = not is_one_subject and not one.traits.ties_entities
    if one.type is not two.type or has_other_subject or values_differ:
        return Match(MatchVerdict.DIFFERENT, "facts", cosine)
    # One subject has one value, and the sentences only name it otherwise: "User lives", "Kim lives".
    slots = {(each.subject_id, each.predicate, canonical_text(each.object_text)) for each in (one, two)}
    after_name, after_other = plain_words(one.content)[1:], plain_words(two.content)[1:]
    if len(slots) == 1 and all(slots.pop()) and after_name != () and after_name == after_other:
        return Match(MatchVerdict.SAME, "words", cosine)
    # The values of a slot may begin alike: Munich, and Munich in Bavaria.
    is_one_slot = one.stateful and two.stateful and is_one_predicate and is_one_subject
    short, long = sorted((canonical_text(one.object_text), canonical_text(two.object_text)), key=len)
    is_more_precise = is_one_slot and short != "" and long.startswith(f"{short} ")
    if not (has_same_hash or is_more_precise) and cosine is not None and cosine < NEAR_SHARE * band.unsure:
        return Match(MatchVerdict.DIFFERENT, "cosine", cosine)
    excluding = exclusions(one.content, two.content)
    if has_same_hash:
        found = differences(one.content, two.content) if one.traits.repeatable else excluding
        return Match(MatchVerdict.DIFFERENT if found else MatchVerdict.SAME, "hash", cosine, found)
    if is_more_precise and not excluding:
        return Match(MatchVerdict.SAME, "value", cosine)
    is_alike = cosine is not None and cosine >= band.unsure and not excluding
    return Match(MatchVerdict.UNSURE if is_alike else MatchVerdict.DIFFERENT, "cosine", cosine, excluding)


def _are_apart(one: StoredMemory, two: StoredMemory) -> bool:
    """Return True if even equal sentences would be two memories."""
    are_meant = (one.speech_act is SpeechAct.ASSERTED) == (two.speech_act is SpeechAct.ASSERTED)
    if one.polarity is not two.polarity or not are_meant:
        return True
    if not (one.traits.repeatable and two.traits.repeatable):
        return False
    if one.event_at and two.event_at:
        return not may_be_one_time(one, two)
    is_relative = tells_relative_time(one.content) or tells_relative_time(two.content)
    return is_relative and one.said_at.date() != two.said_at.date()


def may_be_one_time(one: Statement, two: Statement) -> bool:
    """Return True if the periods of two dated events overlap; a time of day counts as its whole day."""
    if one.event_at is None or two.event_at is None:
        return False
    first, first_ends = _days(one.event_at, one.event_precision)
    second, second_ends = _days(two.event_at, two.event_precision)
    return first < second_ends and second < first_ends


def _days(at: datetime, precision: Precision | None) -> tuple[date, date]:
    """Return the first day of a period and the day after its last."""
    begins = at.date()
    if precision in _WHOLE:
        return around(begins, precision).begins, around(begins, precision, shift=1).begins
    return begins, begins + timedelta(days=7 if precision is Precision.WEEK else 1)


def cosine(one: Vector, two: Vector) -> float:
    """Return the cosine of two vectors of an embedder, which have the length 1 or 0."""
    return float(sum(map(mul, one, two)))


def with_cosines(
    *, vectors: Sequence[Vector], neighbours: Sequence[Sequence[Neighbour]], embedder: Embedder
) -> list[list[Neighbour]]:
    """Compute the cosines of neighbours whose vector is not stored yet."""
    missing = [each.memory.content for near in neighbours for each in near if each.cosine is None]
    texts = list(dict.fromkeys(missing))
    known = dict(zip(texts, embedder.embed(texts), strict=True)) if texts else {}
    return [
        [
            each if each.cosine is not None else replace(each, cosine=cosine(vector, known[each.memory.content]))
            for each in near
        ]
        for vector, near in zip(vectors, neighbours, strict=True)
    ]
