"""Lists of medicines with doses: "nebivolol 5 in the morning, metformin 1000 twice".

Names of medicines and doses are the same in most languages, so such a list is read in a text of any language.
"""

from collections.abc import Iterator

import re2

from apps.pipeline.extraction.patterns.catalogue import BY_NAME
from apps.pipeline.extraction.patterns.health.foreign_subjects import bare_subject, foreign_subject
from apps.pipeline.extraction.patterns.health.no_doses import is_for_others, is_year, without_stock
from apps.pipeline.extraction.patterns.lists import Listed
from apps.pipeline.extraction.patterns.new_subjects import is_finite
from apps.pipeline.lexicon.health_terms import DOSE, MEDICINE, english_medicine
from apps.pipeline.lexicon.kinship import KIN_WORDS
from apps.pipeline.lexicon.tables import alternation

# When a medicine is taken, in English, German, French and Spanish.
_TIMES = {
    "in the morning": ("in the morning", "mornings", "every morning", "morgens", "in der früh", "le matin", "matin", "por la mañana"),
    "at noon": ("at noon", "at lunchtime", "mittags", "à midi", "midi", "al mediodía"),
    "in the evening": ("in the evening", "every evening", "evenings", "abends", "le soir", "soir", "por la tarde"),
    "at night": ("at night", "at bedtime", "before bed", "nachts", "zur nacht", "la nuit", "por la noche"),
    "in the morning and in the evening": ("morning and evening", "morgens und abends", "matin et soir", "mañana y noche"),
    "once a day": ("once a day", "once daily", "daily", "every day", "täglich", "einmal täglich", "einmal am tag", "une fois par jour", "cada día"),
    "twice a day": ("twice a day", "twice daily", "twice", "two times a day", "zweimal täglich", "zweimal am tag", "deux fois par jour", "dos veces al día"),
    "three times a day": ("three times a day", "dreimal täglich", "dreimal am tag", "trois fois par jour", "tres veces al día"),
    "once a week": ("once a week", "weekly", "einmal pro woche", "wöchentlich", "une fois par semaine"),
}  # fmt: skip
_TIME_OF = {said: time for time, phrases in _TIMES.items() for said in phrases}
_TIME = rf"(?:{alternation(_TIME_OF)})"
_ITEM = re2.compile(
    rf"(?i)\b(?P<drug>{MEDICINE})\b(?:,? (?:à |zu )?(?P<dose>{DOSE}|\d[\d.,]*)\b)?(?:,? (?P<time>{_TIME})\b)?"
    rf"|\b(?P<other>\p{{L}}[\p{{L}}-]{{3,}}) (?P<dosed>{DOSE})\b(?:,? (?P<when>{_TIME})\b)?"
)
# Of somebody else, of what was or might be, or of a question.
_NOT_TAKEN = re2.compile(
    rf"(?i)[?]|\b(?:he|she|his|her|they|their|him|you|my (?:\w+ )?(?:{alternation(KIN_WORDS)})|no longer|any ?more|not|never|stopped|stop|off|quit|without|instead|from|allergic|allergy|if|should|could|would|can|may|might|was|were|used to|had|until|did"
    r"|nicht|kein\w*|gestrichen|abgesetzt|statt|ohne|wenn|soll\w*|darf|dürf\w*|kann|allergi\w*|unverträglich\w*|er|ihr|ihm|mein\w* \w+ (?:nimmt|muss)|il|elle|pas|sans|si|arrêté\w*|sin|él|ella)\b"
)
_BARE_DOSE = re2.compile(
    r"(?i)^(?P<who>(?:he|she|I|my \w+|\p{L}+))(?:'s| is|'m| am) (?:now |back )?on (?P<dose>\d[\d.,]* ?(?:mg|mcg|µg|iu|units?))(?: now| again)?(?: .*)?$"
)
_DRUG = re2.compile(rf"(?i)\b{MEDICINE}\b")
_REFUSED = re2.compile(
    rf"(?i)(?:^|[,;:.!] ?|and )no (?:more )?(?P<drug>{MEDICINE}) for me\b"
    rf"|(?:^|[,;:.!] ?|and |because )(?:(?:my|the) [a-z]+|she|he|they|doc|doctor) (?:said|says|told me) no (?:more )?(?P<banned>{MEDICINE})\b"
)
_WHO = re2.compile(r"(?i)\bwho(?:['’]s)?\b")  # "I've a sister who takes"
_CANNOT_HAVE = BY_NAME["cannot_have"]
_TAKES = BY_NAME["takes_medicine"]


def regimen_in(sentence: str, *, name: str) -> tuple[Listed, ...]:
    """Return the medicines of a list that the speaker takes; empty if a sentence says anything else about one."""
    if not any(char.isdigit() for char in sentence) or _NOT_TAKEN.search(sentence) or is_for_others(sentence):
        return ()
    end = len(sentence)
    if foreign_subject(sentence, end=end) or bare_subject(sentence, end=end) >= 0 or _WHO.search(sentence):
        return ()
    return tuple(_listed(without_stock(sentence), name))


def with_medicine(clause: str, *, before: str) -> str:
    """Name the medicine of a dose that the clause before has named: "They've doubled the metformin, he's on 1,000 mg"."""
    dosed, named = _BARE_DOSE.match(clause), _DRUG.search(before)
    if dosed is None or named is None:
        return clause
    takes = "take" if dosed.group("who") == "I" else "takes"
    return f"{dosed.group('who')} {takes} {named.group().lower()} {dosed.group('dose')}"


def refused_in(sentence: str, *, name: str) -> Listed | None:
    """Parse "no penicillin for me" as something that the speaker must not be given."""
    found = _REFUSED.search(sentence)
    if found is None:
        return None
    drug = (found.group("drug") or found.group("banned")).lower()
    return Listed(row=_CANNOT_HAVE, value=drug, content=f"{name} cannot have {drug}.")


def _listed(sentence: str, name: str) -> Iterator[Listed]:
    for found in _ITEM.finditer(sentence):
        drug = english_medicine(found.group("drug") or found.group("other"))
        dose, time = found.group("dose") or found.group("dosed"), found.group("time") or found.group("when")
        dose = "" if dose and is_year(dose) else dose
        is_verb = drug.endswith("ing") or is_finite(drug)  # "taking 5 mg of eliquis"
        if (dose or time) and not is_verb:
            taken = " ".join(part for part in (drug, dose, _TIME_OF.get((time or "").lower(), "")) if part)
            yield Listed(row=_TAKES, value=drug, content=f"{name} takes {taken}.")
