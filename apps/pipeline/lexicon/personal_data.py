"""What people call data about themselves, under one name in all languages."""

from apps.pipeline.lexicon.phrasebook import phrasebook, replace_phrases
from apps.pipeline.lexicon.tables import read_table
from apps.pipeline.lexicon.translation import GRAMMARS

_TABLE = read_table("personal_data")
_BOOK = phrasebook((form, name) for name, forms in _TABLE["names"].items() for form in forms.split("|"))
_NOUNS = {words[0]: grammar.words[words] for grammar in GRAMMARS for words in grammar.nouns if len(words) == 1}
_VERBS = {words[0]: english for grammar in GRAMMARS for words, english in grammar.verbs.items() if len(words) == 1}
DATA = frozenset(_TABLE["names"]) | frozenset(_TABLE["predicates"])
PREDICATES = {name: frozenset(predicates.split()) for name, predicates in _TABLE["predicates"].items()}


def with_common_names(text: str) -> str:
    """Return a text in which data about people have their English names: "adresse mail" is "email"."""
    return replace_phrases(text, _BOOK)


def english_word(word: str) -> str:
    """Return the English of a German, French or Spanish noun or verb in lower case; other words stay as they are."""
    english = _NOUNS.get(word) or _VERBS.get(word) or word
    return str(english).replace("_", " ").split()[0]
