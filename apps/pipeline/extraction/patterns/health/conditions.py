"""Conditions that somebody has: who speaks of one without asking, imagining or denying it tells that somebody has it."""

from collections.abc import Iterator
from itertools import islice

import re2

from apps.pipeline.extraction.patterns.health.medicines import FindOwner
from apps.pipeline.extraction.patterns.health.named_conditions import is_only_named
from apps.pipeline.extraction.patterns.health.owner import Owner
from apps.pipeline.extraction.patterns.health.terms import MOST_TERMS, conditions_in, start_of
from apps.pipeline.extraction.patterns.health.told import HealthStatement
from apps.pipeline.lexicon.health_terms import CONDITION_ADJECTIVES
from apps.pipeline.lexicon.tables import alternation

# "no asthma", "a test for diabetes", "the Parkinson's choir"
_NOT_HAD = re2.compile(
    r"(?i)\b(?:no|not|never|without|against|risk of|fear of|history of|prevents?|test(?:ed|s)?(?: (?:me|him|her|us|them|my \w+))? for|check(?:ed|s)?(?: \w+)? (?:for|on)|screened(?: \w+)? for|misdiagnosed(?: \w+)? with|(?:grew|grown) out of|outgrew|outgrown|rule[sd]? out|about|like|looks like|worried about|charity|for the|read(?:ing)? (?:on|about)|family|his first|cured|no longer|almost|nearly|and no)(?: \w+){0,2} $"
    r"|\b(?:isn|wasn|aren)['’]t (?:an? )?$|\b(?:do|does|did|have|has)n['’]t (?:have |had |got |suffer from )(?:\w+ )?$"
)
_COMPOUND = re2.compile(
    r"(?i)^(?:['’]s)?[ -](?:nurses?|clinic|choir|group|charity|ward|week|day|tests?|specialist|unit|association|awareness|research|society|run|walk|fund|society|course|check|screening|vaccine|jab|scare|patients?|dogs?|operations?|surgery|op|scan|care|centre|center|meals?|diets?|plans?|recipes?|snacks?|cookbooks?|rates?|statistics|book|film|friendly|safe|menu|options|allerg\w+)\b"
)
_PASSING = re2.compile(
    r"(?i)\b(?:yesterday|today|tonight|last night|this morning|lost (?:all|the)|a touch of|bit of a|coming down with)\b"
)
_ADJECTIVE = re2.compile(
    rf"(?i)\b(?:i['’]?m|im|am|is|he['’]s|she['’]s|\p{{L}}+['’]s|been) (?:(?:also|quite|still|now|very|stone|a|bit|really|almost|partly) ){{0,2}}(?P<what>{alternation(CONDITION_ADJECTIVES)})\b"
)
_HAD = re2.compile(r"(?i)\b(?:had|survived|got over)(?: (?:a|an|my|her|his|bad|mild|severe|first|second)){0,3} $")
_WHEN = re2.compile(
    r"(?i)^ (?:in (?:\w+ )?(?:19|20)\d\d|with \p{Lu}\p{Ll}+|as a (?:child|kid|teenager|baby)|(?:\w+ ){1,2}years ago|last (?:year|spring|summer|autumn|fall|winter))\b"
)
_COUNTED = re2.compile(
    r"(?i)^bad (?:back|knee|hip|shoulder)$|(?:pacemaker|hernia|cataract|ulcer|murmur|disc|condition|disorder|fracture|tumou?r|meniscus|ligament)$"
)
# "Blood pressure's up", "B12 is very less": what blood tests measure.
_LEVEL = re2.compile(
    r"(?i)\b(?P<what>blood pressure|blood sugar|cholesterol|iron|ferritin|b12|vitamin d|thyroid|potassium|sodium|calcium|uric acid|pressure)(?: level)?(?:['’]s| is| was| are)?(?: (?:too|very|quite|still|a bit|much|really|now|also))* (?P<level>high|up|raised|elevated|through the roof|low|down|less|deficient)\b"
)
_LOW = re2.compile(r"(?i)low|down|less|deficient")
_TURNED_OUT = re2.compile(r"(?i)^(?:it|that|this) turn(?:ed|s) out to be\b")  # what did is not told
_NO_LASTING = frozenset(
    "cold colds flu fever fevers coma death obesity pregnancy labour labor fits seizure seizures burns hives spots stroke strokes injury injuries wound wounds bleeding".split()
)


