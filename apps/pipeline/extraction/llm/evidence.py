"""Evidence: whether the user said the words that a model quotes, how they were meant, and what they support.

Models tidy what they quote: "im lactose intolerant so no milk & cream" comes back as "I'm lactose intolerant, so no
milk and cream". So a quote that was not said to the letter is looked for by its content words.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import unescape
from itertools import pairwise

from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.enums import EntityType, SpeechAct
from apps.pipeline.core.spelling import similarity
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction.plain.own_sentences import sentences_in
from apps.pipeline.language.speech_act import goes_on_mocking, is_mockery, speech_act_of
from apps.pipeline.lexicon.language import NEGATIONS, is_english
from apps.pipeline.lexicon.tables import SMALL
from apps.pipeline.lexicon.word_stems import stems
from apps.pipeline.prompts.sections import ShownTurn

LEAST_LETTERS = 3  # minimal length of a content word, unless it is a number, an acronym or in another script
LEAST_WORDS = 3  # content words of a tidied quote: too many others are near to a shorter one
LEAST_SHARED_WORDS = 0.8  # of these words that one turn must have
LEAST_SIMILARITY = 82.0  # percent of the letters of a word; a typo costs a few
MOST_SPAN = 300  # characters between the first and the last of these words
_LAST_LATIN = "\u024f"
_ELLIPSIS = re.compile(r"\s*(?:…|\.{3,}|\[…\]|\[\.{3}\])\s*")
_MARKS = " \t\n\"'“”‘’«»„`"
_CLAUSE_ENDS = re.compile(r"[.,;:!?…\n]")
_ASKS = re.compile(r"[?？]")
_APOSTROPHE = re.compile(r"(?<=\w)['’‘`´](?=\w)")
_WORD = re.compile(r"[\w'’]+")
_ENGLISH_NEGATION = re.compile(r"(?i)\b(?:no|not|never|none|nobody|nothing|cannot|without|\w+n['’]?t)\b")
_GENERAL = " ".join(("user", "assistant", *EntityType))  # "Priya is a person" says nothing but her name


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of the user, and the turn that contains them; without `is_whole`, the quote has other words as well."""

    turn: SourceTurn
    words: str
    is_whole: bool = True


def find_quote(quote: str, *, turns: Sequence[ShownTurn]) -> Quote | None:
    """Return the first new turn that contains a quote, with the quoted words, or None.

    Case, white space, punctuation, quotation marks and labels such as "User:" are ignored; an ellipsis replaces omitted
    words. The parts of a quote may stand in several turns, as a question and its answer do: "Shall I …? … Yes". They
    count as words of the last one, whose part must have a content word, unless it answers the question before it.
    """
    ordered = sorted(turns, key=lambda each: each.turn.position)
    for number, shown in enumerate(ordered, start=1):
        for parts in _readings(quote, speaker=shown.turn.speaker) if shown.is_new else ():
            own = _own_parts(parts, [each.turn.content for each in ordered[:number]])
            if own and _says_something(own, shown.turn, before=before(shown.turn, ordered)):
                return Quote(shown.turn, " … ".join(own))
    tidied = (_tidied(quote, shown.turn) for shown in ordered if shown.is_new)
    return next(filter(None, tidied), None)


def before(turn: SourceTurn, turns: Iterable[ShownTurn]) -> SourceTurn | None:
    """Return the turn directly before another one in its session, if it is shown."""
    return next((each.turn for each in turns if each.turn.position == turn.position - 1), None)


def _readings(quote: str, *, speaker: str) -> Iterable[tuple[str, ...]]:
    """Yield the parts of a quote unchanged, and unescaped: a prompt shows "<" as "&lt;". Labels are removed."""
    label = re.compile(rf"(?i)^\W*(?:user|human|t\d+{'|' + re.escape(speaker) if speaker else ''})\s*:\s*")
    for text in dict.fromkeys((quote, unescape(quote))):
        for unlabelled in dict.fromkeys((text, label.sub("", text))):
            yield tuple(part for each in _ELLIPSIS.split(unlabelled) if canonical_text(part := each.strip(_MARKS)))


