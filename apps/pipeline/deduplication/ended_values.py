"""Notes that say that a known value is over: "I left Acme" disputes "User works at Acme".

Without a model nothing closes the value: both are told as disputed until a person or a model decides.
"""

import re
from collections.abc import Iterable
from uuid import UUID

from apps.pipeline.core.enums import NOTE, Polarity, Status
from apps.pipeline.core.statement import Candidate, StoredMemory
from apps.pipeline.deduplication.guard import content_words
from apps.pipeline.deduplication.proposals import share_subject

_MOST = 3  # more would be guessing
_OVER = re.compile(
    r"(?i)\b(?:no longer|any ?more|left|quit|gave up|stopped|fired|laid off|made redundant|lost|resigned|retired"
    r"|broke up|split up|separated|divorced|sold|ended|nicht mehr|verlassen|gekündigt|getrennt|verkauft"
    r"|n(?:e |['’]).{1,40} plus|quitté|séparée?s?|vendu|ya no|dej[éo]|dejado|vendí)\b"
)


def disputed_by(candidate: Candidate, known: Iterable[StoredMemory]) -> tuple[UUID, ...]:
    """Return the active statements that a note of the same person says are over, by naming their value."""
    if NOTE not in candidate.tags or not _OVER.search(candidate.evidence):
        return ()
    said = content_words(candidate.evidence)
    named = [
        each.id
        for each in known
        if each.status is Status.ACTIVE
        and NOTE not in each.tags
        and each.polarity is Polarity.POSITIVE
        and share_subject(candidate, each)
        and content_words(each.object_text)
        and content_words(each.object_text) <= said
    ]
    return tuple(dict.fromkeys(named))[:_MOST]
