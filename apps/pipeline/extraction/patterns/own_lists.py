"""Lists under a heading that says whose they are: "My team:", "Ground rules", with one thing on each line.

A line of such a list has no verb of its own: what it says stands in the heading. Lists of the task at hand ("my code")
and lists under headings of others ("Site rules") are not read.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from apps.pipeline.core.enums import CONVENTION, MemoryType
from apps.pipeline.extraction.patterns import third_person
from apps.pipeline.extraction.patterns.pattern import Pattern
from apps.pipeline.provenance.own_words import own_prose
from apps.pipeline.provenance.spans import HIDDEN

_ITEM = re.compile(r"^\s*(?:[-*•–]|\d{1,2}[.)])\s+(?P<item>\S.*)$")
_RULES = re.compile(
    r"(?i)^(?:(?:a few|some|my|our|the|ground|house|team|project|working)\s)*(?:rules|conventions|preferences)"
    r"(?: (?:first|please|for you|for (?:this|the|our) (?:repo|project|team)|of engagement))?\s*:?$"
)
_OWN = re.compile(
    r"(?i)^(?:and |also )?(?P<owner>my|our) (?P<what>[a-z][a-z'-]*(?: [a-z'-]+){0,2}?)(?: (?:is|are|now|currently|so far))*\s*:$"
)
# What is worked at in the talk is no life.
_OF_THE_TASK = frozenset(
    "code query queries list lists todo to-do todos task tasks question questions essay draft text texts ideas idea options option steps errors error "
    "output input data notes plan agenda message messages email problem problems issue issues points thoughts arguments reasons results answer "
    "answers shopping groceries ingredients homework script schema table tests requirements goals".split()
)
_MOST_ITEMS = 12
_FEWEST_ITEMS = 2
_MOST_WORDS = 24  # of an item
_RULE = Pattern(
    name="listed_rule", type=MemoryType.PREFERENCE, predicate="wants_assistant_to", expression=".*", topic="assistant",
    tags=(CONVENTION, "procedure"), importance=0.9, max_words=_MOST_WORDS,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ListedItem:
    """A line of a list, as its own memory."""

    row: Pattern
    quote: str
    value: str
    content: str


def listed_in(text: str, *, name: str) -> Iterator[ListedItem]:
    """Yield the lines of the lists in the author's own words that a heading calls theirs, or calls rules."""
    if "\n" not in text:
        return
    lines = own_prose(text).splitlines()
    for place, line in enumerate(lines):
        heading = line.strip()
        own = _OWN.match(heading)
        is_own = own is not None and _OF_THE_TASK.isdisjoint(own["what"].lower().split())
        are_rules = _RULES.match(heading) is not None
        items = _items_below(lines[place + 1 :]) if are_rules or is_own else []
        if len(items) < _FEWEST_ITEMS or HIDDEN in heading:
            continue
        made = (
            _rule(item, name) if are_rules or own is None else _thing(item, own["what"].lower(), name) for item in items
        )
        yield from (each for each in made if each is not None)


def _items_below(lines: list[str]) -> list[str]:
    found = takewhile(lambda each: each is not None, map(_ITEM.match, lines[:_MOST_ITEMS]))
    return [each["item"].strip() for each in found if each is not None]


def _rule(item: str, name: str) -> ListedItem | None:
    told = _told(item, name)
    if not told:
        return None
    return ListedItem(_RULE, item, told, f"{name} wants the assistant to follow the rule: {told}.")


def _thing(item: str, what: str, name: str) -> ListedItem | None:
    told = _told(item, name)
    predicate = "_".join(what.replace("'", "").replace("-", " ").split())
    row = Pattern(
        name="listed", type=MemoryType.FACT, predicate=predicate, expression=".*", importance=0.7, max_words=_MOST_WORDS
    )
    return ListedItem(row, item, told, f"{name}'s {what}: {told}.") if told else None


def _told(item: str, name: str) -> str:
    """Return a line in the third person; "" for a question, for what is hidden and for what is too long."""
    if HIDDEN in item or item.endswith(("?", ":")) or len(item.split()) > _MOST_WORDS:
        return ""
    told = third_person.third_person(item.rstrip(" .!;,"), name=name)
    is_odd = third_person.speaks_in_first_person(told, name=name) or third_person.addresses_someone(told, name=name)
    return "" if is_odd else told
