"""Medicines that somebody takes, in which dose, and those that were stopped.

A medicine is known by its name, or by a dose with a unit or a time behind a name. What stands between name and dose
("is at", "went up to", "doubled, now") is left out, so that each dose is told in the same words.
"""

from collections.abc import Callable, Iterator
from itertools import islice

import re2

from apps.pipeline.extraction.patterns.health.no_doses import is_for_others, without_stock, without_year
from apps.pipeline.extraction.patterns.health.owner import Owner
from apps.pipeline.extraction.patterns.health.terms import MOST_TERMS, Term, end_of, medicines_in
from apps.pipeline.extraction.patterns.health.told import HealthStatement
from apps.pipeline.extraction.patterns.relatives import may_be_name
from apps.pipeline.lexicon.foods import is_food
from apps.pipeline.lexicon.health_terms import english_medicine

_NUMBER = r"(?:\d+(?:[.,/]\d+)?|(?:half|one|two|three|four|five|six|eight|ten|twelve|fifteen|twenty|thirty|forty|fifty)(?: and a half| and a quarter)?(?: an?)?)"
_UNIT = r"(?:mgs?|milligrams?|mcg|micrograms?|µg|g|ml|iu|units?|puffs?|sprays?|tablets?|pills?|capsules?|drops?|ampoules?|sachets?|patch(?:es)?)"
_MEAL = r"(?:breakfast|lunch|dinner|supper|meals?|food|eating|bed|bedtime|sleep(?:ing)?|noon|midday|mornings?|afternoons?|evenings?|nights?)"
_SPAN = r"(?:day|days|night|week|weeks|weekdays?|month|months|hours?|morning|mornings|evening|evenings|afternoon|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?)"
_TIME = (
    rf"(?:twice|(?:{_NUMBER} )?(?:times|x)(?: {_NUMBER})?|daily|weekly|nightly|mornings?|nights?|evenings?|bedtime|as needed|when(?:ever)? (?:I |she |he )?needs? it|when needed"
    rf"|(?:in|at|before|after|with|on)(?: the| my| her| his)? {_MEAL}|(?:a|per|in the|in a|each|every|on|for a)(?: other| second| third| \d+)? {_SPAN}|every {_NUMBER} {_SPAN})"
)
_AMOUNT = rf"(?:{_NUMBER} ?(?i:{_UNIT})(?:\b|$)|{_NUMBER}(?: of (?:them|those))?(?:\b|$))"
_PART = rf"(?:{_AMOUNT}|{_TIME}\b)"
_DETAIL = rf"(?P<detail>{_PART}(?:,? (?:and )?{_PART}){{0,4}})"
_GLUE = (
    r"(?:is|was|are|has|have|had|been|be|become|became|went|gone|goes|put|moved|changed|up|down|back|again|to|at|of|on|now|only|still|just|dose|increased|raised|reduced|lowered|doubled|halved|upped|brought"
    r"|dropped|it|it's|that|that's|the|a|my|also|already|from \d+|on (?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|yesterday|today|since \w+|for \w+|since \w+ years?|tablets?|pills?|instead|so|and|since|then)"
)
_DOSE_AFTER = re2.compile(rf"(?i)^(?:['’]s)?(?:,? {_GLUE}\b){{0,8}},? {_DETAIL}")
_REGULARLY = re2.compile(
    rf"(?i)^[^.;]{{0,40}}?[, ](?P<detail>(?:{_NUMBER} )?(?:daily|once daily|twice daily|every (?:day|morning|evening|night|week)|each (?:day|morning|evening|night)|(?:once|twice|three times) (?:a|per) (?:day|week)))\b"
)
_NO_DOSE = re2.compile(
    r"(?i)^ ?(?:mins?|minutes?|hours?|hrs?|people|guests|degrees|°|%|quid|pounds?|euros?|dollars?)\b"
)
_ONLY = re2.compile(r"(?i)^,? (?P<only>only)(?:$|[.,;!])")
_AIDS = re2.compile(r"(?i)^epi-?pens?$")
_DOSE_BEFORE = re2.compile(rf"(?i)(?P<detail>{_NUMBER} ?{_UNIT})(?: of)?(?: the| my| her| his)? $")
_TAKES = re2.compile(
    r"(?i)\b(?:on|takes?|taking|puts?|started?|starts|starting|added|prescribed|has|have|having|got|gets?|uses?|using|to|with|needs?|injects?|injecting|it's|is|now|wears?|puffs?|swallows?)"
    r"(?: (?:me|him|her|us|on|to|with|the|my|his|her|a|an|some|also|now|taking|back|something called)){0,3} $"
)
_STOPPED_BEFORE = re2.compile(
    r"(?i)\b(?:stopped|stop|quit|off|no longer|no more|finished|dropped|discontinued|ditched|done|cancelled)(?: (?:me|him|her|taking|takes?|on|with|of|having|using|the|my|his|her|that|all)){0,3} $"
)
_STOPPED_AFTER = re2.compile(
    r"(?i)^(?:['’]s)?(?: (?:is|are|was|has|have|been|all|now|already|completely|just|tablets?|pills?|being))*,? (?:stopped|gone|off|finished|discontinued|history)\b"
)
_NOT_STOPPED = re2.compile(
    r"(?i)\b(?:down off|not|n't|never|can't|cannot|before|until|without)(?: \w+){0,3} $|\b(?:don't|didn't|haven't|hasn't|can't|never) \w+ "
)
_NOT_TAKEN = re2.compile(
    r"(?i)\b(?:no|not|never|n't|n’t|without|instead of|from|react\w*(?: \w+)? to|allerg\w+|forbidden|one of (?:my|her|his|the)|took)(?: \w+){0,2} $|\bcan(?:no|')t\b|\b(?:must|should|may|could) not\b|\btook \w+ of\b"
)
_PAST = re2.compile(
    r"(?i)\b(?:was on|were on|used to|had been on|years ago|in (?:19|20)\d\d|as a (?:child|kid)|once upon|once,)\b"
)
# A name that no list knows, with a dose that has a unit or a time: "Glycomet 500, twice a day".
_UNIT_OR_TIME = rf"(?:{_NUMBER} ?{_UNIT}\b|\d+(?:[.,/]\d+)?,? {_TIME}\b)"
_UNKNOWN = re2.compile(
    rf"(?:^|[ ,])(?P<name>\p{{Lu}}\p{{Ll}}{{3,}})(?:['’]s)?,? (?:(?:is|at|now|on|to|up|the) ){{0,3}}(?i:{_UNIT_OR_TIME})"
)
_UNKNOWN_OWNED = re2.compile(
    rf"\b(?i:my|his|her|\p{{Lu}}\p{{Ll}}+['’]s) (?P<name>\p{{Lu}}\p{{Ll}}{{3,}})(?i:(?:,? {_GLUE}\b){{1,8}} (?:{_NUMBER} ?{_UNIT}\b|{_NUMBER} times (?:a|per) day\b))"
)
# The same of a writer who uses no capitals: the unit is one of medicines alone.
_UNKNOWN_SMALL = re2.compile(
    rf"(?:, |\b(?:on|of|to|take|takes|taking) )(?P<name>\p{{Ll}}{{5,}}),? {_NUMBER} ?(?:mg|mcg|micrograms?|puffs?|units)\b"
)
_DOSE_UNIT = re2.compile(r"(?i)(?:mgs?|milligrams?|mcg|micrograms?|µg|ml|iu|units?|puffs?)\b")
_AND = re2.compile(
    r"(?i)^[^.;]{0,40}?(?:,|\band|\bplus|\+)(?: (?:some|something|a|an|the|also|called|thing|my|his|her))* $"
)
_DIGIT = re2.compile(r"(?i)\d|\btimes\b|\bmilligrams\b")
_USED = re2.compile(r"(?i)(?:inhaler|puffer|patch|patches|drops|ointment|spray)$")

