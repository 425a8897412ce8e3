"""Where another statement begins within a sentence: at a subject of its own with a finite verb.

"Leila is vegetarian, Tom's dad has diabetes and Marco is coeliac" makes three statements. What depends on a condition or
is only reported stays together, so that "If I take the job, Ines would be my boss" is never read as "Ines would be …".
"""

import re
from collections.abc import Iterator

from apps.pipeline.extraction.patterns.relatives import IS_SHORT
from apps.pipeline.lexicon import verbs

_NAME = r"(?!I\b|We\b|You\b|It\b|This\b|That\b|They\b)[A-ZÀ-Þ][\w’'-]*[a-zà-ÿ](?<!['’]s)"
_SUBJECT = (
    rf"(?:(?:Dr\.? |Mr\.? |Mrs\.? |Ms\.? )?{_NAME}(?: {_NAME})?|[Ss]he|[Hh]e"
    rf"|(?:[A-ZÀ-Þ][\w-]*['’]s|(?P<article>[Mm]y|[Oo]ur|[Hh]er|[Hh]is|[Tt]he)) (?:[a-zà-ÿ'-]+ ){{0,2}}?[a-zà-ÿ'-]+(?: {_NAME})?)"
)
_ADVERBS = r"(?:(?:just|also|still|always|never|now|already|recently|finally|only|really|usually|often) )*"
_NEXT = re.compile(
    rf"(?:,|;|:|\s[-–—])\s*(?:(?:and|but|so|plus|though|because|as|since|while) )?(?={_SUBJECT}(?P<short>['’]s)? {_ADVERBS}(?P<verb>[a-z]+(?:['’]t)?)\b)"
    rf"|\s+(?:and|but|so|because|though|although|while) (?:(?:now|then|today|also|sometimes) )?(?={_SUBJECT.replace('<article>', '<article2>')}(?P<short2>['’]s)? {_ADVERBS}(?P<verb2>[a-z]+(?:['’]t)?)\b)"
)
_FINITE = frozenset(
    "is are was were has had can cannot could will would does did must should may might can't couldn't won't wouldn't doesn't didn't isn't "
    "wasn't hasn't hadn't mustn't shouldn't".split()
)
_REGULAR = frozenset(
    "live work love like hate enjoy play use need prefer want help start move call plan stay visit own collect suffer look cook bake "
    "smoke turn retire join study handle manage attend train tolerate avoid rent cost open close".split()
)
_DEPENDS = re.compile(
    r"(?i)\b(?:if|unless|whether|imagine|suppose|pretend|wish|hope|when|whenever|once|as soon as|until|till|in case|says?|said|tells?|told"
    r"|thinks?|thought|guess|heard|believes?|wonder|claims?|according to|called|named|titled|would)\b"
)
_SPEAKER = re.compile(r"(?:^|\s)(?:I|i|we|We)(?:['’](?:m|ve|re|ll|d))?\s")


def split_at_subjects(clause: str) -> Iterator[str]:
    """Yield the parts of a clause that have a subject and a finite verb of their own."""
    start = 0
    for found in _NEXT.finditer(clause):
        before = clause[start : found.start()]
        if _is_statement(before) and _is_finite(found) and not _DEPENDS.search(before):
            yield before
            start = found.end()
    yield clause[start:]


def _is_finite(found: re.Match[str]) -> bool:
    verb = (found["verb"] or found["verb2"]).replace("’", "'")
    if found["short"] or found["short2"]:
        return True
    if verb in _FINITE or (verbs.may_be_past(verb) and verb not in verbs.INVARIABLE):
        return True
    return not (found["article"] or found["article2"]) and is_present(verb)


def is_finite(word: str) -> bool:
    """Return True for an auxiliary, the third person of a known verb, or what can only be a past tense."""
    return word.replace("’", "'") in _FINITE or is_present(word) or verbs.must_be_past(word)


def is_present(word: str) -> bool:
    """Return True for the third person of a known verb: "leads", "works"."""
    base = verbs.base_form(word)
    return base != word and (base in _REGULAR or bool(verbs.past_of(base)))


def _is_statement(text: str) -> bool:
    """Return True if a part has a finite verb."""
    words = [word.strip(",.;:!\"'()").replace("’", "'") for word in text.split()]
    return bool(_SPEAKER.search(f" {text} ") or IS_SHORT.match(text.lstrip())) or any(
        word in _FINITE
        or word.endswith(("'s", "'m", "'ve", "'re"))
        or is_present(word)
        or verbs.may_be_past(word)
        or verbs.past_of(word)
        for word in words[1:]
    )
