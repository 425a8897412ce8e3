"""Replaced values: "they switched me from ramipril to losartan", "we migrated from Jenkins to Actions".

Only the new value is stated: the quote names the old one, by which conflict resolution closes its memory
(lexicon/retractions.py). A memory that denies the old value would be redundant.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import re2

from apps.pipeline.core.enums import EntityType
from apps.pipeline.core.statement import Mention
from apps.pipeline.extraction.patterns import relatives
from apps.pipeline.extraction.patterns.catalogue import BY_NAME
from apps.pipeline.extraction.patterns.pattern import Pattern, PatternMatch
from apps.pipeline.lexicon.health_terms import DOSE, MEDICINE, english_medicine
from apps.pipeline.lexicon.kinship import KIN_WORDS
from apps.pipeline.lexicon.tables import alternation

# Who prescribes: whatever they put one on is a medicine, whether or not its name is known.
_PRESCRIBER = r"(?:(?:my|the|our|her|his|a) )?(?:new )?(?:doctor|doc|gp|nurse|consultant|specialist|psychiatrist|dentist|vet|hospital|clinic|practice|\w+ologist|\w+iatrist|paediatrician|pediatrician|dr\.? \p{Lu}[\w'-]+)"
_NO_MEDICINE = r"hold|leave|notice|call|speaker|mute|track|file|record|bed|rest|edge|display|sale|board|time|course"
_ACT = r"(?:put|switched|moved|started|changed|prescribed)"
_TAKE_OFF = r"(?:took|taken|got|weaned)"
_WHO = rf"(?P<who>me|(?:my|our) (?:[a-z]+ )?(?:{alternation(KIN_WORDS)}))"
_ADVERBS = r"(?:(?:just|now|recently|finally|has|have|'ve|'s|had|also|then) )*"
# A number at the end, right behind a medicine, is its dose, whether or not its unit is said.
_DOSED = (
    rf"(?:(?P<before>{DOSE}) (?:of )?)?(?P<new>%s)(?:(?: instead)?,? (?P<after>{DOSE}|\d+(?:[.,]\d+)?(?:$|[.!]+$)))?"
)
_OLD = rf"(?:{DOSE} (?:of )?)?(?P<old>[\w-]+)(?: {DOSE})?"
_END = r"(?:[\s.!,;].*)?$"
_KNOWN = _DOSED % MEDICINE
_ANY = _DOSED % r"[\w-]{4,}"

_PUT_ON = re2.compile(
    rf"(?i)^.{{1,60}}? {_ADVERBS}{_ACT} {_WHO} (?:over )?(?:from {_OLD} )?(?:on ?to|on|to|with) {_KNOWN}{_END}"
)
_PRESCRIBED = re2.compile(
    rf"(?i)^{_PRESCRIBER} {_ADVERBS}{_ACT} {_WHO} (?:over )?(?:from {_OLD} )?(?:on ?to |on |to |with )?{_ANY}{_END}"
)
_WAS_PUT_ON = re2.compile(
    rf"(?i)^(?P<who>I|(?:my|our) (?:[a-z]+ )?(?:{alternation(KIN_WORDS)})) (?:was|were|got|has been|have been|'ve been|is|am) (?:just |now |recently )?(?:put|switched|moved|started|changed) (?:over )?(?:from {_OLD} )?(?:on ?to|on|to) {_KNOWN}{_END}"
)
_TAKEN_OFF = re2.compile(
    rf"(?i)^.{{1,60}}? {_ADVERBS}{_TAKE_OFF} {_WHO} off (?:the |my |her |his )?(?:{DOSE} (?:of )?)?(?P<old>{MEDICINE}|[\w-]+ (?:tablets|pills|medication)){_END}"
)
_STOPPED = re2.compile(
    rf"(?i)^(?:they|I|{_PRESCRIBER})(?:'ve| have| has|'s)? {_ADVERBS}(?:stopped|discontinued|dropped|cancelled) (?P<who>my) (?P<old>{MEDICINE}){_END}"
)
_CHANGED_MYSELF = re2.compile(
    rf"(?i)^(?P<who>I)(?:'ve| have)? {_ADVERBS}(?:switched|changed|moved|went) (?:over )?from {_OLD} (?:over )?(?:on ?to|to) {_KNOWN}{_END}"
)
# "In 2015 they gave me bendroflumethiazide for a year": what somebody was given then.
_WAS_GIVEN = re2.compile(
    rf"(?i)^(?:.*?\b(?P<when>in (?:\w+ )?(?:19|20)\d\d|(?:last|that) \w+|\w+ years ago)\b.*?)?\b(?:they|{_PRESCRIBER}) {_ADVERBS}(?:gave|prescribed) {_WHO} (?:{DOSE} (?:of )?)?(?P<new>{MEDICINE})(?P<more> (?:for|in|until|after|during) [\w ]+)?{_END}"
)
# "She says I need 100 of the levothyroxine, not 75"
_NEEDS_SO_MUCH = re2.compile(
    rf"(?i)^(?:.{{1,60}}? )?(?P<who>I) (?:now )?(?:need|take|should take|have to take|must take|need to take|am on|'m on)(?: now| to be on)? (?P<after>{DOSE}|\d+(?:[.,]\d+)?) of (?:the |my )?(?P<new>{MEDICINE})(?: now)?(?P<before>){_END}"
)
# "The insulin was increased to 10 units"
_WAS_CHANGED = re2.compile(
    rf"(?i)^(?P<who>my|the) (?P<new>{MEDICINE})(?: dose| dosage)? (?:was|has been|is|got|went)(?: now| just)? (?:increased|upped|raised|lowered|reduced|doubled|halved|put up|put down|up|down|changed|adjusted)(?: up| down)?(?: from {DOSE})? to (?P<after>{DOSE}|\d+(?:[.,]\d+)?)(?P<before>){_END}"
)
# "The nurse has put me up to 1000 of the metformin"
_PUT_UP_TO = re2.compile(
    rf"(?i)^.{{1,60}}? {_ADVERBS}(?:put|moved|taken|took|brought) {_WHO} (?:up|down) to (?P<after>{DOSE}|\d+(?:[.,]\d+)?) (?:of|on) (?:the |my )?(?P<new>{MEDICINE})(?P<before>){_END}"
)
# "The metformin made me ill, so they've swapped it for gliclazide, 40 in the morning"
_SWAPPED_IT = re2.compile(
    rf"(?i)^(?:.*[ ,])?(?P<who>my|the) (?:{MEDICINE}|tablets?|pills?|inhaler)\b[^.!?]{{0,80}}?[ ,](?:they|she|he|I|{_PRESCRIBER})(?:'ve|'s| have| has)? {_ADVERBS}(?:swapped|changed|switched|replaced)(?: me)?(?: (?:it|them|that))? (?:for|to|with|by) (?P<new>[\w-]{{4,}})(?:,? (?P<after>{DOSE}|\d+(?:[.,]\d+)?))?(?P<before>){_END}"
)
# "The nurse has doubled the ramipril, so it's 5 now"
_IS_NOW = re2.compile(
    rf"(?i)^(?:.{{1,60}}? )?(?P<who>my|the) (?P<new>{MEDICINE})\b[^,;.!?\d]{{0,20}}(?:, | - |, so |, and | so | and )(?:it's|it is|that's|that is|that makes it|now it's|I'm on|I am on|I take)(?: now)? (?P<after>{DOSE}|\d+(?:[.,]\d+)?)(?: now| a day| from now on)*(?P<before>)[\s.!]*$"
)
# "They've changed me to naproxen, 500 twice a day": what one takes so often is a medicine.
_PUT_ON_SO_OFTEN = re2.compile(
    rf"(?i)^.{{1,60}}? {_ADVERBS}(?:{_ACT}|gave|given) {_WHO} (?:(?:on ?to|on|to) )?(?P<new>[\w-]{{4,}}),? (?P<after>\d+(?:[.,]\d+)?(?: ?(?:mg|mcg|micrograms?|milligrams?|ml|units?))?) (?:once|twice|[a-z]+ times) (?:a|per) day(?P<before>){_END}"
)
# "Off the naproxen too"
_OFF = re2.compile(
    rf"(?i)^(?:.*,? (?:and )?)??(?P<who>I)?(?:'m | am )?(?:now |finally )?off the (?P<old>{MEDICINE})(?: now| too| again)*[\s.!]*$"
)
# "My GP gave me melatonin 2 mg": what one is given with a dose, and not at some time in the past.
_GIVEN = re2.compile(rf"(?i)^{_PRESCRIBER} {_ADVERBS}gave {_WHO} {_KNOWN}{_END}")
# "They've upped my ramipril to 10 mg"
_DOSE_CHANGED = re2.compile(
    rf"(?i)^(?:.{{1,40}}?)(?: |'ve |'s )?{_ADVERBS}(?:upped|increased|raised|lowered|reduced|cut|doubled|halved|changed|put(?: up)?|bumped|brought down|dropped|adjusted|moved|took) (?P<who>my|the) (?P<new>{MEDICINE})(?: dose| dosage)?(?: up| down)? (?:from {DOSE} )?to (?P<after>{DOSE}|\d+(?:[.,]\d+)?)(?P<before>){_END}"
)
# What was given until some time, or for some time, is not taken any more.
_THEN = re2.compile(
    r"(?i)\b(?:in (?:\w+ )?(?:19|20)\d\d|last \w+|ago|for (?:a|an|one|two|three|\d+|some|the|my)\b|until|once|back then|when i was|after|during|as a (?:kid|child))\b"
)
_POINTS = re2.compile(r"(?i)^(?:this|that|those|these|some|any|all|both|the)\b")
_NUMBER = re2.compile(r"\d")
_REFUSED = re2.compile(rf"(?i)^(?:{_NO_MEDICINE})$")

# "She got a rash from the tramadol, so they changed to paracetamol": "the" is not the speaker's.
_OF_ANOTHER = re2.compile(
    rf"(?i)^\W*(?:(?:and|but|so) )?(?:she|he|(?:my|our) (?:[a-z]+ )?(?:{alternation(KIN_WORDS)}))\b"
)

_US = r"^(?:(?i:I|we)(?:'ve| have)?|(?i:my|our) (?:team|company|office|shop)(?: has)?)"
# A product is named: no article, and a capital, a digit or a dot in one of the two.
_PRODUCT = r"[\w][\w.+#/-]*(?: [\w][\w.+#/-]*){0,2}?"
_ENDS = r"(?:(?: (?:now|for|last|this|in|on|at|because|since|so|and|but|yesterday|today|recently|as|with|completely|when|instead)\b|[.,;!(]).*)?$"
_MIGRATED = re2.compile(
    rf"{_US} {_ADVERBS}(?:switched|migrated|transitioned|converted|changed|upgraded|ported)(?: over| everything| our \w+| my \w+)? (?:away )?from (?P<old>{_PRODUCT}) (?:over )?to (?P<new>{_PRODUCT}){_ENDS}"
)
_REPLACED = re2.compile(
    rf"{_US} {_ADVERBS}(?:replaced|swapped(?: out)?) (?P<old>{_PRODUCT}) (?:with|by|for) (?P<new>{_PRODUCT}){_ENDS}"
)
_INSTEAD = re2.compile(
    rf"{_US}(?:'re)? {_ADVERBS}(?:use|are using|am using|using) (?P<new>{_PRODUCT}) (?:now )?(?:instead of|rather than) (?P<old>{_PRODUCT}){_ENDS}"
)
_NO_PRODUCT = re2.compile(
    r"(?i)^(?:the|a|an|my|our|his|her|their|this|that|these|those|it|its|one|some|being|having|doing|\w+ing)\b|^\d+$"
)
_NAMED = re2.compile(r"\p{Lu}|\d|\.\w")

_SIGNS = frozenset(
    "put upped increased raised lowered reduced cut doubled halved adjusted went switched moved started changed prescribed gave took taken got weaned migrated transitioned converted upgraded ported "
    "replaced swapped instead rather stopped discontinued dropped cancelled bumped brought double halve".split()
)
_TAKES = BY_NAME["takes_medicine"]
_PRESCRIBED_THEN = BY_NAME["prescribed"]
_USES = BY_NAME["uses"]


_DRUG = re2.compile(rf"(?i)\b{MEDICINE}\b")
# What is given or changed may be a medicine whose name is not known; other patterns need a known one.
_OF_WHAT_IS_GIVEN = (_PUT_ON_SO_OFTEN, _PRESCRIBED, _SWAPPED_IT)
_OF_MEDICINES = (
    _PUT_ON_SO_OFTEN, _PUT_ON, _PRESCRIBED, _WAS_PUT_ON, _CHANGED_MYSELF, _DOSE_CHANGED, _NEEDS_SO_MUCH, _IS_NOW,
    _WAS_CHANGED, _PUT_UP_TO, _SWAPPED_IT, _GIVEN,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Replacement:
    """The value after a change; a denial if nothing replaces the old value."""

    subject: Mention
    row: Pattern
    value: str
    content: str
    is_negated: bool = False


def replacements_in(clause: str, *, speaker: Mention) -> tuple[Replacement, ...]:
    """Parse a change of medicine or tool; empty for other clauses, or if a value is not named."""
    # Most clauses hold none of these words, and a set is quicker to ask than the expressions.
    lower = clause.lower()
    if _SIGNS.isdisjoint(lower.split()) and "off the " not in lower and not (" of " in lower and _NUMBER.search(lower)):
        return ()
    return tuple(_medicines(clause, speaker)) or tuple(_tools(clause, speaker))


def _medicines(clause: str, speaker: Mention) -> Iterator[Replacement]:
    patterns = _OF_MEDICINES if _DRUG.search(clause) else _OF_WHAT_IS_GIVEN
    for pattern in patterns:
        found = pattern.match(clause)
        if found is None or (pattern is _GIVEN and _THEN.search(clause)) or _REFUSED.match(found.group("new")):
            continue
        if found.group("who").lower() == "the" and (pattern is not _IS_NOW or _OF_ANOTHER.match(clause)):
            continue  # health/medicines.py knows whom the clauses before were about
        subject = _patient(found.group("who"), speaker)
        drug, dose = english_medicine(found.group("new")), found.group("before") or found.group("after")
        taken = f"{drug} {dose}" if dose else drug
        yield Replacement(subject, _TAKES, drug, f"{subject.text} takes {taken}.")
        return
    given = _WAS_GIVEN.match(clause)
    if given and (given.group("when") or given.group("more")):
        patient, drug = _patient(given.group("who"), speaker), english_medicine(given.group("new"))
        when = f" {given.group('when').lower()}" if given.group("when") else ""
        yield Replacement(
            patient,
            _PRESCRIBED_THEN,
            drug,
            f"{patient.text} was given {drug}{when}{(given.group('more') or '').removesuffix(' or so')}.",
        )
        return
    stopped = _TAKEN_OFF.match(clause) or _STOPPED.match(clause) or _OFF.match(clause)
    if stopped and not _POINTS.match(stopped.group("old")):
        patient, former = _patient(stopped.group("who") or "I", speaker), stopped.group("old").lower()
        yield Replacement(patient, _TAKES, former, f"{patient.text} no longer takes {former}.", is_negated=True)


def _patient(who: str, speaker: Mention) -> Mention:
    if who.lower() in ("i", "me", "my", "the"):
        return speaker
    *qualifiers, word = who.split()[1:]
    text = relatives.described(word=word, qualifier=" ".join(qualifiers), speaker=speaker.text)
    return Mention(text=text, type=EntityType.PERSON)


def _tools(clause: str, speaker: Mention) -> Iterator[Replacement]:
    found = next(filter(None, (pattern.match(clause) for pattern in (_MIGRATED, _REPLACED, _INSTEAD))), None)
    if found is None or not _are_products(found):
        return
    new = found.group("new")
    yield Replacement(speaker, _USES, new, f"{speaker.text} uses {new}.")


def _are_products(found: PatternMatch) -> bool:
    values = [found.group("new") or "", found.group("old") or ""]
    return not any(map(_NO_PRODUCT.search, values)) and any(map(_NAMED.search, values))
