"""Text in a turn that is not in the speaker's own words: code, quotations, mails, chat logs, mark-up.

Everything found is replaced by NUL characters of the same length, so that a position in the prose is one in the text.
"""

import re
from itertools import pairwise

import re2

HIDDEN = "\x00"

_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_QUOTED_LINE = re2.compile(r"(?m)^[ \t]*>.*$")
_URL = re.compile(r"https?://\S+")
_NO_CHARACTER = re.compile(r"[\ud800-\udfff]+")  # half a pair, which no encoder takes
_QUOTE = re2.compile(r"[\"“”„«][^\"“”„«»\n]{2,300}[\"“”»]")
# Single quotation marks open after a colon or a comma alone, since elsewhere they are apostrophes.
_SINGLE_QUOTE = re2.compile(r"[:,] ?['‘‚](?P<quote>[^\n]{2,300}?)['’](?:[\s.,!?)]|$)")
_SPEECH = re2.compile(r"(?i)\b(?:i|i'm|i've|my|me|we)\b|(?:\w+\W+){6}")
# From here to the end of the text somebody else writes.
_MAIL = re2.compile(
    r"(?im)^[ \t*]*(?:"
    r"(?:from|to|cc|subject|date|sent|von|an|betreff|datum|de|à|objet):[^\n]+\n[ \t*]*(?:from|to|cc|subject|date|sent|reply-to|von|an|gesendet|betreff|datum|de|à|objet)[ \t*]*:"
    r"|subject:|betreff:|from:[^\n]*@"
    r"|on [^\n]{5,120} wrote:[ \t]*$"
    r"|-{2,}[ \t]*(?:original|forwarded|begin)[^\n]*$"
    r"|begin forwarded message"
    r"|dear [^\n]{1,60},?[ \t]*$)"
)
# What somebody wrote, up to the end of the paragraph, or of the text where a line of its own announces it.
_INTRODUCED = re2.compile(
    r"(?i)\b(?:wrote|writes|written|replied|answered|texted|messaged|emailed|e-mailed|posted|said|says|sent)\b[^.!?:\n]{0,40}:"
    r"|\b(?:he|she|they|this|the (?:\w+ )?(?:mail|e-mail|email|message|letter|text|post|comment|reply))\b[^.!?:\n]{0,30} (?:i got|i received|reads|goes)[^.!?:\n]{0,20}:"
)
_CHAT_LINE = re2.compile(
    r"(?m)^[ \t]*(?:\[?[\d/.\-, ]{0,12}\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]m)?\]?[ \t,-]*)?<?(?P<who>\p{Lu}[\w.'-]*(?: \p{Lu}[\w.'-]*)?)>?: [^\n]+$"
)
_MARK_UP = re2.compile(r"(?is)<[a-z!][^>]*>.*</[a-z][^>]*>|<[a-z!/][^>\n]*>")


def printable(text: str) -> str:
    """Return a text with all that no encoding takes hidden."""
    return _hidden(_NO_CHARACTER, text)


def own_prose(text: str) -> str:
    """Return a text with all that is not in its author's own words hidden."""
    prose = printable(text.replace(HIDDEN, " "))
    for pattern in (_CODE, _MARK_UP, _QUOTED_LINE, _URL):
        prose = _hidden(pattern, prose)
    prose = _without_mail(prose)
    prose = _without_chat(prose)
    prose = _without_introduced(prose)
    return _without_speech(prose)


def _hidden(pattern: "re.Pattern[str] | re2._Regexp[str]", prose: str) -> str:
    return pattern.sub(lambda match: HIDDEN * len(match.group()), prose)


def _without_mail(prose: str) -> str:
    mail = _MAIL.search(prose)
    return _hide(prose, mail.start(), len(prose)) if mail else prose


def _without_chat(prose: str) -> str:
    """Hide lines "Name: text" where at least two of them follow one another."""
    lines = list(_CHAT_LINE.finditer(prose))
    for one, two in pairwise(lines):
        if not prose[one.end() : two.start()].strip():
            prose = _hide(_hide(prose, one.start(), one.end()), two.start(), two.end())
    return prose


def _without_introduced(prose: str) -> str:
    found = next((each for each in _INTRODUCED.finditer(prose) if not _by_speaker(prose, each.start())), None)
    if found is None:
        return prose
    line_end = prose.find("\n", found.end())
    if line_end >= 0 and not prose[found.end() : line_end].strip():
        return _hide(prose, found.end(), len(prose))
    paragraph_end = prose.find("\n\n", found.end())
    return _hide(prose, found.end(), paragraph_end if paragraph_end >= 0 else len(prose))


def _by_speaker(prose: str, verb: int) -> bool:
    """Return True for "as I said:"."""
    return prose[max(0, verb - 20) : verb].casefold().split()[-1:] in (["i"], ["we"])


def _without_speech(prose: str) -> str:
    """Hide what stands in quotation marks, but for a title or a word."""
    for quote in (*_QUOTE.finditer(prose), *_SINGLE_QUOTE.finditer(prose)):
        if _SPEECH.search(quote.group()):
            prose = _hide(prose, quote.start(), quote.end())
    return prose


def _hide(prose: str, start: int, end: int) -> str:
    return prose[:start] + HIDDEN * (end - start) + prose[end:]
