"""Grounding: whether a sentence follows from the turn that it is said to come from, by the words that they share."""

import re
from collections.abc import Iterable

from apps.pipeline.core.enums import EntityType
from apps.pipeline.lexicon.function_words import SMALL
from apps.pipeline.lexicon.language import is_english
from apps.pipeline.lexicon.synonyms import SYNONYMS
from apps.pipeline.lexicon.verbs import root

_STEM = 4  # letters that two forms of a word share: "vegetarian" and "Vegetarierin"
_GENERAL = " ".join(("user", "assistant", *EntityType))  # "Priya is a person" says no more than her name
_WORD = re.compile(r"[^\W_]+")


def follows(content: str, *, said: Iterable[str], subject: str) -> bool:
    """Return True if a sentence shares a word with what was said, apart from its subject.

    Only English turns are compared, since the sentence is in English whatever the language of the turn.
    """
    texts = tuple(said)
    if not all(map(is_english, texts)):
        return True
    own = _stems(content) - _stems(f"{subject} {_GENERAL}")
    return not own or bool(own & _stems(" ".join(texts)))


def _stems(text: str) -> set[str]:
    words = {word for word in map(str.casefold, _WORD.findall(text)) if word not in SMALL}
    forms = words | {root(word) for word in words} | {SYNONYMS.get(root(word), word) for word in words}
    return {form if form.isdigit() else form[:_STEM] for form in forms}
