"""Find a speaker's own words in a turn: one step per kind of others' words, each on what the previous steps left."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.provenance.announcements import announced
from apps.pipeline.provenance.blocks import data, delimited, fences, marked_lines, markup
from apps.pipeline.provenance.mails import mails
from apps.pipeline.provenance.quotations import addresses, quotations
from apps.pipeline.provenance.role_play import end_of_scene, is_in_scene, scenes
from apps.pipeline.provenance.spans import HIDDEN, ForeignKind, ForeignSpan, TurnWords, hide
from apps.pipeline.provenance.transcripts import claims_role, forged_roles, transcripts

_STEPS: tuple[Callable[[str], Iterator[ForeignSpan]], ...] = (
    fences,
    data,
    forged_roles,
    markup,
    marked_lines,
    delimited,
    mails,
    transcripts,
    announced,
    quotations,
    addresses,
)
_SENTENCE_END = re.compile(r"[.!?…]\W{0,2}$")
_NO_CHARACTER = re.compile(r"[\ud800-\udfff]")  # lone surrogates, which can't be encoded


def words_of(turn: SourceTurn, *, earlier: Sequence[SourceTurn] = ()) -> TurnWords:
    """Return the words of a turn; `earlier` are turns of the same speaker, oldest first, which may have opened a scene.

    A turn whose speaker has the name of a role ("System") has no own words.
    """
    if claims_role(turn.speaker):
        span = ForeignSpan(0, len(turn.content), ForeignKind.FORGED_ROLE)
        return TurnWords(turn.content, (span,), HIDDEN * len(turn.content))
    return read_words(turn.content, is_playing=is_in_scene(printable(each.content) for each in earlier))


@lru_cache(maxsize=64)
def read_words(text: str, *, is_playing: bool = False) -> TurnWords:
    """Find the spans of a text that are not its author's own words, in time linear in its length."""
    prose = printable(text.replace(HIDDEN, " "))
    spans: list[ForeignSpan] = []
    for step in _STEPS:
        found = tuple(step(prose))
        spans += found
        prose = hide(prose, found)
    played = tuple(scenes(prose, is_playing=is_playing))
    prose = hide(prose, played)
    return TurnWords(text, (*spans, *played), _cut_after_quotations(prose, text, spans))


def _cut_after_quotations(prose: str, text: str, spans: Sequence[ForeignSpan]) -> str:
    """Put a line break at the end of each quotation that ends a sentence, so that a new sentence begins after it."""
    ends = [
        span.end
        for span in spans
        if span.kind is ForeignKind.QUOTATION
        and _SENTENCE_END.search(text[: span.end][-4:])
        and text[span.end :].strip()
    ]
    characters = list(prose)
    for end in ends:
        characters[end - 1] = "\n"
    return "".join(characters)


def own_prose(text: str) -> str:
    """Return a text with everything but its author's own words hidden."""
    return read_words(text).prose


def printable(text: str) -> str:
    """Return a text with lone surrogates hidden."""
    return _NO_CHARACTER.sub(HIDDEN, text)


def spoken_outside_scenes(turn: SourceTurn, *, earlier: Sequence[SourceTurn], most: int) -> str:
    """Return a turn's text, at most `most` characters, outside of a scene that an earlier turn has opened.

    A turn whose speaker has the name of a role has no text.
    """
    text = printable(turn.content[:most])
    if claims_role(turn.speaker):
        return ""
    return text[end_of_scene(text) :] if is_in_scene(printable(each.content) for each in earlier) else text
