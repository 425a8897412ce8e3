"""Stems for the comparison of words of two sentences."""

import re
from functools import lru_cache

from apps.pipeline.lexicon.function_words import SMALL
from apps.pipeline.lexicon.synonyms import SYNONYMS
from apps.pipeline.lexicon.verbs import root

_STEM = 4  # letters shared by two forms of a word: "vegetarian" and "Vegetarierin"
_WORD = re.compile(r"[^\W_]+")


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
