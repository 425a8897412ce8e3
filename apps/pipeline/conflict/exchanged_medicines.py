"""A medicine that takes the place of another one: "called the doc and she swapped it for losartan".

What is exchanged is often not named. If somebody takes only one other medicine, that is the one.
"""

import re
from collections.abc import Sequence

from apps.pipeline.conflict.supersession import says_additional
from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.enums import Polarity, Status
from apps.pipeline.core.statement import PATTERNS, Candidate, StoredMemory

_TAKES = "takes_medication"
_TURNS = r"(?:switch(?:ed|ing)?|swapp?(?:ed|ing)?|chang(?:ed|ing)|mov(?:ed|ing)|replac(?:ed|es|ing))"
# What somebody came off is a medicine only if it is called one, or only "it": not "came off it badly from my bike".
_OFF = re.compile(
    r"(?i)\b(?:(?:taken|took|taking) (?:me|him|her)|came|come|coming|gone) off"
    r" (?:it|that|them|(?:it|that|this|them|those|these|the|my|his|her) (?:tablets?|pills?|meds|medicines?|medication))"
    r"\b\s*(?=$|[.,;!?]|and\b|so\b)"
)


def exchanged_for(
    memory: StoredMemory, *, candidate: Candidate, rivals: Sequence[StoredMemory], told: Sequence[Candidate]
) -> StoredMemory | None:
    """Return the only other medicine that somebody took before, if a quote tells of an exchange; else None.

    `candidate` is what becomes the memory, `told` what was said with it: "They took me off the warfarin" names what is
    exchanged, so nothing else is.
    """
    is_read = memory.extractor.startswith(PATTERNS)  # a model names what is replaced
    if not is_read or not _is_taken(memory) or not _tells_of_exchange(candidate.evidence, medicine=memory.object_text):
        return None
    if any(_is_ended_beside(candidate, each) for each in told):
        return None
    others = [
        each
        for each in rivals
        if each.status is Status.ACTIVE
        and _is_taken(each)
        and each.subject_id == memory.subject_id
        and each.said_at < memory.said_at
        and canonical_text(each.object_text) != canonical_text(memory.object_text)
    ]
    return others[0] if len(others) == 1 else None


def _tells_of_exchange(evidence: str, *, medicine: str) -> bool:
    """Return True if a quote says that one came to this medicine from another one: "swapped it for losartan"."""
    name = re.escape(medicine.partition(" ")[0])
    if not name or says_additional(evidence):
        return False
    exchanges = (
        rf"(?i)\b{_TURNS}(?: (?:me|him|her|it|that|them|those|over))* (?:to|for|onto|with) {name}\b"
        rf"|\b{name}(?: \d[\d.]* ?\w*)?(?: now)? instead\b(?! of\b)"
    )
    return re.search(exchanges, evidence) is not None or _OFF.search(evidence) is not None


def _is_ended_beside(candidate: Candidate, other: Candidate) -> bool:
    is_ended = other.predicate == _TAKES and other.polarity is Polarity.NEGATIVE
    is_same_turn = not set(other.source_turn_ids).isdisjoint(candidate.source_turn_ids)
    return is_ended and is_same_turn and other.subject_id == candidate.subject_id


def _is_taken(memory: StoredMemory) -> bool:
    return memory.predicate == _TAKES and memory.polarity is Polarity.POSITIVE
