"""Residuals: the words that only one of two similar sentences has, without names and function words."""

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.lexicon.antonyms import SCALES
from apps.pipeline.lexicon.contrast_words import BE, HAVE, NEGATIONS, OPENERS, TIMES, UNITS, WITHOUT
from apps.pipeline.lexicon.function_words import FRAME, LIGHT, SMALL, SUPPORT
from apps.pipeline.lexicon.normalization import normalize
from apps.pipeline.lexicon.synonyms import meaning_of
from apps.pipeline.lexicon.verbs import stem

_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_IGNORED = OPENERS | SMALL | NEGATIONS | WITHOUT | {"s"}  # whatever else they say is compared by difference checks
_LIGHT = LIGHT | frozenset(map(meaning_of, LIGHT))
_SUPPORT = SUPPORT | frozenset(map(meaning_of, SUPPORT))
_NO_VERBS = BE | HAVE | {"goes", "go", "went"}
_PARTICLES = frozenset("out off up down away back over".split())
_FRAME = FRAME | frozenset(map(meaning_of, FRAME))
# Two words with a common root share at least this many letters, and neither has more than these after them.
_ROOT, _ENDING = 5, 2


def distinct_words(one: str, two: str) -> tuple[str, str]:
    """Return the words that only one of the sentences has: "researching" and "applied".

    Words with the same root or meaning, and words at the same point of a scale such as "loves" and "enjoys", are no
    difference. A part is empty if the other sentence contains all of it.
    """
    first, second = _both(one, two)
    return _words(first, other=second), _words(second, other=first)


def adds_nothing(rest: str, *, to: str) -> bool:
    """Return True if the words of a residual add nothing worth storing: "speaks", "people", "time"."""
    plain = frozenset(_read(to).words)
    light = _LIGHT if plain & _NO_VERBS else _LIGHT | _SUPPORT
    return all(meaning_of(word) in light for word in rest.split())


def makes_another(rest: str) -> bool:
    """Return True if the words of a residual make it another statement: "passed", "passed out"."""
    return all(meaning_of(word) in _FRAME or word in _PARTICLES for word in rest.split())


def shares_topic(one: str, two: str) -> bool:
    """Return True if two sentences share more content words than either has for itself.

    The person at the beginning, pronouns, days, numbers and very frequent verbs don't count: "User's name is Ana" is
    not related to every other statement about Ana.
    """
    shared = shared_words(one, two)
    return bool(shared) and max(len(rest.split()) for rest in distinct_words(one, two)) <= min(_MOST_OWN, 2 * shared)


_MOST_OWN = 3


def shared_words(one: str, two: str) -> int:
    """Count the content words and names that two sentences share, without the person whom they are about."""
    first, second = _both(one, two)
    words = {meaning for meaning in first if any(_one_root(meaning, each) for each in second)}
    names = (_names_said(one) & _names_said(two)) - _opening(one) - _opening(two)
    return sum(meaning not in _FRAME and meaning not in _WHEN for meaning in words) + len(names)


_WHEN = frozenset(TIMES.values()) | frozenset(UNITS.values())


@dataclass(frozen=True, slots=True)
class _Read:
    """The words of a normalized sentence in their order: lower-case words, and capitalised ones."""

    words: tuple[str, ...]
    names: tuple[str, ...]
    lower: frozenset[str]


@lru_cache(maxsize=16_384)
def _read(text: str) -> _Read:
    words = _WORD.findall(normalize(text))
    lower = [word for word in words if not word[0].isupper()]
    return _Read(tuple(words), tuple(word for word in words if word[0].isupper()), frozenset(lower))


def _names_said(text: str) -> frozenset[str]:
    return frozenset(name for name in _read(text).names if name.lower() not in _NOBODY)


@lru_cache(maxsize=16_384)
def _opening(text: str) -> frozenset[str]:
    """Return the names that open a sentence: almost all sentences about a person share them."""
    return frozenset(takewhile(lambda word: word[0].isupper(), _told(text)))


def _told(text: str) -> list[str]:
    return [word for word in _read(text).words if word != "s"]


_NOBODY = SMALL | FRAME | frozenset(TIMES) | {"user"}  # in any spelling: "We", "It", "May"


@lru_cache(maxsize=4_096)
def _both(one: str, two: str) -> tuple[dict[str, str], dict[str, str]]:
    return _by_meaning(one, _read(two).lower), _by_meaning(two, _read(one).lower)


def _by_meaning(text: str, other: frozenset[str]) -> dict[str, str]:
    """Map the meaning of each content word to the word; names are compared elsewhere and left out."""
    lowered = [word.lower() for word in _read(text).words if not word[0].isupper() or word.lower() in other]
    told = [part for word in lowered for part in (word.split("-") if word not in SCALES else (word,))]
    return {_meaning(word): word for word in told if word not in _IGNORED and not word[0].isdigit()}


def _words(words: dict[str, str], *, other: dict[str, str]) -> str:
    return " ".join(
        sorted(word for meaning, word in words.items() if not any(_one_root(meaning, each) for each in other))
    )


def _one_root(one: str, two: str) -> bool:
    if one == two:
        return True
    shared = next(
        (place for place, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two))
    )
    return shared >= _ROOT and max(len(one), len(two)) - shared <= _ENDING


@lru_cache(maxsize=16_384)
def _meaning(word: str) -> str:
    return TIMES.get(word) or UNITS.get(word) or meaning_of(word)


@lru_cache(maxsize=4_096)
def stems(text: str) -> frozenset[str]:
    """Return the stems of the words of a text (Snowball's English stemmer), without very short words."""
    words = [word for word in canonical_text(text).split() if len(word) > 2 or word.isdigit()]
    return frozenset(map(stem, words))
