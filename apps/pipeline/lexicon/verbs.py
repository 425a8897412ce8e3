"""English verbs: their forms and the stems of words."""

from functools import lru_cache
from threading import local

import snowballstemmer

from apps.pipeline.lexicon.tables import read_table

_TABLE = read_table("verbs")
_LISTED = [entry.split() for entry in _TABLE["irregular"].split("|")]
# Base form, past tense and past participle of irregular verbs.
_IRREGULAR = {base: (forms[0], forms[-1]) for base, *forms in _LISTED}
_INVARIABLE = frozenset(_TABLE["invariable"].split())
_BASES_IN_ED = frozenset(_TABLE["bases_in_ed"].split())
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
