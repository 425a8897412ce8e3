"""A line of the context block: the stored sentence in plain words, with its doubts, date and contradictions."""

import re
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from apps.pipeline.core.enums import MemoryType, Precision, SourceConfidence

_USER = "User"
_DOUBTS = {SourceConfidence.INFERRED: "inferred", SourceConfidence.SPECULATED: "uncertain"}
# The format of times that are known less exactly than to the day.
_EVENT_DATES = {
    Precision.WEEK: "week of {day}",
    Precision.MONTH: "in {month}",
    Precision.QUARTER: "in the quarter from {month}",
    Precision.YEAR: "in {year}",
}
# A rule that calls the assistant "it" stays a statement.
_RULE = re.compile(
    r"(?:wants|asks|expects|tells|would like|has asked) (?:the assistant|agents|you) "
    r"(?P<never>(?:not|never) to |to (?:not|never) )?(?:to )?(?P<rest>(?!.*\bit\b).+)",
    re.DOTALL,
)
_MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
# A sentence with a date of its own needs no other one.
_DATED = re.compile(rf"\b(?:19|20)\d\d\b|\b\d{{1,2}}(?:st|nd|rd|th)?\.? (?:of )?{_MONTH}\b|\b{_MONTH} \d{{1,2}}\b")
# Words that need the day on which they were said; an extractor resolves them, a caller may store them.
_RELATIVE = re.compile(
    r"(?i)\b(?:yesterday|today|tonight|tomorrow|ago|recently|soon|(?:last|next|this) (?:night|morning|evening|week"
    r"|weekend|month|year|spring|summer|autumn|fall|winter|(?:mon|tues|wednes|thurs|fri|satur|sun)day))\b"
)


@dataclass(frozen=True, slots=True)
class ContextMemory:
    """The parts of a memory that the block shows."""

    id: UUID
    type: MemoryType
    content: str
    said_at: datetime
    is_rule: bool = False
    is_quote: bool = False
    event_at: datetime | None = None
    event_precision: Precision = Precision.INSTANT
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    is_past_plan: bool = False
    source_confidence: SourceConfidence = SourceConfidence.DIRECT
    is_unverified: bool = False
    is_approved: bool = False  # a person has confirmed it, so doubts are not shown
    is_disputed: bool = False
    contradicted_by: tuple["ContextMemory", ...] = ()  # contradicting memories that may be shown


def line_of(memory: ContextMemory, *, user_name: str, now: datetime) -> str:
    """Return the line of a memory with what contradicts it."""
    if not memory.is_disputed:
        return _noted(memory, user_name, now)
    others = (_noted(each, user_name, now, says_when=True) for each in memory.contradicted_by)
    return "; also said: ".join((f"disputed: {_noted(memory, user_name, now, says_when=True)}", *others))


def quoted_line(content: str, *, said_at: datetime) -> str:
    """Return the line of a message as a quote."""
    return f"\u201c{_flat(content)}\u201d (said {_day(said_at)})"


def plain_sentence(content: str, *, user_name: str = "", is_rule: bool = False) -> str:
    """Return a sentence without the user as its first word, which the heading names; a rule as an instruction."""
    text = _flat(content)
    openings = (f"{name} " for name in (user_name, _USER) if name)
    rest = next((text.removeprefix(each) for each in openings if text.startswith(each)), "")
    if not rest or rest.startswith("and "):  # "User and Tom" are named together
        return text
    if is_rule and (rule := _RULE.fullmatch(rest)):
        rest = f"never {rule['rest']}" if rule["never"] else rule["rest"]
    return rest[:1].upper() + rest[1:]


def _noted(memory: ContextMemory, user_name: str, now: datetime, *, says_when: bool = False) -> str:
    """Return a sentence with when it happened, from when and until when it is true, and how certain it is."""
    if memory.is_quote:
        return quoted_line(memory.content, said_at=memory.said_at)
    notes = ["was planned"] if memory.is_past_plan else []
    is_event = memory.type is MemoryType.EVENT
    if not _DATED.search(memory.content):
        if is_event and memory.event_at is not None:
            shown = _EVENT_DATES.get(memory.event_precision, "on {day}")
            at = memory.event_at
            notes.append(shown.format(day=_day(at), month=f"{at:%B %Y}", year=at.year))
        elif says_when or is_event or _RELATIVE.search(memory.content):
            notes.append(f"said {_day(memory.said_at)}")
        if memory.valid_from and memory.valid_from > now and not is_event:
            notes.append(f"from {_day(memory.valid_from)}")
        if memory.valid_until and memory.valid_until > now:
            notes.append(f"until {_day(memory.valid_until)}")
    doubt = "" if memory.is_approved else _DOUBTS.get(memory.source_confidence)
    notes += filter(None, ("unconfirmed" if memory.is_unverified else "", doubt))
    sentence = plain_sentence(memory.content, user_name=user_name, is_rule=memory.is_rule)
    return f"{sentence} ({', '.join(notes)})" if notes else sentence


def _day(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y}"


def _flat(text: str) -> str:
    """Put a text on one line, so that no memory can look like two."""
    return " ".join(text.split())
