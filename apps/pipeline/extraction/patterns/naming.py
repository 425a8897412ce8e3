"""The name of somebody new, told behind them: "I adopted a cat yesterday, she's called Mochi"."""

import re

from apps.pipeline.lexicon.kinship import KIN_WORDS
from apps.pipeline.lexicon.tables import alternation

_NAME = r"(?P<name>[A-ZÀ-Þ][\w'’-]+)"
_CALLED = rf"(?:(?:[Ss]he|[Hh]e|[Ii]t)(?:['’]s| is) (?:called|named)|(?:[Hh]er|[Hh]is|[Ii]ts) name(?:['’]s| is)|called|named) {_NAME}"
_IS_CALLED = re.compile(rf"^{_CALLED}\b")
_SOMEBODY = rf"\b(?P<whom>(?:an?|one|another) (?:[a-z-]+ ){{0,3}}?(?:{alternation(KIN_WORDS)})|some(?:one|body)(?: new)?)\b(?!,? (?:called|named))"
_SOMEBODY_NEW = re.compile(_SOMEBODY)
_NAMED_BEHIND = re.compile(rf"{_SOMEBODY}(?P<more>[^.;:!?,]{{0,40}}?),? (?:and )?{_CALLED}\b")
_JOINT = re.compile(r"^(?:,| -| –)? (?:and )?(?=(?:she|he|it)\b)")
# "… a little brother now, a ginger kitten called Praline"
_APPOSITION = re.compile(r"^[^,;.!?]*, (?P<what>an? (?:[a-z-]+ ){1,3}(?:called|named) [A-ZÀ-Þ][\w'’-]+)")


def named_in_place(sentence: str, *, after: str) -> str:
    """Write "a cat named Mochi yesterday" for "a cat yesterday. She's called Mochi."; `after` is the next sentence."""
    called = _IS_CALLED.match(after) if names_the_one_before(sentence, after) else None
    told = f"{sentence.rstrip(' .!')}, {called.group()}" if called else sentence
    return _NAMED_BEHIND.sub(r"\g<whom> named \g<name>\g<more>", told, count=1)


def is_called(clause: str) -> bool:
    """Return True if a clause only says what "she", "he" or "it" is called."""
    return _IS_CALLED.match(clause) is not None and not clause.startswith(("called", "named"))


def told_behind_name(sentence: str) -> tuple[str, str]:
    """Return the name in "Her name is Sandra, she teaches geography", and what is told of her behind it."""
    found = _IS_CALLED.match(sentence)
    rest = _JOINT.sub("", sentence[found.end() :]) if found else ""
    return (found["name"] if found else ""), rest.strip(" .!")


def names_the_one_before(sentence: str, after: str) -> bool:
    """Return True if a sentence names the only one whom the sentence before it introduces."""
    return _IS_CALLED.match(after) is not None and len(_SOMEBODY_NEW.findall(sentence)) == 1


def apposition_in(text: str) -> str:
    """Return the apposition that names what an object is about: "a ginger kitten called Praline"; "" if there is none."""
    found = _APPOSITION.match(text)
    return found["what"] if found else ""
