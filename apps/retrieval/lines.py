"""A line of the context block: the stored sentence in plain words, with its doubts, date and contradictions."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from apps.memories.models import Memory
from apps.memories.models.memory import is_past_plan
from apps.pipeline.core.enums import NOTE, MemoryType, Precision, SourceConfidence, Status

_USER = "User"
_DOUBTS: Mapping[str, str] = {SourceConfidence.INFERRED: "inferred", SourceConfidence.SPECULATED: "uncertain"}
# The format of times that are known less exactly than to the day.
_EVENT_DATES: Mapping[str, str] = {
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
class Wording:
    """What the lines of a block depend on beside their memories."""

    now: datetime
    user_name: str = ""
    sure: float = 0.7  # a person's approval with at least this confidence ends doubts
    disputes: Mapping[UUID, Sequence[Memory]] = field(default_factory=dict)  # the other sides that may be shown


def line_of(memory: Memory, wording: Wording) -> str:
    """Return the line of a memory with what contradicts it."""
    if memory.id not in wording.disputes:
        return _noted(memory, wording)
    sides = (memory, *wording.disputes[memory.id])
    return f"disputed: {'; also said: '.join(_noted(each, wording, says_when=True) for each in sides)}"


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


def _noted(memory: Memory, wording: Wording, *, says_when: bool = False) -> str:
    """Return a sentence with when it happened, from when and until when it is true, and how certain it is."""
    if NOTE in memory.tags:
        return quoted_line(memory.content, said_at=memory.said_at)
    notes = ["was planned"] if is_past_plan(memory, now=wording.now) else []
    is_event = memory.type == MemoryType.EVENT
    if not _DATED.search(memory.content):
        if is_event and memory.event_at is not None:
            shown = _EVENT_DATES.get(memory.event_precision, "on {day}")
            at = memory.event_at
            notes.append(shown.format(day=_day(at), month=f"{at:%B %Y}", year=at.year))
        elif says_when or is_event or _RELATIVE.search(memory.content):
            notes.append(f"said {_day(memory.said_at)}")
        if memory.valid_from > wording.now and not is_event:
            notes.append(f"from {_day(memory.valid_from)}")
    if memory.valid_until and memory.valid_until > wording.now and "until" not in memory.content:
        notes.append(f"until {_day(memory.valid_until)}")
    # What a person has kept as uncertain stays below high stakes, and keeps its doubt.
    is_approved = bool(memory.confidence_parts.get("review")) and memory.confidence >= wording.sure
    doubt = "" if is_approved else _DOUBTS.get(memory.source_confidence)
    notes += filter(None, ("unconfirmed" if memory.status == Status.PENDING_REVIEW else "", doubt))
    sentence = plain_sentence(memory.content, user_name=wording.user_name, is_rule=memory.is_rule)
    return f"{sentence} ({', '.join(notes)})" if notes else sentence


def _day(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y}"


def _flat(text: str) -> str:
    """Put a text on one line, so that no memory can look like two."""
    return " ".join(text.split())
