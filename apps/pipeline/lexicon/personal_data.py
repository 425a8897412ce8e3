"""What people call data about themselves, under one name in all languages."""

from apps.pipeline.lexicon.phrasebook import phrasebook, replace_phrases
from apps.pipeline.lexicon.tables import read_table

_TABLE = read_table("personal_data")
_BOOK = phrasebook((form, name) for name, forms in _TABLE["names"].items() for form in forms.split("|"))
DATA = frozenset(_TABLE["names"]) | frozenset(_TABLE["predicates"])
PREDICATES = {name: frozenset(predicates.split()) for name, predicates in _TABLE["predicates"].items()}


def with_common_names(text: str) -> str:
    """Return a text in which data about people have their English names: "adresse mail" is "email"."""
    return replace_phrases(text, _BOOK)
