"""Pasted e-mails and letters: header lines, marks of forwarding, salutations."""

from collections.abc import Iterator, Sequence

import re2

from apps.pipeline.provenance.resumption import end_of_paste, last_signature
from apps.pipeline.provenance.spans import ForeignKind, ForeignSpan, Line, lines_of

_HEADER = r"(?:from|to|cc|bcc|subject|date|sent|reply-to|von|an|kopie|gesendet|betreff|datum|de|à|cc|objet|envoyé|para|asunto|fecha)"
_BEGINS = re2.compile(
    r"(?im)^[ \t*]*(?:"
    # Two header lines, or one that is sufficient by itself.
    rf"{_HEADER}[ \t*]*:[^\n]+\n[ \t*]*{_HEADER}[ \t*]*:"
    r"|(?:subject|betreff|objet|asunto)[ \t*]*:|(?:from|von|de)[ \t*]*:[^\n]*(?:@|$)"
    r"|(?:on|am|le|el) [^\n]+ (?:wrote|schrieb[^\n:]*|a écrit|escribió) ?:[ \t]*$"
    r"|-{2,}[ \t]*(?:original|forwarded|begin|weitergeleitet|ursprüngliche|message transféré)[^\n]*$"
    r"|begin forwarded message|fwd?: [^\n]+$"
    r"|(?:dear|sehr geehrte[rs]?|estimad[oa]|chers?|chère) [^\n]+?,?[ \t]*$"
    r")"
)
# Headers within a line: "What does it want? From: Eve Subject: hello".
_INLINE = re2.compile(r"[.?!:][ \t]+(?:From|Subject|Von|Betreff|De|Objet):[ \t]*\S")
# "Hi Ana," begins a letter if there is a signature below, and text after it.
_GREETING = re2.compile(
    r"(?im)^[ \t]*(?:hi|hello|hey|hallo|guten tag|bonjour|salut|hola|ciao)\b[^\n,.!?]{0,40},[ \t]*$"
)


def mails(prose: str) -> Iterator[ForeignSpan]:
    """Yield each pasted mail, from its header until the speaker resumes."""
    place, lines = 0, lines_of(prose)
    for start in _starts(prose, lines):
        if start >= place:
            place = max(end_of_paste(lines, start), start + 1)
            yield ForeignSpan(start, place, ForeignKind.MAIL, is_open=True)


def _starts(prose: str, lines: Sequence[Line]) -> list[int]:
    headers = [found.start() for pattern in (_BEGINS, _INLINE) for found in pattern.finditer(prose)]
    signed = last_signature(lines)
    return sorted((*headers, *(found.start() for found in _GREETING.finditer(prose) if found.start() < signed)))
