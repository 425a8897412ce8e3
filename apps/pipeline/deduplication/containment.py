"""Containment: a statement that adds nothing to another one, because that one says it in passing.

"Lena is User's sister" and "Lena, User's sister, lives in York"; "User visited Lisbon" and "User visited Lisbon with
Ana in May 2024".
"""

import re
from functools import lru_cache

from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.enums import CONSTRAINT, CONVENTION, Polarity, SpeechAct
from apps.pipeline.core.statement import StoredMemory
from apps.pipeline.deduplication.difference_checks import contradictions
from apps.pipeline.deduplication.event_periods import may_be_one_time
from apps.pipeline.deduplication.lexical_diff import distinct_words, shared_words

_DENIED = frozenset({"can_have", "must_not", "consumes"})
_NAME = r"[^\W\d_a-zß-ÿ][\w.'’-]*(?: [^\W\d_a-zß-ÿ][\w.'’-]*)*?"
_NOUN = r"[a-zß-ÿ][\w-]*(?: [a-zß-ÿ][\w-]*)*"
# Sentences that only say who somebody is, or that somebody has something.
_INTRODUCTIONS = tuple(
    re.compile(form)
    for form in (
        rf"(?P<name>{_NAME}) is (?P<owner>{_NAME})['’]s (?P<noun>{_NOUN})",
        rf"(?P<owner>{_NAME})['’]s (?P<noun>{_NOUN}) is (?:called |named )?(?P<name>{_NAME})",
        rf"(?P<owner>{_NAME}) has an? (?P<noun>{_NOUN}?)(?: (?:called|named) (?P<name>{_NAME}))?",
    )
)


def is_said_in_passing(less: StoredMemory, *, by: StoredMemory) -> bool:
    """Return True if a sentence only says who or what something is, and a lasting statement says that in passing."""
    if _is_meant_by_allergy(less, by):
        return True
    lasts = not by.traits.dated and by.valid_until is None
    if not (lasts and _is_plain(less) and _is_plain(by)) or less.traits.dated or less.polarity is Polarity.NEGATIVE:
        return False
    phrase = _phrase_of(less.content)
    return phrase is not None and _phrase_of(by.content) is None and phrase.search(by.content) is not None


def _is_meant_by_allergy(less: StoredMemory, by: StoredMemory) -> bool:
    """Return True for "cannot have penicillin" beside "is allergic to penicillin": the allergy says why as well."""
    is_denied = less.predicate in _DENIED and less.polarity is Polarity.NEGATIVE
    is_allergy = by.predicate == "allergic_to" and by.polarity is Polarity.POSITIVE and by.valid_until is None
    if not (is_denied and is_allergy and less.subject_id == by.subject_id and _is_plain(less) and _is_plain(by)):
        return False
    return canonical_text(less.object_text).removeprefix("have ") == canonical_text(by.object_text)


def _is_plain(memory: StoredMemory) -> bool:
    is_rule = bool({CONSTRAINT, CONVENTION} & set(memory.tags))
    return memory.speech_act is SpeechAct.ASSERTED and not is_rule


@lru_cache(maxsize=4_096)
def _phrase_of(sentence: str) -> re.Pattern[str] | None:
    """Return the words with which another sentence would say an introduction in passing; None for other sentences."""
    found = next((match for form in _INTRODUCTIONS if (match := form.fullmatch(sentence.removesuffix(".")))), None)
    if found is None:
        return None
    owned, name = rf"\b{re.escape(found['owner'])}['’]s {re.escape(found['noun'])}", found["name"]
    if name is None:
        return re.compile(rf"{owned}(?=[.,;:)]| is\b)")
    named = re.escape(name)
    return re.compile(rf"\b{named}, {owned}(?=[.,;:)])|{owned},? {named}(?!['’\w-])")


def tells_event_less_exactly(less: StoredMemory, fuller: StoredMemory) -> bool:
    """Return True if two statements describe the same event and `less` adds no word and no time."""
    is_event = less.traits.repeatable and fuller.traits.repeatable
    if not is_event or less.subject_id != fuller.subject_id or less.polarity is not fuller.polarity:
        return False
    if less.event_at is None or fuller.event_at is None or not may_be_one_time(less, fuller):
        return False
    sentences = less.content, fuller.content
    own_words, _ = distinct_words(*sentences)
    return not own_words and shared_words(*sentences) > 0 and not contradictions(*sentences)
