"""Clauses without "who": in "my cousin I grew up with has lupus", "I" is not who has it."""

import re
from collections.abc import Sequence

from apps.pipeline.extraction.patterns.new_subjects import is_finite
from apps.pipeline.lexicon import verbs
from apps.pipeline.lexicon.health_terms import CONDITION_ADJECTIVES
from apps.pipeline.lexicon.tables import alternation

_WORD = re.compile(r"['’]?[\w-]+(?:['’]t)?")
_FARTHEST = 120  # characters between "I" and what is told: each "I" of a long text is read only so far
_THIRD_PERSON = frozenset("has takes gets suffers carries eats".split())  # never the verb of "I"
_ANY_PERSON = frozenset("had have take".split())
_IS = frozenset("is are was were".split())
_ADJECTIVE = re.compile(
    rf"(?i)^(?:{alternation(CONDITION_ADJECTIVES)}|allergic|vegan|vegetarian|pescatarian|coeliac|celiac|on|off|\w+[ -]intolerant)\b"
)
_ADVERBS = frozenset("also always still just now both quite very really so never actually".split())
_PREPOSITIONS = frozenset("with to at from for about by near of on in beside behind after alongside".split())
_AUXILIARIES = frozenset(
    "'ve ’ve have had has do did not can could will would may might must should shall 'd ’d 'll ’ll be been".split()
)


def is_subject_of_another_verb(found: re.Match[str], clause: str, *, end: int) -> bool:
    """Return True for "I" or "we" whose verb is another than the one that stands last before `end`.

    The last verb is somebody else's where it is in the third person, or follows a preposition or a verb: "the guy I met
    has", "the people I work with have". "I went home and had" is the speaker's.
    """
    if found.group() not in ("I", "i", "We", "we") or end - found.end() > _FARTHEST:
        return False
    words = [each.group().lower() for each in _WORD.finditer(clause, found.end(), end)]
    if begins := _WORD.match(clause, end):
        words.append(begins.group().lower())  # what is told may begin with its verb: "had measles"
    words = [word for word in words if word not in _ADVERBS]
    place = next((n for n in reversed(range(len(words))) if words[n] in _THIRD_PERSON | _ANY_PERSON | _IS), 0)
    if place == 0 or "who" in words[:place]:  # "I'm the one who has": clauses with "who" are read elsewhere
        return False
    verb, before = words[place], words[place - 1]
    if verb in _THIRD_PERSON:
        return True
    if verb in _IS:  # of somebody; "the tablet I take is metformin" is of a tablet
        return bool(_ADJECTIVE.match(clause[end:])) and before not in ("it", "this", "that", "and", "but", "or")
    if before == "to":
        return verb not in ("have", "take")  # "used to have", but "the boy I sat next to had"
    return before not in _AUXILIARIES and (before in _PREPOSITIONS or _is_verb(words[:place]))


def _is_verb(words: Sequence[str]) -> bool:
    """Return True if the last of the words behind a subject is a verb: "I met", "I'm seeing"."""
    word = words[-1]
    return word.endswith("ing") or is_finite(word) or bool(verbs.past_of(word))
