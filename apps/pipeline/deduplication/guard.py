"""The guard: two sentences that differ in a number, a date, a negation or a name never become one memory silently.

It proves differences only. That two sentences say the same is proved by equal words, or decided by a judge or a person.
"""

import re
from enum import StrEnum
from functools import lru_cache

from apps.pipeline.core.canonical import canonical_text, signed_words
from apps.pipeline.lexicon import calendar, language
from apps.pipeline.lexicon.calendar import normalize_times
from apps.pipeline.lexicon.numerals import in_digits
from apps.pipeline.lexicon.tables import FRAME, SMALL
from apps.pipeline.lexicon.word_stems import stem


class Difference(StrEnum):
    """An aspect in which two similar sentences can differ in meaning."""

    NUMBER = "number"
    DATE = "date"
    NEGATION = "negation"
    NAME = "name"


_WORD = re.compile(r"\d(?:[\d.,:]*\d)?|[^\W\d_]+")
_JOINED = re.compile(r"(?<=[^\W\d_])[-‑](?=[^\W\d_])")  # "seven-year-old" has the number 7
_CONTRACTED = re.compile(r"n['’]t\b")
_RELATIVE_TIMES = frozenset("yesterday today tomorrow tonight last next ago morning afternoon evening night".split())
_DATES = calendar.NAMES | {
    word: word for word in (*_RELATIVE_TIMES, "weekend", "weekday", "noon", "midnight", "since", "until")
}
_ENDINGS = frozenset("stop stops stopped quit quits ended finished anymore cancelled canceled abandoned".split())
_NEGATIONS = (
    frozenset("no not never none nothing nobody nowhere neither nor without cannot former formerly ex".split())
    | _ENDINGS
    | language.NEGATIONS
    | language.WITHOUT
)
_MONTH_OF_MAY = "May"
_WEIGHTLESS = frozenset("a an the really very quite also just that".split())
_NO_NAMES = SMALL | frozenset("before after both every whenever although i".split())


def differences(one: str, two: str) -> frozenset[Difference]:
    """Return the aspects in which two sentences differ; their order does not matter."""
    found = {
        Difference.NUMBER: numbers(one) != numbers(two),
        Difference.DATE: _dates(one) != _dates(two),
        Difference.NEGATION: _is_negated(one) is not _is_negated(two),
        Difference.NAME: _names(one, two) != _names(two, one),
    }
    return frozenset(difference for difference, differs in found.items() if differs)


def exclusions(one: str, two: str) -> frozenset[Difference]:
    """Return the differences by which two sentences exclude each other.

    A sentence with fewer numbers, dates or names is not excluded: it may only be less precise. Nor are the same names
    in another order.
    """
    compared = {
        Difference.NUMBER: (numbers(one), numbers(two)),
        Difference.DATE: (_dates(one), _dates(two)),
        Difference.NAME: (frozenset(_names(one, two)), frozenset(_names(two, one))),
    }
    nested = {each for each, (first, second) in compared.items() if first <= second or second <= first}
    return differences(one, two) - nested


@lru_cache(maxsize=16_384)
def plain_words(text: str) -> tuple[str, ...]:
    """Return the words of a sentence in their order, in one spelling: "The 2 cats" and "Two cats" have the same."""
    folded = (_plain_number(word) if word[0].isdigit() else word.casefold() for word in _words(text))
    return (*(word for word in folded if word not in _WEIGHTLESS), *signed_words(text))


def tells_relative_time(text: str) -> bool:
    """Return True if a sentence has a time that is relative to the day on which it was said."""
    return not _RELATIVE_TIMES.isdisjoint(_dates(text))


def tells_end(text: str) -> bool:
    """Return True if a sentence says that something was cancelled or is over."""
    return not _ENDINGS.isdisjoint(word.casefold() for word in _words(text))


def precision_of(text: str) -> int:
    """Measure how precise a sentence is: the number of its content words, with numbers and dates counted twice."""
    content = {word.casefold() for word in _words(text) if len(word) > 3} - SMALL
    return len(content) + 2 * len(numbers(text)) + 2 * len(_dates(text))


def tells_more(sentence: str, *, than: str) -> bool:
    """Return True if a sentence is more precise than another one, or repeats it and adds to it."""
    words, fewer = plain_words(sentence), plain_words(than)
    repeats = words[: len(fewer)] == fewer or (set(fewer) <= set(words) and _is_negated(sentence) is _is_negated(than))
    return precision_of(sentence) > precision_of(than) or (repeats and len(words) > len(fewer))


def content_words(text: str) -> frozenset[str]:
    """Return the stems of the words of a text, without function words and very frequent ones."""
    return stems(text) - _COMMON


@lru_cache(maxsize=16_384)
def stems(text: str) -> frozenset[str]:
    """Return the stems of the words of a text, without very short ones."""
    words = (word for word in canonical_text(text).split() if len(word) > 2 or word.isdigit())
    return frozenset(map(stem, words))


@lru_cache(maxsize=16_384)
def _words(text: str) -> tuple[str, ...]:
    """Return the words of a sentence with one spelling of numbers, dates, hours and "not"."""
    plain = _JOINED.sub(" ", _CONTRACTED.sub(" not", text))
    return tuple(_WORD.findall(normalize_times(in_digits(plain))))


@lru_cache(maxsize=16_384)
def numbers(text: str) -> frozenset[str]:
    """Return the numbers of a sentence, in digits and without thousands separators, and its words with a sign."""
    return frozenset(_plain_number(word) for word in _words(text) if word[0].isdigit()) | frozenset(signed_words(text))


def _plain_number(word: str) -> str:
    if re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", word):
        return re.sub(r"[.,]", "", word)
    return word.replace(",", ".").removesuffix(".00").lstrip("0") or "0"


@lru_cache(maxsize=16_384)
def _dates(text: str) -> frozenset[str]:
    may = {"may"} if _MONTH_OF_MAY in _words(text)[1:] else set()
    return frozenset(may | {_DATES[word.casefold()] for word in _words(text) if word.casefold() in _DATES})


def _is_negated(text: str) -> bool:
    return any(word.casefold() in _NEGATIONS for word in _words(text))


def _names(text: str, other: str) -> tuple[str, ...]:
    """Return the capitalised words in their order, except those that the other sentence has in lower case."""
    lower = set(_words(other))
    return tuple(
        word.casefold()
        for word in _words(text)
        if word[0].isupper() and word.casefold() not in lower
        if word.casefold() not in _NO_NAMES and word.casefold() not in _DATES and word != _MONTH_OF_MAY
    )


_COMMON = stems(" ".join(SMALL | FRAME)) | {"and"}
