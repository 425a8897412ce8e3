"""Verbs in all their forms: "wrote", "written" and "writes" are one verb, and the first two are past."""

from functools import lru_cache

import snowballstemmer

from apps.pipeline.wording.english import FORMS, IRREGULAR

_FORMS = [tuple(forms.split()) for line in IRREGULAR.strip().splitlines() for forms in line.split("|")]
_BASES = {form: forms[0] for forms in _FORMS for form in forms[1:]}
PASTS = frozenset(forms[1] for forms in _FORMS if len(forms) > 1)
PARTICIPLES = frozenset(forms[-1] for forms in _FORMS if len(forms) > 1)
_PAST_OF = {forms[0]: forms[1] for forms in _FORMS if len(forms) > 1}
_SAME_IN_BOTH = frozenset(
    "come become run read put cut hit let set shut hurt cost quit split spread bet cast found lay left saw felt".split()
)


@lru_cache(maxsize=16_384)
def base_of(word: str) -> str:
    """Return the verb of a form, or the stem of any other word."""
    return stem(_BASES.get(word, word))


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """Return the stem of a word, by a stemmer of its own: it keeps the word in itself, so threads can't share one."""
    return str(snowballstemmer.stemmer("english").stemWord(word))


def is_past(word: str) -> bool:
    """Tell whether a word can be nothing but the past of a verb, or its participle."""
    if word in _SAME_IN_BOTH:
        return False
    return word in PASTS or word in PARTICIPLES or (len(word) > 4 and word.endswith("ed") and not word.endswith("eed"))


def forms_of(verb: str) -> dict[str, str]:
    """Map the forms of a verb in base form to their endings: "s", "ed", "ing" or none."""
    if verb in FORMS:
        return FORMS[verb]
    past, short = _PAST_OF.get(verb, ""), verb.removesuffix("e")
    participles = [forms[-1] for forms in _FORMS if forms[0] == verb]
    return {
        **dict.fromkeys((past or f"{short}ed", *participles), "ed"),
        verb: "",
        in_form(verb, "s"): "s",
        f"{short}ing": "ing",
    }


def in_form(verb: str, ending: str) -> str:
    """Return a verb in the form of that ending."""
    told = next((form for form, each in FORMS.get(verb, {}).items() if each == ending), "")
    if told or verb == "can":
        return told or verb
    if ending == "ed":
        return _PAST_OF.get(verb) or f"{verb.removesuffix('e')}ed"
    if ending == "s" and verb.endswith(("s", "sh", "ch", "x")):
        return f"{verb}es"
    if ending == "s" and verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb.removesuffix('e')}ing" if ending == "ing" else f"{verb}{ending}"
