"""What is said of two at once: "Priya is vegetarian and so is Mina", "Tom smokes, and neither does Ida mind"."""

import re

from apps.pipeline.lexicon import verbs
from apps.pipeline.lexicon.kinship import KIN_WORDS
from apps.pipeline.lexicon.tables import alternation

_SOMEONE = rf"(?:(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er) (?:[a-z]+ )?(?:{alternation(KIN_WORDS)})(?: [A-ZÀ-Þ][\w-]+)?|[A-ZÀ-Þ][\w-]+|[Ii]|[Ss]he|[Hh]e)"
_SO_IS = re.compile(
    rf"(?P<said>(?:^|(?<=[,;] )|(?<= and )|(?<= but ))(?P<first>{_SOMEONE})(?P<short>['’](?:s|m))? (?P<rest>[^,;.!?]{{3,80}}?)),? (?:and|but) (?P<as>so|neither|nor) (?P<verb>is|am|are|was|does|do|did|has|have|can) (?P<second>{_SOMEONE})(?= too| as well|[,;.!?]|$)"
)
_AS_WELL, _ALL = frozenset({"so", "neither", "nor"}), frozenset({"everything", "anything", "all", "every"})
_BE = frozenset("is am are was isn't aren't wasn't".split())
# "I eat everything apart from olives" says that one eats no olives.
_ALL_BUT = re.compile(
    rf"(?:^|(?<=[,;] )|(?<= and )|(?<= but ))(?P<who>{_SOMEONE}) (?P<verb>eats?|drinks?|likes?|loves?|takes?) (?:absolutely |almost |nearly |just about )?(?:everything|anything|all \w+|every \w+)(?: really)?,? (?:apart from|except(?: for)?|but(?: not)?|other than|bar) (?P<object>[^,;.!?]{{2,40}})"
)


def told_of_each(sentence: str) -> str:
    """Write both statements out: "Priya is vegetarian and Mina is vegetarian"; a sentence without two stays."""
    words = frozenset(sentence.lower().split())  # a set is quicker to ask than the expressions
    if not _AS_WELL.isdisjoint(words):
        sentence = _SO_IS.sub(_repeated, sentence)
    return sentence if _ALL.isdisjoint(words) else _ALL_BUT.sub(_denied, sentence)


def _repeated(found: re.Match[str]) -> str:
    second, verb = found["second"], found["verb"]
    head, _, rest = found["rest"].partition(" ")
    head = "is" if found["short"] else head
    rest = found["rest"] if found["short"] else rest
    is_denied = found["as"] != "so"
    if verb in ("is", "am", "are", "was"):
        if head not in _BE:
            return found.group()
        return f"{found['said']} and {second} {verb}{' not' if is_denied and head[-1] != 't' else ''} {_bare(rest)}"
    if head in _BE:
        return found.group()
    if verb in ("has", "have", "can"):
        denial = head if head[-1] == "t" else f"{verb} not"
        return f"{found['said']} and {second} {denial if is_denied else verb} {rest}"
    if is_denied:
        return found.group()
    is_own = second in ("I", "i")
    base = verbs.base_form(head)
    told = head if verb == "did" else base if is_own else verbs.third_person(base)
    return f"{found['said']} and {second} {told} {rest}"


def _bare(rest: str) -> str:
    return rest.removeprefix("not ").removeprefix("also ")


def _denied(found: re.Match[str]) -> str:
    who = found["who"]
    do = "don't" if who in ("I", "i") else "doesn't"
    return f"{who} {do} {verbs.base_form(found['verb'])} {found['object']}"
