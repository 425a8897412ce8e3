"""Evidence: whether the user said the words that a model quotes, and in which turn.

Models tidy what they quote: "im lactose intolerant so no milk & cream" comes back as "I'm lactose intolerant, so no
milk and cream". So a quote that was not said to the letter is looked for among the words that are nearly the same.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import unescape

from rapidfuzz import fuzz

from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.lexicon.function_words import SMALL

LEAST_LETTERS = 3  # minimal length of a content word, unless it is a number, an acronym or in another script
_LAST_LATIN = "\u024f"
_ELLIPSIS = re.compile(r"\s*(?:…|\.{3,}|\[…\]|\[\.{3}\])\s*")
_MARKS = " \t\n\"'“”‘’«»„`"
_CLAUSE_ENDS = re.compile(r"[.,;:!?…\n]")
_ASKS = re.compile(r"[?？]")
_APOSTROPHE = re.compile(r"(?<=\w)['’‘`´](?=\w)")
_WORD = re.compile(r"[\w'’]+")
_NEGATION = re.compile(
    r"(?i)\b(?:no|not|never|none|nobody|nothing|cannot|without|\w+n['’]t|(?:do|does|did|is|are|was|were|has|have|had|wo|would|ca"
    r"|could|should)nt|kein\w*|nicht|nie|pas|jamais|nunca)\b"
)
_DIGIT = re.compile(r"\d")
LEAST_TIDIED_LETTERS = 10  # shorter quotes are compared to the letter: too many others are near
LEAST_SIMILARITY = 82.0  # percent of the letters of a tidied quote; a typo or "I am" for "im" costs a few
LEAST_WORDS = 3  # content words of a quote that was put together from several places
LEAST_SHARED_WORDS = 0.8  # of these words that one turn must have
MOST_SPAN = 300  # characters between the first and the last of these words


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of the user, and the turn that contains them; without `is_whole`, the quote has others in between."""

    turn: SourceTurn
    words: str
    is_whole: bool = True


@dataclass(frozen=True, slots=True)
class QuotableTurn:
    """A turn that may be quoted, with the one before it, which explains what "yes" means."""

    turn: SourceTurn
    before: SourceTurn | None = None


def find_quote(quote: str, *, turns: Sequence[QuotableTurn]) -> Quote | None:
    """Return the first of the turns that contains a quote, with the quoted words, or None.

    Case, white space, punctuation, quotation marks and labels such as "User:" are ignored; an ellipsis replaces omitted
    words. A quote may begin with the question before the turn: "Shall I …? … Yes". The user's part of it must have a
    content word, unless it answers that question. Parts of several turns count as words of the last one. A tidied quote
    is returned in the words of the turn.
    """
    for quotable in turns:
        for parts in _readings(quote, speaker=quotable.turn.speaker):
            if words := _words_of_user(parts, quotable):
                return Quote(quotable.turn, words)
    across = (found for parts in _readings(quote, speaker="") if (found := _across_turns(parts, turns)))
    return next(across, None) or _tidied(quote, turns) or _put_together(quote, turns)


def _tidied(quote: str, turns: Iterable[QuotableTurn]) -> Quote | None:
    """Return the words of a turn that differ from a quote by spelling alone; numbers and negations must be equal."""
    wanted = _without_label(quote)
    if len(wanted) < LEAST_TIDIED_LETTERS:
        return None
    for quotable in turns:
        said = quotable.turn.content
        near = fuzz.partial_ratio_alignment(wanted.casefold(), said.casefold(), score_cutoff=LEAST_SIMILARITY)
        if near is None or len(said) < len(wanted) * LEAST_SIMILARITY / 100:
            continue
        words = _whole_words(said, near.dest_start, near.dest_end)
        if _says_the_same(wanted, words) and _says_something((words,), quotable):
            return Quote(quotable.turn, words)
    return None


def _put_together(quote: str, turns: Iterable[QuotableTurn]) -> Quote | None:
    """Return the part of a turn that has nearly all content words of a quote."""
    wanted = [word for word in _WORD.findall(_without_label(quote)) if _has_meaning(word)]
    for quotable in turns:
        said = quotable.turn.content
        places = {_folded(found.group()): found.span() for found in _WORD.finditer(said)}
        shared = [places[_folded(word)] for word in wanted if _folded(word) in places]
        if len(wanted) < LEAST_WORDS or len(shared) < LEAST_SHARED_WORDS * len(wanted):
            continue
        start, end = min(start for start, _ in shared), max(end for _, end in shared)
        words = said[start:end]
        if end - start <= MOST_SPAN and _is_negated(quote) == _is_negated(words):
            return Quote(quotable.turn, words, is_whole=False)
    return None


def _says_the_same(quote: str, words: str) -> bool:
    """Return True if each content word is there, but for a typo, and a negation in both or in none."""
    if _is_negated(quote) != _is_negated(words):
        return False
    said = _folded(words).split()
    return all(
        _folded(word) in said or (not _DIGIT.search(word) and _is_near(_folded(word), said))
        for word in _WORD.findall(quote)
        if _has_meaning(word)
    )


def _is_negated(text: str) -> bool:
    return _NEGATION.search(text) is not None


def _is_near(word: str, others: Sequence[str]) -> bool:
    return any(fuzz.ratio(word, other, score_cutoff=LEAST_SIMILARITY) for other in others)


def _without_label(quote: str) -> str:
    return next(iter(reversed([" … ".join(parts) for parts in _readings(quote, speaker="")])), "")


def _whole_words(text: str, start: int, end: int) -> str:
    """Return a part of a text, extended to the ends of its first and last word."""
    while start > 0 and text[start - 1].isalnum() and text[start : start + 1].isalnum():
        start -= 1
    while end < len(text) and text[end].isalnum() and text[end - 1].isalnum():
        end += 1
    return text[start:end].strip(_MARKS)


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
    folded, place = f" {_folded(text)}", 0
    for part in parts:
        wanted = _folded(part)
        found = folded.find(wanted if wanted[:1] > _LAST_LATIN else f" {wanted}", place)
        if found < 0:
            return False
        place = found + len(wanted)
    return True


def _folded(text: str) -> str:
    """Return a text without case, punctuation and apostrophes: "I'm" and "im" are equal, "&" is "and"."""
    return canonical_text(_APOSTROPHE.sub("", text).replace("&", " and "))


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
