"""Lists under a heading that says whose they are: "My team:", "Ground rules", with one thing on each line.

A line of such a list has no verb of its own: what it says stands in the heading. Only the headings below are read: what else
is "mine" ("My imports:", "My characters:") is mostly the task at hand, and its lines say nothing of the speaker.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from apps.pipeline.core.enums import CONVENTION, MemoryType
from apps.pipeline.extraction.patterns import third_person
from apps.pipeline.extraction.patterns.pattern import Pattern
from apps.pipeline.extraction.patterns.relatives import may_be_name
from apps.pipeline.provenance.own_words import own_prose
from apps.pipeline.provenance.spans import HIDDEN

_ITEM = re.compile(r"^\s*(?:[-*•–]|\d{1,2}[.)])\s+(?P<item>\S.*)$")
_RULES = re.compile(
    r"(?i)^(?:(?:(?:(?:a few|some|my|our|the) )*(?:ground|working)|our team) (?:rules|conventions)"
    r"|(?:(?:a few|some|my|our|the) )*(?:rules|conventions|preferences) for (?:you|this repo))\s*:?$"
)
_OWN = re.compile(
    r"(?i)^(?:and |also )?(?P<owner>my|our) (?P<what>[a-z][a-z'-]*(?: [a-z'-]+){0,2}?)(?: (?:is|are|now|currently|so far))*\s*:$"
)
_HEADING = re.compile(r"(?i)^(?:(?:[a-z]+ ){0,3}?(?:my|our) (?P<what>[^:]{2,60}):|(?:my|our) (?P<word>[a-z]+))$")
_OF_PEOPLE = frozenset(
    "team family pets cats dogs children kids sons daughters twins brothers sisters siblings parents cousins friends".split()
)
_OF_HEALTH = frozenset({"medicines", "medication", "medications", "meds", "allergies"})
_OF_THE_SPEAKER = re.compile(r"(?i)^\S+\s+(?:i|i['’](?:m|ve|d|ll))\s")
_NAMED = re.compile(r"^(?P<name>[^\W\d_a-z][\w'’-]+)(?: [^\W\d_a-z][\w'’-]+)? ?(?:$|[,:(–—-])")
_NONE = re.compile(r"(?i)^(?:none|no|nothing|not|n/a)\b")
_ABOUT_THE_LIST = re.compile(r"(?i)\b(?:these|those|them)\b")
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
        is_own = own is not None and own["what"].lower() in _OF_PEOPLE | _OF_HEALTH
        are_rules = _RULES.match(heading) is not None and not _is_asked_about(lines)
        items = _items_below(lines[place + 1 :]) if are_rules or is_own else []
        if len(items) < _FEWEST_ITEMS or HIDDEN in heading:
            continue
        made = (
            _rule(item, name) if are_rules or own is None else _thing(item, own["what"].lower(), name) for item in items
        )
        yield from (each for each in made if each is not None)


def without_lists_at_hand(prose: str) -> str:
    """Return prose of the same length with white space for the lines below "My characters:" and the like.

    A line that says "I" speaks for itself.
    """
    if "\n" not in prose:
        return prose
    shown: list[str] = []
    is_at_hand = False
    for line in prose.splitlines(keepends=True):
        said = line.strip()
        is_item = _ITEM.match(said) is not None
        if heading := _HEADING.match(said):
            is_at_hand = (_OF_PEOPLE | _OF_HEALTH).isdisjoint((heading["what"] or heading["word"]).lower().split())
        elif said and not is_item:
            is_at_hand = False
        is_hidden = is_at_hand and is_item and not _OF_THE_SPEAKER.match(said)
        shown.append(re.sub(r"[^\r\n]", " ", line) if is_hidden else line)
    return "".join(shown)


def _is_asked_about(lines: list[str]) -> bool:
    """Return True if a text speaks of its list: "can you translate these into German?"."""
    return any(_ITEM.match(line) is None and _ABOUT_THE_LIST.search(line) for line in lines)


def _items_below(lines: list[str]) -> list[str]:
    found = takewhile(lambda each: each is not None, map(_ITEM.match, lines[:_MOST_ITEMS]))
    return [each["item"].strip() for each in found if each is not None]


def _rule(item: str, name: str) -> ListedItem | None:
    told = _told(item, name)
    if not told:
        return None
    return ListedItem(_RULE, item, told, f"{name} wants the assistant to follow the rule: {told}.")


def _thing(item: str, what: str, name: str) -> ListedItem | None:
    is_told = _NONE.match(item) is None if what in _OF_HEALTH else _begins_with_name(item)
    told = _told(item, name) if is_told else ""
    predicate = "_".join(what.replace("'", "").replace("-", " ").split())
    row = Pattern(
        name="listed", type=MemoryType.FACT, predicate=predicate, expression=".*", importance=0.7, max_words=_MOST_WORDS
    )
    return ListedItem(row, item, told, f"{name}'s {what}: {told}.") if told else None


def _begins_with_name(item: str) -> bool:
    found = _NAMED.match(item)
    return found is not None and may_be_name(found["name"])


def _told(item: str, name: str) -> str:
    """Return a line in the third person; "" for a question, for what is hidden and for what is too long."""
    if HIDDEN in item or item.endswith(("?", ":")) or len(item.split()) > _MOST_WORDS:
        return ""
    told = third_person.third_person(item.rstrip(" .!;,"), name=name)
    is_odd = third_person.speaks_in_first_person(told, name=name) or third_person.addresses_someone(told, name=name)
    return "" if is_odd else told
