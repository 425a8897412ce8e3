"""English verbs: their forms, their stems, and the third person in which statements are written."""

from functools import lru_cache
from threading import local

import snowballstemmer

from apps.pipeline.lexicon.tables import read_table

_TABLE = read_table("verbs")
# Base form, past tense and past participle of irregular verbs.
_IRREGULAR: dict[str, tuple[str, str]] = {
    base: (forms.split()[0], forms.split()[-1]) for base, forms in _TABLE["irregular"].items()
}
_GROUPS = {name: frozenset(words.split()) for name, words in _TABLE["groups"].items()}
INVARIABLE = _GROUPS["invariable"]
MODALS = _GROUPS["modals"]
_BASE_OF_PAST = {past: base for base, (past, _) in _IRREGULAR.items()} | {"were": "be"}
_BASE_OF_FORM = _BASE_OF_PAST | {participle: base for base, (_, participle) in _IRREGULAR.items()}
PARTICIPLES = frozenset(participle for _, participle in _IRREGULAR.values())
_PLURAL = {"is": "are", "was": "were", "has": "have", "does": "do", "goes": "go"}


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
    if lower in _BASE_OF_PAST or lower in INVARIABLE:
        return True
    return lower.endswith("ed") and len(lower) > 3 and lower not in _GROUPS["bases_in_ed"]


def plural(word: str) -> str:
    """Convert a third-person verb to the plural: lives → live, is → are."""
    if word in _PLURAL:
        return _PLURAL[word]
    if may_be_past(word) or word in MODALS or not word.endswith("s"):
        return word
    return base_form(word)


def base_form(word: str) -> str:
    """Return the base of a third-person or past form, as far as the spelling shows: goes → go."""
    lower = word.lower()
    if lower in _BASE_OF_PAST:
        return _BASE_OF_PAST[lower]
    if lower in ("is", "are", "am"):
        return "be"
    if lower == "has":
        return "have"
    if lower.endswith("ies") and len(lower) > 4:
        return lower[:-3] + "y"
    if lower.endswith(("sses", "xes", "zes", "ches", "shes", "oes")):
        return lower[:-2]
    if lower.endswith("s") and not lower.endswith("ss"):
        return lower[:-1]
    return lower
