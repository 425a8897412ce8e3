"""Scenes: what is said while a role is played, by whoever speaks, is said by the role."""

from collections.abc import Iterable, Sequence

import re2

from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction.patterns.quoted_text import printable

_OPENS = re2.compile(
    r"(?i)\b(?:role-?play\w*|(?:pretend|imagine|suppose|let['’]?s (?:say|pretend|play))\b[^.!?\n]{0,80}\byou(?:['’]re| are|['’]ll be| be| play)\b"
    r"|(?:i['’]ll|i will|let me) (?:be|play) the [^.!?\n]{1,60}\byou(?:['’]re| are| be| play)\b)"
)
_CLOSES = re2.compile(
    r"(?i)\b(?:(?:ok|okay|right|and)?,? ?stop(?: it| here| now)?[,.!]|i['’]m me again|(?:end|out) of (?:the )?(?:game|scene|role-?play|character)|back to (?:reality|normal|real life)"
    r"|(?:game|scene|role-?play) over|no more pretending|enough (?:of that|pretending|role-?play\w*))"
)
# The first words of a prompt that gives the assistant a role and describes the speaker's.
_GIVES_A_ROLE = re2.compile(
    r"(?i)^\W*(?:you are (?:now )?(?:an?|the|my) [^.!?\n]*[.!?\n,]|you(?:['’]re| are) (?:reviewing|helping|talking to|speaking to|teaching|interviewing) an?\b"
    r"|(?:please )?(?:act|behave|respond|answer) (?:as|like) (?:an?|the|if)\b|I want you to (?:act|play|pretend|be an?)\b|your (?:role|task|job) is\b)"
)


def is_in_scene(earlier: Iterable[SourceTurn]) -> bool:
    """Return True if a scene was opened in an earlier turn and not closed since."""
    playing = False
    for turn in earlier:
        playing = _still_open(printable(turn.content), playing=playing)
    return playing


def own_part(text: str, *, earlier: Sequence[SourceTurn]) -> str:
    """Return what a turn says outside scenes: all before one is opened, and all after one is closed."""
    if is_in_scene(earlier):
        closed = _CLOSES.search(text)
        return text[closed.end() :] if closed else ""
    return text


def gives_a_role(text: str) -> bool:
    """Return True if a turn begins by giving the assistant a role: it sets a scene and tells of nobody's life."""
    return _GIVES_A_ROLE.match(text) is not None


def _still_open(text: str, *, playing: bool) -> bool:
    opened, closed = _last_end(_OPENS, text), _last_end(_CLOSES, text)
    return playing if opened == closed else opened > closed


def _last_end(pattern: "re2._Regexp[str]", text: str) -> int:
    return max((found.end() for found in pattern.finditer(text)), default=-1)
