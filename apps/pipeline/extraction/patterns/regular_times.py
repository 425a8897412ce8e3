"""What somebody does regularly, told without a verb: "Physiotherapy every Tuesday.", "Choir on Thursdays."."""

from dataclasses import dataclass

import re2

from apps.pipeline.core.enums import MemoryType
from apps.pipeline.extraction.patterns.pattern import Pattern
from apps.pipeline.lexicon import verbs
from apps.pipeline.lexicon.calendar import WEEKDAYS
from apps.pipeline.lexicon.tables import alternation

_DAY = rf"(?i:{alternation(WEEKDAYS)})"
_REGULARLY = re2.compile(
    rf"^(?P<what>\p{{L}}[\p{{Ll}}-]+(?: \p{{Ll}}[\p{{Ll}}'-]+){{0,3}}?),? (?P<when>(?:every (?:{_DAY}|other {_DAY}|day|week|morning|evening)|on {_DAY}s(?: and {_DAY}s)?|(?:once|twice|three times|four times) a (?:day|week|month))(?: (?:at|from) [\d:., apm]+)?)[\s.!]*$"
)
_NO_THING = frozenset(
    "i we you he she it they this that these those not no and but or so yes then same always only please even".split()
)

_ROW = Pattern(
    name="regular_time", type=MemoryType.FACT, predicate="has_regularly", expression=".*", importance=0.6, max_words=12
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RegularTime:
    """An activity and its regular time, and the sentence that states them."""

    row: Pattern
    value: str
    content: str


def regular_time_in(clause: str, *, name: str) -> RegularTime | None:
    """Read a noun and a regular time; None if there is a verb, or nothing is named."""
    found = _REGULARLY.match(clause)
    if found is None:
        return None
    words = found.group("what").lower().split()
    if not _NO_THING.isdisjoint(words) or any(verbs.must_be_past(word) or word in verbs.MODALS for word in words):
        return None
    if words[0] in ("is", "are", "was", "be") or verbs.past_of(words[0]):
        return None
    what = found.group("what")
    what = f"{what[:1].lower()}{what[1:]}" if not what.isupper() else what
    value = f"{what} {found.group('when')}"
    return RegularTime(row=_ROW, value=value, content=f"{name} has {value}.")
