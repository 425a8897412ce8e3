"""Stems for the comparison of words of two sentences."""

import re

from apps.pipeline.lexicon.function_words import SMALL
from apps.pipeline.lexicon.synonyms import SYNONYMS
from apps.pipeline.lexicon.verbs import root

_STEM = 4  # letters shared by two forms of a word: "vegetarian" and "Vegetarierin"
_WORD = re.compile(r"[^\W_]+")


def stems(text: str) -> set[str]:
    """Return the stems of the content words of a text, each with that of its synonym; numbers stay whole."""
    words = {word for word in map(str.casefold, _WORD.findall(text)) if word not in SMALL}
    forms = words | {root(word) for word in words} | {SYNONYMS.get(root(word), word) for word in words}
    return {form if form.isdigit() else form[:_STEM] for form in forms}
