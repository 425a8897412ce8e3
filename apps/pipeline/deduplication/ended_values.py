"""Notes and statements without a model that say that something known is over: "I left Acme", "I work at Acme".

Without a model nothing closes the value: both are told as disputed until a person or a model decides.
"""

import re
from collections.abc import Iterable
from uuid import UUID

from apps.pipeline.core.enums import NOTE, Polarity, Status
from apps.pipeline.core.statement import PLAIN, Candidate, StoredMemory
from apps.pipeline.deduplication.guard import content_words
from apps.pipeline.deduplication.proposals import share_subject

_MOST = 3  # more would be guessing
_OVER = re.compile(
    r"(?i)\b(?:no longer|any ?more|left|quit|gave up|stopped|fired|laid off|made redundant|lost|resigned|retired"
    r"|broke up|split up|separated|divorced|sold|ended|nicht mehr|verlassen|gekündigt|getrennt|verkauft"
    r"|n(?:e |['’]).{1,40} plus|quitté|séparée?s?|vendu|ya no|dej[éo]|dejado|vendí)\b"
)


def disputed_by(candidate: Candidate, known: Iterable[StoredMemory]) -> tuple[UUID, ...]:
    """Return the active memories of the same person that a plain candidate says are over.

    A note names the value of a statement; a statement that denies its value names what a note affirms: "not vegan any
    more" after "I've been vegan since 2020".
    """
    is_note = NOTE in candidate.tags
    if is_note:
        is_end = _OVER.search(candidate.evidence) is not None
    else:
        is_end = candidate.extractor.startswith(PLAIN) and candidate.polarity is Polarity.NEGATIVE
    if not is_end:
        return ()
    own = content_words(candidate.evidence if is_note else candidate.object.text)
    named: dict[UUID, None] = {}
    for each in known:
        if each.status is not Status.ACTIVE or not share_subject(candidate, each) or is_note is (NOTE in each.tags):
            continue
        value, said = (content_words(each.object_text), own) if is_note else (own, content_words(each.content))
        is_affirmed = each.polarity is Polarity.POSITIVE and not (NOTE in each.tags and _OVER.search(each.content))
        if value and value <= said and is_affirmed:
            named[each.id] = None
    return tuple(named)[:_MOST]
