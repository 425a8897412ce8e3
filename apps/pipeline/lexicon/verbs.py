"""English verbs: their forms, their stems, and the third person in which statements are written."""

from functools import lru_cache
from threading import local

import snowballstemmer

from apps.pipeline.lexicon.tables import read_table

_TABLE = read_table("verbs")
# Base form, past tense and past participle of irregular verbs.
_IRREGULAR: dict[str, tuple[str, str]] = {
    base: (forms.split()[0], forms.split()[-1]) for base, forms in _TABLE["irregular"].items()
}
_FORMS: dict[str, dict[str, str]] = _TABLE["forms"]
_GROUPS = {name: frozenset(words.split()) for name, words in _TABLE["groups"].items()}
INVARIABLE = _GROUPS["invariable"]
MODALS = _GROUPS["modals"]
_BASE_OF_PAST = {past: base for base, (past, _) in _IRREGULAR.items()} | {"were": "be"}
_BASE_OF_FORM = _BASE_OF_PAST | {participle: base for base, (_, participle) in _IRREGULAR.items()}
PARTICIPLES = frozenset(participle for _, participle in _IRREGULAR.values())
_PLURAL = {"is": "are", "was": "were", "has": "have", "does": "do", "goes": "go"}
_BEFORE_NOT = frozenset("is was can could will would should might must".split())


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
    if lower in _BASE_OF_PAST or lower in INVARIABLE:
        return True
    return lower.endswith("ed") and len(lower) > 3 and lower not in _GROUPS["bases_in_ed"]


def must_be_past(word: str) -> bool:
    """Return True if a word can only be the past tense or past participle of a verb."""
    if word in INVARIABLE or word in _GROUPS["ambiguous_pasts"] or word in _IRREGULAR or word.endswith("eed"):
        return False
    return word in PARTICIPLES or may_be_past(word)


def past_of(base: str) -> str:
    """Return the irregular past tense of a base form ("take" → "took"), or "" if none is known."""
    return _IRREGULAR.get(base.lower(), ("", ""))[0]


def forms_of(base: str) -> dict[str, str]:
    """Map the forms of a verb to their endings: "s", "ed", "ing" or none."""
    if base in _FORMS:
        return _FORMS[base]
    pasts = _IRREGULAR.get(base, (in_form(base, "ed"),))
    return {**dict.fromkeys(pasts, "ed"), base: "", in_form(base, "s"): "s", in_form(base, "ing"): "ing"}


def in_form(base: str, ending: str) -> str:
    """Return a verb in the form with an ending: "s", "ed", "ing" or none. "can" has one form."""
    listed = next((form for form, each in _FORMS.get(base, {}).items() if each == ending), "")
    if listed or base == "can":
        return listed or base
    match ending:
        case "ed":
            return past_of(base) or f"{base.removesuffix('e')}ed"
        case "ing":
            return f"{base.removesuffix('e')}ing"
        case "s":
            return _with_s(base)
    return base


def _with_s(base: str) -> str:
    if base.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{base}es"
    if base.endswith("y") and len(base) > 1 and base[-2] not in "aeiou":
        return f"{base[:-1]}ies"
    return f"{base}s"


def plural(word: str) -> str:
    """Convert a third-person verb to the plural: lives → live, is → are."""
    if word in _PLURAL:
        return _PLURAL[word]
    if may_be_past(word) or word in MODALS or not word.endswith("s"):
        return word
    return base_form(word)


def base_form(word: str) -> str:
    """Return the base of a third-person or past form, as far as the spelling shows: goes → go."""
    lower = word.lower()
    if lower in _BASE_OF_PAST:
        return _BASE_OF_PAST[lower]
    if lower in ("is", "are", "am"):
        return "be"
    if lower == "has":
        return "have"
    if lower.endswith("ies") and len(lower) > 4:
        return lower[:-3] + "y"
    if lower.endswith(("sses", "xes", "zes", "ches", "shes", "oes")):
        return lower[:-2]
    if lower.endswith("s") and not lower.endswith("ss"):
        return lower[:-1]
    return lower


def negative(phrase: str, *, past: bool = False) -> str:
    """Negate a third-person phrase: "lives in Rome" → "does not live in Rome"."""
    head, _, rest = phrase.partition(" ")
    if head in _BEFORE_NOT or (head == "has" and _is_participle(rest.partition(" ")[0])):
        return f"{'cannot' if head == 'can' else f'{head} not'} {rest}".strip()
    return f"{'did' if past else 'does'} not {base_form(head)} {rest}".strip()


def _is_participle(word: str) -> bool:
    return may_be_past(word) or word in PARTICIPLES
