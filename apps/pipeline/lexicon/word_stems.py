"""Stems of English words, of irregular verbs and of synonyms, for the comparison of the words of two sentences."""

import re
from functools import lru_cache
from threading import local

import snowballstemmer

from apps.pipeline.lexicon.tables import SMALL, read_table

_STEM = 4  # letters shared by two forms of a word: "vegetarian" and "Vegetarierin"
_WORD = re.compile(r"[^\W_]+")
_VERBS = read_table("verbs")
_LISTED = [entry.split() for entry in _VERBS["irregular"].split("|")]
# Base form, past tense and past participle of irregular verbs.
_IRREGULAR = {base: (forms[0], forms[-1]) for base, *forms in _LISTED}
_INVARIABLE = frozenset(_VERBS["invariable"].split())
_BASES_IN_ED = frozenset(_VERBS["bases_in_ed"].split())
_BASE_OF_PAST = {past: base for base, (past, _) in _IRREGULAR.items()} | {"were": "be"}
_BASE_OF_FORM = _BASE_OF_PAST | {participle: base for base, (_, participle) in _IRREGULAR.items()}
PARTICIPLES = frozenset(participle for _, participle in _IRREGULAR.values())


class _Stemmers(local):
    """One stemmer per thread: it keeps the word in itself."""

    def __init__(self) -> None:
        self.english = snowballstemmer.stemmer("english")


_stemmers = _Stemmers()


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """Return the stem of a word (Snowball, English)."""
    return str(_stemmers.english.stemWord(word))


@lru_cache(maxsize=16_384)
def root(word: str) -> str:
    """Return the stem of a word; an irregular form has the stem of its base: "written" has the root of "write"."""
    return stem(_BASE_OF_FORM.get(word, word))


def may_be_past(word: str) -> bool:
    """Return True if a finite verb can be in the past tense; "put" and "found" can."""
    lower = word.lower()
    is_regular = lower.endswith("ed") and len(lower) > 3 and lower not in _BASES_IN_ED
    return is_regular or lower in _BASE_OF_PAST or lower in _INVARIABLE


def _synonyms() -> dict[str, str]:
    """Map the root of each word to the first root of its line; a word of two lines belongs to the first."""
    found: dict[str, str] = {}
    for line in read_table("synonyms")["meanings"].strip().splitlines():
        roots = [root(word) for word in line.split()]
        meaning = found.get(roots[0], roots[0])
        for each in roots:
            found.setdefault(each, meaning)
    return found


# Words that can be exchanged without changing the meaning of a memory, by their roots.
SYNONYMS: dict[str, str] = _synonyms()


def stems(text: str) -> set[str]:
    """Return the stems of the words of a text that have a meaning, each with that of its synonym; numbers are whole."""
    return set().union(*map(_stems_of, _WORD.findall(text)))


@lru_cache(maxsize=16_384)
def _stems_of(word: str) -> frozenset[str]:
    folded = word.casefold()
    if folded in SMALL:
        return frozenset()
    forms = {folded, root(folded), SYNONYMS.get(root(folded), folded)}
    return frozenset(form if form.isdigit() else form[:_STEM] for form in forms)
