"""A medicine that takes the place of another one: "called the doc and she swapped it for losartan".

What is exchanged is often not named. If somebody takes only one other medicine, that is the one.
"""

import re
from collections.abc import Sequence

from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.enums import Polarity, Status
from apps.pipeline.core.statement import PATTERNS, StoredMemory

_TAKES = "takes_medication"
_EXCHANGES = re.compile(
    r"(?i)\b(?:switch(?:ed|ing)?|swapp?(?:ed|ing)?|chang(?:ed|ing)|moved|moving)"
    r"(?: (?:me|him|her|it|that|them|those|over))* (?:to|for|onto|with)\b"
    r"|\b(?:taken|took|taking) (?:me|him|her) off\b"
    r"|\b(?:came|come|coming|gone) off (?:it|them|that|those)\b"
    r"|\binstead(?! of\b)|\breplac(?:ed|es|ing) (?:it|that|them)\b"
)


def exchanged_for(memory: StoredMemory, *, rivals: Sequence[StoredMemory], evidence: str) -> StoredMemory | None:
    """Return the only other medicine that somebody took before, if a quote tells of an exchange; else None."""
    is_read = memory.extractor.startswith(PATTERNS)  # a model names what is replaced
    if not is_read or not _is_taken(memory) or _EXCHANGES.search(evidence) is None:
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


def _is_taken(memory: StoredMemory) -> bool:
    return memory.predicate == _TAKES and memory.polarity is Polarity.POSITIVE