FindOwner = Callable[[int], Owner]


def medicines_told(clause: str, *, owner_before: FindOwner) -> Iterator[HealthStatement]:
    """Yield what a clause says about each medicine that it names; `owner_before` tells whose it is by its place."""
    if is_for_others(clause):
        return
    known = tuple(islice((term for term in medicines_in(clause) if not _AIDS.match(term.text)), MOST_TERMS))
    is_listed = False  # whether the medicine before is taken: "prednisolone 15 mg and lansoprazole"
    for place, term in enumerate(known):
        end = known[place + 1].start if place + 1 < len(known) else len(clause)
        start = known[place - 1].end if place else 0
        owner = owner_before(term.end)
        told = _told(clause, term, start, end, owner)
        if told is None and is_listed and _AND.match(clause[start : term.start]):
            told = _taken(owner, term.text, "")
        is_listed = told is not None and not told.is_negated
        if told is not None:
            yield told
    if not known and _DIGIT.search(clause):
        yield from _unknown(clause, owner_before)


def _unknown(clause: str, owner_before: FindOwner) -> Iterator[HealthStatement]:
    """Yield medicines that no list knows, by the dose behind their names."""
    found = _UNKNOWN_OWNED.search(clause) or _UNKNOWN.search(clause) or _UNKNOWN_SMALL.search(clause)
    if found is None:
        return
    name, end = found.group("name"), end_of(found, "name")
    dosed = _DOSE_AFTER.match(clause[end:])
    owner, detail = owner_before(found.start() + 1), dosed.group("detail") if dosed else ""
    is_first = found.re is _UNKNOWN and found.start() == 0 and not _DOSE_UNIT.search(detail)
    if detail and may_be_name(name) and not is_first and not is_food(name):
        yield _taken(owner, name, detail)


