"""Tense: whether a sentence is about the past or the future, so that "on Friday" has one reading."""

import re
from enum import StrEnum

import re2

from apps.pipeline.core.statement import Candidate
from apps.pipeline.lexicon import verbs


class Tense(StrEnum):
    """The time that a sentence is about."""

    PAST = "past"
    FUTURE = "future"


_ADVERBS = frozenset("also already finally just really recently soon still then".split())
_AHEAD = re.compile(
    r"\b(?:will|won't|shall|going to|gonna|about to|(?:plan|hop|want|intend|expect|need)(?:s|es|ing|ning)? to)\b|'ll\b",
    re.IGNORECASE,
)
_IN_PROGRESS = re2.compile(r"(?i)^(?:is|are) (?:(?:not|also|now|already|[\p{L}-]+ly) )*[\p{L}\d_-]+ing\b")


def tense_of(candidate: Candidate) -> Tense | None:
    """Return the tense of the first verb after the subject; None if it has none, or if tenses are mixed.

    "Is flying on Friday" is in the future because of its date; "flies on Friday" may be a habit.
    """
    words = candidate.content.removeprefix(candidate.subject.text).split()
    while words and (words[0].lower() in _ADVERBS or words[0].lower().endswith("ly")):
        words = words[1:]
    said = " ".join(words)
    ahead = _AHEAD.search(said) is not None or _IN_PROGRESS.match(said) is not None
    past = bool(words) and verbs.may_be_past(words[0].strip(".,!"))
    if ahead is past:
        return None
    return Tense.FUTURE if ahead else Tense.PAST