# "There's a history of breast cancer in my family", "heart disease runs in our family"
_IN_FAMILY = re2.compile(
    r"(?i)\bin (?:my|our|the|her|his) family\b|\b(?:my|our) family(?: has| have|['’]s got) a history\b"
)
_IN_OTHER_FAMILY = re2.compile(r"(?i)\bin (?:my|our|the|her|his) [\p{L}-]+['’]s family\b")
_NOBODY = re2.compile(r"(?i)^\W*(?:nobody|no[ -]?one|none|neither|(?:there(?:['’]s| is) |we have |I have )?no)\b")


def conditions_told(clause: str, *, owner_before: FindOwner) -> Iterator[HealthStatement]:
    """Yield the conditions that a clause says somebody has."""
    if _PASSING.search(clause) or _TURNED_OUT.match(clause):
        return
    if _IN_FAMILY.search(clause) or _IN_OTHER_FAMILY.search(clause):
        if not _NOBODY.match(clause) and not _IN_OTHER_FAMILY.search(clause):
            yield from _in_family(clause, owner_before)
        return
    for term in islice(conditions_in(clause), MOST_TERMS):
        before, after = clause[: term.start], clause[term.end :]
        is_had = not (_NOT_HAD.search(before) or _COMPOUND.match(after) or term.text.lower() in _NO_LASTING)
        if is_had and not is_only_named(before):
            yield _condition(term.text, before, after, owner_before(term.start))
    if level := _LEVEL.search(clause):
        what = level.group("what").lower().replace("b12", "B12")
        told = f"{'low' if _LOW.match(level.group('level')) else 'high'} {what}"
        yield HealthStatement(owner_before(level.start() + 1), "has_condition", told, f"has {told}")
    adjective = _ADJECTIVE.search(clause)
    if adjective is not None and not (
        _NOT_HAD.search(clause[: start_of(adjective, "what")]) or _COMPOUND.match(clause[adjective.end() :])
    ):
        what = adjective.group("what").lower()
        owner = owner_before(start_of(adjective, "what"))
        yield HealthStatement(owner, "has_condition", CONDITION_ADJECTIVES[what], f"is {what}")


def _in_family(clause: str, owner_before: FindOwner) -> Iterator[HealthStatement]:
    for term in islice(conditions_in(clause), MOST_TERMS):
        owner, name = owner_before(len(clause)), _named(term.text).lower()
        told = f"{name[:1].upper()}{name[1:]} runs in {owner.text}'s family"
        yield HealthStatement(owner, "family_history", name, "", sentence=told)


def _condition(text: str, before: str, after: str, owner: Owner) -> HealthStatement:
    name = _named(text)
    if _HAD.search(before):
        return HealthStatement(owner, "diagnosed", name.lower(), f"had {_with_article(name)}{_while(after)}")
    return HealthStatement(owner, "has_condition", name.lower(), f"has {_with_article(name)}")


def _with_article(name: str) -> str:
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}" if _COUNTED.search(name) else name


def _while(after: str) -> str:
    """Return since when or how long: " in 2019"."""
    found = _WHEN.match(after)
    return found.group() if found else ""


def _named(text: str) -> str:
    """Return a name as it is written within a sentence: "Heart failure" is heart failure, "AFib" stays."""
    return text if text[1:2].isupper() or text.endswith(("'s", "’s")) or "'s " in text else text[:1].lower() + text[1:]
