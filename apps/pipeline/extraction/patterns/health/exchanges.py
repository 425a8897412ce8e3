"""Medicines that another one has replaced: "The propranolol makes me dizzy. They're switching me to topiramate."."""

from collections.abc import Iterator, Sequence
from itertools import islice

import re2

from apps.pipeline.core.enums import Polarity
from apps.pipeline.core.statement import Candidate
from apps.pipeline.extraction.patterns.catalogue import BY_NAME
from apps.pipeline.extraction.patterns.health.terms import MOST_TERMS, medicines_in
from apps.pipeline.extraction.patterns.health.told import HealthStatement
from apps.pipeline.lexicon.health_terms import english_medicine

# "Allopurinol's brought me out in a rash. Doctor said stop it."
_ENDS = re2.compile(
    r"(?i)\b(?:stop(?:ped)? (?:it|taking|that|at once)|never (?:take|have|again)|came off|come off|took (?:me|him|her) off|so (?:I|she|he) (?:only|just|now) (?:have|has|takes?|uses?)|swapp?(?:ed|ing)|switch(?:ed|ing)|chang(?:ed|ing) (?:me|him|her|it|to)|instead|(?:an)?other one)\b"
)
# "They're switching me to topiramate": the new medicine stands behind the change.
_CHANGES_TO = re2.compile(
    r"(?i)\b(?:switch(?:ed|ing)?|swapp?(?:ed|ing)?|chang(?:ed|ing)|moved) (?:(?:me|him|her|us|over|it|that|them) )*(?:to|for|onto)\b"
)
# "I'm on apixaban instead of warfarin": it may stand before.
_OTHER_CHANGES = re2.compile(
    r"(?i)\b(?:came|come|gone|taken me|took me|taken him|took him|taken her|took her) off (?:it|that|them|those)\b|\b(?:replaced (?:it|that|them) (?:with|by)|instead of|(?:now|have|got|on) (?:the |an)?other one)\b"
)


def ended(told: Sequence[HealthStatement], text: str) -> Iterator[HealthStatement]:
    """Yield that a medicine is no longer taken which somebody reacted to, where something else took its place."""
    reactions = [each for each in told if each.row == "reacts_to"]
    if not reactions or not _ENDS.search(text):
        return
    for each in reactions:
        for medicine in medicines_in(each.thing):
            name = english_medicine(medicine.text)
            yield HealthStatement(each.owner, "takes_medicine", name, f"no longer takes {name}", is_negated=True)


def replaced(told: Sequence[HealthStatement], text: str) -> Iterator[HealthStatement]:
    """Yield that a medicine is no longer taken that a text names where it tells of a change to another one."""
    new = [each for each in told if each.row == "takes_medicine" and not each.is_negated]
    if len(new) != 1 or not _is_new(new[0].thing, text):
        return
    for medicine in islice(medicines_in(text), MOST_TERMS):
        name = english_medicine(medicine.text)
        if name not in new[0].thing and new[0].thing not in name:
            yield HealthStatement(new[0].owner, "takes_medicine", name, f"no longer takes {name}", is_negated=True)


def is_ended(known: Candidate, told: HealthStatement) -> bool:
    """Return True for a medicine that is taken of which the next clause tells that it no longer is."""
    is_same = known.predicate == BY_NAME[told.row].predicate and known.object.text == told.thing
    return is_same and known.polarity is Polarity.POSITIVE and known.subject == told.owner.mention


def _is_new(medicine: str, text: str) -> bool:
    """Return True if a text tells of a change to this medicine: "from ramipril to losartan" is none to ramipril."""
    change = _CHANGES_TO.search(text)
    if change is None:
        return _OTHER_CHANGES.search(text) is not None
    first = next(medicines_in(text[change.end() :]), None)
    if first is None:
        return True  # known by its dose alone
    name = english_medicine(first.text)
    return name in medicine or medicine in name
