"""Whether a written sentence is complete and means what it says: what is truncated, garbled or compared is not stored."""

import re2

from apps.pipeline.lexicon import abbreviations
from apps.pipeline.lexicon.tables import alternation

# A sentence continues after these words.
_CUT = re2.compile(
    r"(?i)\b(?:and|or|but|because|so|the|an?|of|from|than|my|their|called|named|via|per|"
    rf"{alternation(sorted(abbreviations.BEFORE_NAMES - {'fr', 'col', 'mt', 'gen', 'pres'}))})\.$"
)
_BRACKETS = (("(", ")"), ("[", "]"), ("“", "”"))
# "might not sure", "is can"
_GARBLED = re2.compile(
    r"(?i)\b(?:might|may|could|would|can) (?:not )?(?:sure|able|not|the|an?|is|was|are|has|of)\b|\b(?:should|will) (?:not )?(?:sure|able|the|an?|is|was|are|has|of)\b|\b(?:is|was) (?:is|was|does|can|will)\b"
)


# "eats like a student", "is like a balloon": a comparison says nothing by itself. What one likes, or looks for, does.
_COMPARES = re2.compile(
    r"(?i)\b(?:is|are|was|were) (?:just |exactly |more |a bit |\w+ly )?like \w|\b(?:feels?|felt|looks?|sounds?|smells?|tastes?|eats?|ate|drinks?|drank|sleeps?|slept|works?|worked|runs?|ran|sings?|sang|drives?|drove|cries|cried|swears|swims?|walks?|fits?|goes|went|talks?|acts?|behaves?|lives)(?: (?:just|exactly|more|a bit|\w+ly))? like (?:an?|the|my|his|her|two|\w+ on)\b"
    r"|^(?:god|heaven|lord|goodness) (?:help|helps|knows|bless|save|forbid)\b"
)


# "User's son is soccer practice is on Tuesdays": two verbs, and nothing that joins them.
_TWO_VERBS = re2.compile(r"\b(?:is|are) (?P<between>[a-z' -]{1,60}?) (?:is|are) ")
_JOINS = re2.compile(
    r"\b(?:that|who|which|what|where|when|how|why|if|whether|because|and|but|or|so|as|than|since|while|until|whoever|whatever|all|everything|one)\b"
)
# "goes Mondays": where to is left out.
_NO_PLACE = re2.compile(
    r"(?i)^\S+ goes (?:on )?(?:every )?(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?(?:,| and|\.$| |$))+"
)
# "User replaced in 2017": what was replaced stood in the sentence before.
_NO_OBJECT = re2.compile(
    r"^\S+ (?:replaced|removed|diagnosed|fitted|changed|moved|cancelled|postponed|repaired|fixed|operated|prescribed|stopped|started|doubled|ordered|booked|signed|finished|quit) (?:in (?:19|20)\d\d|in (?:January|February|March|April|May|June|July|August|September|October|November|December)|on \w+day|by|last \w+|yesterday|again)\b"
)


# "User has eaten from since 1981": what it was eaten from stood before, in "the plate I have eaten from".
_LEFT_HANGING = re2.compile(
    r"\b(?:lived|eaten|worked|slept|sat|stayed|talked|heard|written) (?:in|from|with|at|on|to|about|for) (?:since|because|when|until|ever)\b|\b(?:had|done|seen) that since\b"
)


def is_whole(content: str, *, name: str) -> bool:
    """Return True if a sentence neither ends abruptly nor repeats its subject and verb, and only compares nothing."""
    if (
        _CUT.search(content)
        or content.endswith(f"{name}'s.")
        or _GARBLED.search(content)
        or _COMPARES.search(content)
        or _NO_PLACE.search(content)
        or _NO_OBJECT.search(content)
        or _LEFT_HANGING.search(content)
    ):
        return False
    if (garbled := _TWO_VERBS.search(content)) and not _JOINS.search(garbled.group("between") or ""):
        return False
    if any(content.count(left) != content.count(right) for left, right in _BRACKETS) or content.count('"') % 2:
        return False
    return not _repeats(content, name)


def _repeats(content: str, name: str) -> bool:
    """Recognise "User knows User knows."."""
    head, _, rest = content.removesuffix(".").partition(f"{name} ")
    verb = rest.partition(" ")[0]
    return not head and bool(verb) and f" {name} {verb}" in f" {rest.removeprefix(verb)}"
