"""Evidence: whether the user said the words that a model quotes, and in which turn."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import unescape

from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.lexicon.function_words import SMALL

LEAST_LETTERS = 3  # minimal length of a content word, unless it is a number, an acronym or in another script
_LAST_LATIN = "\u024f"
_ELLIPSIS = re.compile(r"\s*(?:…|\.{3,}|\[…\]|\[\.{3}\])\s*")
_MARKS = " \t\n\"'“”‘’«»„`"
_CLAUSE_ENDS = re.compile(r"[.,;:!?…\n]")
_ASKS = re.compile(r"[?？]")


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of the user, and the turn that contains them."""

    turn: SourceTurn
    words: str


@dataclass(frozen=True, slots=True)
class QuotableTurn:
    """A turn that may be quoted, with the one before it, which explains what "yes" means."""

    turn: SourceTurn
    before: SourceTurn | None = None


def find_quote(quote: str, *, turns: Sequence[QuotableTurn]) -> Quote | None:
    """Return the first of the turns that contains a quote, with the quoted words, or None.

    Case, white space, punctuation, quotation marks and labels such as "User:" are ignored; an ellipsis replaces omitted
    words. A quote may begin with the question before the turn: "Shall I …? … Yes". The user's part of it must have a
    content word, unless it answers that question. Parts of several turns count as words of the last one.
    """
    for quotable in turns:
        for parts in _readings(quote, speaker=quotable.turn.speaker):
            if words := _words_of_user(parts, quotable):
                return Quote(quotable.turn, words)
    return next((found for parts in _readings(quote, speaker="") if (found := _across_turns(parts, turns))), None)


def _across_turns(parts: Sequence[str], turns: Iterable[QuotableTurn]) -> Quote | None:
    """Return the last of the turns that contain the parts one after the other, with its part of the words."""
    left, quote = tuple(parts), None
    for quotable in sorted({each.turn.id: each for each in turns}.values(), key=lambda each: each.turn.position):
        held = next((end for end in range(len(left), 0, -1) if holds(left[:end], quotable.turn.content)), 0)
        if held and _says_something(left[:held], quotable):
            quote, left = Quote(quotable.turn, " … ".join(left[:held])), left[held:]
    return None if left else quote


def _readings(quote: str, *, speaker: str) -> Iterable[tuple[str, ...]]:
    """Yield the parts of a quote unchanged, and unescaped: a prompt shows "<" as "&lt;". Labels are removed."""
    label = re.compile(rf"(?i)^\W*(?:user|human|t\d+{'|' + re.escape(speaker) if speaker else ''})\s*:\s*")
    for text in dict.fromkeys((quote, unescape(quote))):
        for unlabelled in dict.fromkeys((text, label.sub("", text))):
            yield tuple(part for each in _ELLIPSIS.split(unlabelled) if canonical_text(part := each.strip(_MARKS)))


def _words_of_user(parts: Sequence[str], quotable: QuotableTurn) -> str:
    """Return the parts that the turn contains, if any parts before them are in the previous turn."""
    before = quotable.before.content if quotable.before else ""
    for first in range(len(parts)):
        own = parts[first:]
        if holds(own, quotable.turn.content) and holds(parts[:first], before):
            return " … ".join(own) if _says_something(own, quotable) else ""
    return ""


def holds(parts: Sequence[str], text: str) -> bool:
    """Return True if a text contains all parts in order, each from the beginning of a word."""
    folded, place = f" {canonical_text(text)}", 0
    for part in parts:
        wanted = canonical_text(part)
        found = folded.find(wanted if wanted[:1] > _LAST_LATIN else f" {wanted}", place)
        if found < 0:
            return False
        place = found + len(wanted)
    return True


def _says_something(parts: Sequence[str], quotable: QuotableTurn) -> bool:
    """Return True if a quote contains a content word, is the whole turn, or answers the question before it."""
    if any(map(_is_telling, parts)):
        return True
    quoted, said = canonical_text(" ".join(parts)), quotable.turn.content
    is_answer = quotable.before is not None and _ASKS.search(quotable.before.content) is not None
    return quoted == canonical_text(said) or (is_answer and quoted == canonical_text(_CLAUSE_ENDS.split(said)[0]))


def _is_telling(part: str) -> bool:
    first, *others = re.findall(r"\w+", part)
    return _has_meaning(first) or any(_has_meaning(word) or word[0].isupper() for word in others if word != "I")


def _has_meaning(word: str) -> bool:
    is_acronym = len(word) > 1 and word.isupper()
    is_long = len(word) >= LEAST_LETTERS and word.casefold() not in SMALL
    return is_long or is_acronym or any(map(str.isdigit, word)) or word[0] > _LAST_LATIN
