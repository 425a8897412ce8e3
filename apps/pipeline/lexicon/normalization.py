"""Normalization: rewrite the variants of English to one form, so that two sentences can be compared by their words."""

import re
from collections.abc import Iterator
from functools import lru_cache

from apps.pipeline.lexicon.numerals import in_digits
from apps.pipeline.lexicon.phrasebook import phrasebook, replace_phrases
from apps.pipeline.lexicon.sentence_forms import normalize_form
from apps.pipeline.lexicon.tables import read_table
from apps.pipeline.lexicon.time_formats import normalize_times
from apps.pipeline.lexicon.verbs import forms_of, in_form

_TABLE = read_table("phrases")
_NEGATED = re.compile(r"\b(\w+)n't\b")


@lru_cache(maxsize=16_384)
def normalize(text: str) -> str:
    """Return a sentence with one spelling of numbers, dates and hours, without contractions, idioms and passives.

    Names and words that are in no table stay as they are.
    """
    text = text.replace("’", "'")
    text = _NEGATED.sub(r"\1 not", replace_phrases(text, _CONTRACTIONS))
    text = normalize_times(in_digits(text))
    text = replace_phrases(text, _PHRASES)
    return normalize_form(replace_phrases(text, _PHRASES) if " not " in text else text)


def _entries() -> Iterator[tuple[str, str]]:
    """Yield each phrase with its replacement; verb phrases in all forms, with and without "not" after "be"."""
    for replacement, phrases in _TABLE["verb_phrases"].items():
        for phrase in phrases:
            yield from _in_all_forms(phrase, replacement)
    for replacement, phrases in _TABLE["phrases"].items():
        for phrase in phrases:
            yield phrase, replacement
    for phrase in _TABLE["kept"]["phrases"]:
        yield phrase, phrase
    for word in _TABLE["dropped"]["intensifiers"]:
        yield word, ""


def _in_all_forms(phrase: str, replacement: str) -> Iterator[tuple[str, str]]:
    verb, _, rest = phrase.partition(" ")
    new_verb, _, new_rest = replacement.partition(" ")
    for form, ending in ({"can": "s"} if verb == "can" else forms_of(verb)).items():
        new = f"{in_form(new_verb, ending)} {new_rest}".strip()
        yield f"{form} {rest}".strip(), new
        if verb == "be" and not rest.startswith("not "):
            yield f"{form} not {rest}", f"not {new}"


_PHRASES = phrasebook(_entries())
_CONTRACTIONS = phrasebook(
    (phrase, replacement) for replacement, phrases in _TABLE["contractions"].items() for phrase in phrases
)
