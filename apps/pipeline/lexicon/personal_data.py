"""What people call data about themselves, under one name in all languages."""

import re

from apps.pipeline.core.plain_letters import plain_letters
from apps.pipeline.lexicon.tables import alternation, read_table

_TABLE = read_table("personal_data")
_NAMES = {plain_letters(form): name for name, forms in reversed(_TABLE["names"].items()) for form in forms.split("|")}
_FORM = re.compile(rf"(?<![\w-])(?:{alternation(_NAMES)})(?![\w-])")
DATA = frozenset(_TABLE["names"]) | frozenset(_TABLE["predicates"])
PREDICATES = {name: frozenset(predicates.split()) for name, predicates in _TABLE["predicates"].items()}


def with_common_names(text: str) -> str:
    """Return a text in plain letters in which data about people have English names: "adresse mail" is "email"."""
    return _FORM.sub(lambda found: _NAMES[found.group()], plain_letters(text))
