"""Relative clauses without a pronoun: in "my cousin I grew up with has lupus", "I" is not who has it."""

import re

from apps.pipeline.extraction.patterns.new_subjects import is_finite, is_present
from apps.pipeline.lexicon import verbs
from apps.pipeline.lexicon.health_terms import CONDITION_ADJECTIVES
from apps.pipeline.lexicon.tables import alternation

_MOST_CHARACTERS = 120  # between "I" and what is told: each "I" of a long text is read only so far
_LONGEST_NOUN = 40  # characters, with what follows it
_WORD = re.compile(r"['’]?[\w-]+(?:['’]t)?")
# The noun that the clause describes stands right before "I". What is taken is none: "the tablet I take has codeine".
_NOUN = re.compile(
    r"(?i)(?P<noun>(?!(?:tablet|pill|med|medicine|medication|drug|inhaler|cream|injection|dose|prescription|test|scan)s?\b)[\w’'-]+) (?:(?:that|who|whom) )?$"
)
_NO_NOUNS = frozenset(
    "and but or so because cause since if when while as that which who though although than where what how why then now today "
    "yesterday also sometimes me him her us you it them thing things all time say think know hope mean guess ok yes no believe fear sure glad sad sorry happy afraid".split()
)
_THIRD_PERSON = frozenset("has takes gets suffers carries eats".split())  # never the verb of "I"
_HAVE_OR_TAKE = frozenset("had have take".split())
_IS = frozenset("is are was were".split())
_QUALITY = re.compile(
    rf"(?i)(?: \w+ly| so| very| both| now)? (?:{alternation(CONDITION_ADJECTIVES)}|allergic|vegan|vegetarian|pescatarian|coeliac|celiac|on|off|\w+[ -]intolerant)\b"
)
_ADVERBS = frozenset("also always still just now both quite very really so never actually".split())
_AUXILIARIES = frozenset(
    "'ve ’ve have had has do did not can could will would may might must should shall 'd ’d 'll ’ll be been".split()
)
_JOINS = re.compile(r"(?i)[,;&+–—(/]|\b(?:and|but|or|because|so|since|when|if|who|that|which)\b")


def is_subject_of_another_verb(found: re.Match[str], clause: str, *, end: int) -> bool:
    """Return True for "I" or "we" of a relative clause, whose noun has, takes or is what stands at `end`.

    Both verbs stand between "I" and what is told, or what is told begins with the second one: "the boy I sat next to
    had measles". "This morning I went home and had" is the speaker's.
    """
    if found.group() not in ("I", "i", "We", "we") or end - found.end() > _MOST_CHARACTERS:
        return False
    noun = _NOUN.search(clause[max(0, found.start() - _LONGEST_NOUN) : found.start()])
    if noun is None or noun["noun"].lower() in _NO_NOUNS or is_finite(noun["noun"].lower()):
        return False
    words = [*_WORD.finditer(clause, found.end(), end)]
    if begins := _WORD.match(clause, end):
        words.append(begins)
    words = [each for each in words if each.group().lower() not in _ADVERBS]
    told = [each.group().lower() for each in words]
    place = next((n for n in reversed(range(len(told))) if told[n] in _THIRD_PERSON | _HAVE_OR_TAKE | _IS), 0)
    if place == 0 or _JOINS.search(clause, found.end(), words[place].start()):
        return False
    is_quality = told[place] not in _IS or _QUALITY.match(clause, words[place].end()) is not None
    return is_quality and _is_verb_of_noun(told, place)


def _is_verb_of_noun(words: list[str], place: int) -> bool:
    """Return True if a verb behind the one of "I" is that of the noun."""
    verb, before, after = words[place], words[place - 1], words[place + 1 : place + 2]
    if verb == "has" and after and (after[0] in verbs.PARTICIPLES or after[0].endswith("ed")):
        return False  # "the talk I had has changed"
    if verb in _THIRD_PERSON:
        return True
    if verb in _IS and before in ("have", "had", "'ve", "’ve"):  # "the kids I have are"
        return True
    if before == "to" and verb in ("have", "take"):  # "used to have"
        return False
    return before not in _AUXILIARIES and any(_is_verb(word) or word in ("'m", "’m") for word in words[:place])


def _is_verb(word: str) -> bool:
    return word.endswith("ing") or is_finite(word) or verbs.may_be_past(word) or is_present(f"{word}s")
