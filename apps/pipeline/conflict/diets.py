"""Diets and what one eats: who eats fish again is no vegetarian, and who is vegan now has given cheese up."""

from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.enums import Polarity
from apps.pipeline.core.statement import StoredMemory
from apps.pipeline.lexicon.foods import EXCLUDED_BY, kinds_of

_EATING = frozenset({"consumes", "can_have", "eats"})


def ends_diet(memory: StoredMemory, rival: StoredMemory) -> bool:
    """Return True if a new statement of what someone eats excludes one that is known: a diet, or a food left out."""
    if memory.predicate == "diet" and memory.polarity is Polarity.POSITIVE:
        return _is_eaten(rival) and _is_excluded(rival.object_text, by=memory.object_text)
    if not _is_eaten(memory):
        return False
    if rival.predicate == "diet" and rival.polarity is Polarity.POSITIVE:
        return _is_excluded(memory.object_text, by=rival.object_text)
    is_left_out = rival.predicate in _EATING and rival.polarity is Polarity.NEGATIVE
    return is_left_out and bool(_kinds(rival.object_text) & kinds_of(canonical_text(memory.object_text)))


def _is_eaten(memory: StoredMemory) -> bool:
    return memory.predicate in _EATING and memory.polarity is Polarity.POSITIVE


def _is_excluded(food: str, *, by: str) -> bool:
    return not EXCLUDED_BY.get(canonical_text(by), frozenset()).isdisjoint(kinds_of(canonical_text(food)))


def _kinds(text: str) -> frozenset[str]:
    """Return the words of a text: "meat since new year" names meat."""
    return frozenset(canonical_text(text).split())
