"""Residue: the words in which two alike sentences differ once names and small words are taken away."""

import re
from functools import lru_cache

import snowballstemmer

from apps.pipeline.canonical import canonical_text
from apps.pipeline.contrasts import A_WISH, NUMBER_WORDS, OPENERS, SCALES, TIMES, UNITS
from apps.pipeline.synonyms import MEANINGS, SMALL, in_plain_words

_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_IGNORED = OPENERS | SMALL
# Two words of one root: they share this many letters, and neither goes on for more than these.
_ROOT, _ENDING = 5, 2


def residue(one: str, two: str) -> tuple[str, str]:
    """Return what each sentence says that the other does not: "researching" and "applied".

    Words of one root or meaning, and words at one point of a scale such as "loves" and "enjoys", are no difference.
    Either part is empty where the other sentence says all of it.
    """
    first, second = _by_meaning(one, _lower(two)), _by_meaning(two, _lower(one))
    return _words(first, other=second), _words(second, other=first)


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


@lru_cache(maxsize=4_096)
def _lower(text: str) -> frozenset[str]:
    return frozenset(word for word in _WORD.findall(in_plain_words(text)) if not word[0].isupper())


def _by_meaning(text: str, other: frozenset[str]) -> dict[str, str]:
    """Map the meaning of each telling word to the word; names tell apart elsewhere and are left out."""
    words = _WORD.findall(in_plain_words(A_WISH.sub("wants", text)))
    lowered = [word.lower() for word in words if not word[0].isupper() or word.lower() in other]
    told = [part for word in lowered for part in (word.split("-") if word not in SCALES else (word,))]
    return {_meaning(word): word for word in told if word not in _IGNORED and not _is_number(word)}


def _is_number(word: str) -> bool:
    """Tell whether a guard has compared the word already."""
    return word[0].isdigit() or word in NUMBER_WORDS


def _meaning(word: str) -> str:
    word = word if word in SCALES else MEANINGS.get(word, word)
    if word in SCALES:
        scale, point = SCALES[word]
        return f"{scale} {point}"
    return TIMES.get(word) or UNITS.get(word) or _stem(word)


@lru_cache(maxsize=4_096)
def stems(text: str) -> frozenset[str]:
    """Return the stems of the words of a text (Snowball's English stemmer), without the shortest words."""
    words = [word for word in canonical_text(text).split() if len(word) > 2 or word.isdigit()]
    return frozenset(map(_stem, words))


@lru_cache(maxsize=16_384)
def _stem(word: str) -> str:
    """Return the stem of a word, by a stemmer of its own: it keeps the word in itself, so threads can't share one."""
    return str(snowballstemmer.stemmer("english").stemWord(word))
