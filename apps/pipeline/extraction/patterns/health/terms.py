"""Where a text names a medicine, a condition or a reaction of the body."""

from collections.abc import Iterator
from dataclasses import dataclass

import re2

from apps.pipeline.lexicon.health_terms import CONDITION_NOUNS, MEDICINE
from apps.pipeline.lexicon.medical_names import condition_length, is_medicine, may_start_condition

MOST_TERMS = 6  # of a clause; more are a pasted list
_SHORTEST = 4  # letters of the name of a medicine
_WORD = re2.compile(r"\p{L}[\p{L}\d'’-]*")
# Medicines that are called by what they are: "blue inhaler", "alendronic acid", "blood thinners".
_FORM = r"(?:inhalers?|puffer|patch|patches|drops|ointment|nasal spray|injections?|jabs?|insulin)"
_OF_A_KIND = re2.compile(
    rf"(?i)\b(?:(?P<kind>(?:blue|brown|purple|orange|green|steroid|insulin|nicotine|hormone|eye|ear|nose|\p{{L}}+(?:ine|ol|in)) {_FORM})"
    r"|(?P<acid>\p{L}{4,}ic acid)|(?P<class>blood thinners?|beta[ -]blockers?|vitamin [a-z]\d*))\b"
)
_STEM = re2.compile(rf"(?i)^{MEDICINE}$")
_CONDITION = re2.compile(rf"(?i)\b(?:{CONDITION_NOUNS}|a[- ]fib|afib|copd|hypothyroid\w*|neuropathy|hashimoto'?s?)\b")
_NO_CONDITIONS = frozenset("nervous system order surgery".split())
# "is irritable bowel syndrome"
_LEADING = re2.compile(
    r"(?i)^(?:(?:it['’]?s|is|are|was|a|an|the|my|his|her|this|that|of|has|have|had|with|and|or|got|get|so|also) )+"
)
_WITH_ARTICLE = re2.compile(r"(?i)^a[- ]fib")  # atrial fibrillation, as it is called
SYMPTOM = (
    r"(?:rash(?:es)?|hives|itch(?:y|ing|es)?|blister(?:s|ed)?|weals?|(?:stomach|muscle|joint|chest|back) (?:pains?|aches?)|swell(?:s|ing)?|swelled|swollen|puff(?:y|s up)|wheez(?:e|es|ing|y)|short of breath|breathless"
    r"|sick|vomit\w*|nausea|nauseous|queasy|throw(?:s|ing)? up|threw up|diarrh?oea|the runs|constipat\w+|bloat(?:s|ed|ing)?|cramps?|heartburn|reflux|gastritis|ulcers?"
    r"|migraines?|headaches?|dizzy|dizziness|drowsy|faint|nightmares|palpitations|red (?:all over|everywhere)|spots|welts|anaphyla\w+|stomach aches?|bad stomach|gag|sneez(?:e|es|ing)"
    r"|cough(?:ing)?|sleepless|jittery|tired|ill|unwell)"
)


def start_of(found: "re2._Match[str]", group: str) -> int:
    """Return where a named group starts; RE2 knows the places of numbered groups only."""
    return int(found.start(found.re.groupindex[group]))


def end_of(found: "re2._Match[str]", group: str) -> int:
    """Return where a named group ends."""
    return int(found.end(found.re.groupindex[group]))


@dataclass(frozen=True, slots=True)
class Term:
    """A name in a text, and where it stands."""

    text: str
    start: int
    end: int


def medicines_in(text: str) -> Iterator[Term]:
    """Yield the medicines that a text names, in order."""
    taken = 0
    kinds = {found.start(): found for found in _OF_A_KIND.finditer(text)}
    for found in _WORD.finditer(text):
        if found.start() < taken:
            continue
        kind = kinds.get(found.start()) if kinds else None
        if kind is None and found.end() - found.start() < _SHORTEST:
            continue
        word = found.group().removesuffix("'s").removesuffix("’s")
        if kind is not None:
            taken = kind.end()
            yield Term(kind.group(), kind.start(), kind.end())
        elif len(word) > 5 and word.endswith("s") and is_medicine(word[:-1]):
            yield Term(word[:-1], found.start(), found.start() + len(word))
        elif len(word) > 3 and (is_medicine(word) or _STEM.match(word)):
            yield Term(word, found.start(), found.start() + len(word))


def conditions_in(text: str) -> Iterator[Term]:
    """Yield the conditions that a text names, in order, the longest names."""
    taken = 0
    known = {found.start(): found for found in _CONDITION.finditer(text)}
    words = tuple(_WORD.finditer(text))
    for place, word in enumerate(words):
        if word.start() < taken:
            continue
        noun = known.get(word.start())
        if noun is None and not may_start_condition(word.group()):
            continue
        length = condition_length([each.group() for each in words[place : place + 3]])
        end = words[place + length - 1].end() if length else 0
        end = max(end, noun.end() if noun else 0)
        if end and text[word.start() : end].lower() not in _NO_CONDITIONS:
            taken = end
            said = text[word.start() : end]
            bare = said if _WITH_ARTICLE.match(said) else _LEADING.sub("", said)
            yield Term(bare, end - len(bare), end)