def _told(clause: str, term: Term, start: int, end: int, owner: Owner) -> HealthStatement | None:
    before, after = clause[start : term.start], without_stock(clause[term.end : end])
    is_stopped = _STOPPED_BEFORE.search(before) or _STOPPED_AFTER.match(after)
    if is_stopped and not _NOT_STOPPED.search(before):
        name = english_medicine(term.text)
        return HealthStatement(owner, "takes_medicine", name, f"no longer takes {name}", is_negated=True)
    if is_stopped or _NOT_TAKEN.search(clause[: term.start]) or _PAST.search(clause):
        return None
    dosed = _dose(before, after)
    if dosed is not None and _NO_DOSE.match(after[dosed.end() :]) and dosed.re is _DOSE_AFTER:
        return None  # "chickpeas, 20 mins"
    detail = without_year(dosed.group("detail")) if dosed else ""
    if only := _ONLY.match(after):
        name = english_medicine(term.text)
        return HealthStatement(owner, "takes_medicine", name, f"can take {name} {only.group('only')}")
    if not detail and not _TAKES.search(clause[: term.start]):
        return None
    return _taken(owner, term.text, detail)


def _dose(before: str, after: str) -> "re2._Match[str] | None":
    """Return where a dose or time stands beside a medicine."""
    return _DOSE_AFTER.match(after) or _DOSE_BEFORE.search(before) or _REGULARLY.search(after)


def _taken(owner: Owner, name: str, detail: str) -> HealthStatement:
    """Write "takes ramipril 5 mg in the morning" or "uses the blue inhaler"."""
    plain = english_medicine(name) if " " not in name else name.lower()
    verb = "uses the" if _USED.search(name) else "takes"
    told = " ".join(part for part in (verb, plain, " ".join(detail.strip(" ,.").split())) if part)
    return HealthStatement(owner, "takes_medicine", plain, told)