def _own_parts(parts: Sequence[str], texts: Sequence[str]) -> Sequence[str]:
    """Return the parts that the last text contains, if the texts before it contain the parts before them in order."""
    for first in range(len(parts)):
        if not holds(parts[first:], texts[-1]):
            continue
        left = parts[:first]
        for text in texts[:-1]:
            left = next(left[end:] for end in range(len(left), -1, -1) if holds(left[:end], text))
        if not left:
            return parts[first:]
    return ()


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


def _says_something(parts: Sequence[str], turn: SourceTurn, *, before: SourceTurn | None) -> bool:
    """Return True if a quote contains a content word, is the whole turn, or answers the question before it."""
    for part in parts:
        first, *others = re.findall(r"\w+", part)
        if _has_meaning(first) or any(_has_meaning(word) or word[0].isupper() for word in others if word != "I"):
            return True
    quoted, said = canonical_text(" ".join(parts)), turn.content
    is_answer = before is not None and _ASKS.search(before.content) is not None
    return quoted == canonical_text(said) or (is_answer and quoted == canonical_text(_CLAUSE_ENDS.split(said)[0]))


def _has_meaning(word: str) -> bool:
    is_acronym = len(word) > 1 and word.isupper()
    is_long = len(word) >= LEAST_LETTERS and word.casefold() not in SMALL
    return is_long or is_acronym or any(map(str.isdigit, word)) or word[0] > _LAST_LATIN


def _tidied(quote: str, turn: SourceTurn) -> Quote | None:
    """Return the part of a turn that has nearly all content words of a quote, but for typos, and its negation."""
    *_, parts = _readings(quote, speaker=turn.speaker)
    words = (word for part in parts for word in _WORD.findall(part))
    wanted = [_folded(word) for word in words if _has_meaning(word) and word != "and"]  # "&" is no word
    said = list(_WORD.finditer(turn.content))
    folded = [_folded(word.group()) for word in said]
    places: list[int] = []
    for word in wanted:
        least = 100.0 if any(map(str.isdigit, word)) else LEAST_SIMILARITY
        found = [place for place, other in enumerate(folded) if similarity(word, other, least=least)]
        places += [next((place for place in found if place > (places or [-1])[-1]), found[0])] if found else []
    if len(wanted) < LEAST_WORDS or len(places) < LEAST_SHARED_WORDS * len(wanted):
        return None
    if any(word.isdigit() and word not in folded for word in wanted):
        return None
    # Two words before the first one may be its subject and its negation.
    kept = turn.content[said[max(0, min(places) - 2)].start() : said[max(places)].end()]
    if len(kept) > MOST_SPAN or is_negated(quote) != is_negated(kept):
        return None
    return Quote(turn, kept, is_whole=len(places) == len(wanted) and places == sorted(places))


def is_negated(text: str) -> bool:
    """Return True if a text has a negation, in one of the languages that we know."""
    return _ENGLISH_NEGATION.search(text) is not None or not NEGATIONS.isdisjoint(_WORD.findall(text.casefold()))


def follows(content: str, *, quote: str, said: Iterable[str], subject: str) -> bool:
    """Return True if a sentence shares a word with its quote or all that was said, apart from its subject.

    Only English turns are compared, because the sentence is in English whatever the language of the turn.
    """
    own = stems(content) - stems(f"{subject} {_GENERAL}")
    if not own or own & stems(quote):
        return True  # most do: what was said has to be read no further
    texts = tuple(said)
    return not all(map(is_english, texts)) or bool(own & stems(" ".join(texts)))


def speech_act_of_quote(quote: str, *, text: str) -> SpeechAct:
    """Return how the words of a turn are meant, as far as their sentence shows; ASSERTED where nothing does."""
    sentences = pairwise(["", *sentences_in(text)])
    found = ((before, sentence) for before, sentence in sentences if holds((quote,), sentence))
    before, sentence = next(found, ("", quote))
    before, sentence = before.replace("’", "'"), sentence.replace("’", "'")
    if goes_on_mocking(sentence, before=before) or is_mockery(sentence):
        return SpeechAct.SARCASM
    return speech_act_of(sentence) or SpeechAct.ASSERTED
