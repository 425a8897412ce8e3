"""A line of the context block: a memory's sentence with its date, its doubts and contradicting memories.

A triple lacks further words of the sentence ("every other month", "until December"), so it is shown only for a few
well-known attributes, and only if it contains every word of the sentence.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.enums import MemoryType, Polarity, Precision, SourceConfidence

ATTRIBUTES = frozenset(
    "name nickname pronouns birthday age lives_in comes_from works_at works_as studies studies_at email phone_number "
    "timezone native_language".split()
)
_GRAMMAR = frozenset("a an the is are s in at as of on to user their his her its".split())
_UNCONFIRMED = "unconfirmed"
_DOUBTS = {SourceConfidence.INFERRED: "inferred", SourceConfidence.SPECULATED: "uncertain"}
# The format of times that are known less exactly than to the day.
_EVENT_DATES = {
    Precision.WEEK: "week of {day}",
    Precision.MONTH: "in {month}",
    Precision.QUARTER: "in the quarter from {month}",
    Precision.YEAR: "in {year}",
}


@dataclass(frozen=True, slots=True)
class ContextMemory:
    """The parts of a memory that the block shows."""

    id: UUID
    type: MemoryType
    content: str
    said_at: datetime
    subject: str = ""  # the subject's name; empty for the end user
    predicate: str = ""
    object_text: str = ""
    polarity: Polarity = Polarity.POSITIVE
    event_at: datetime | None = None
    event_precision: Precision = Precision.INSTANT
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    source_confidence: SourceConfidence = SourceConfidence.DIRECT
    is_unverified: bool = False
    is_approved: bool = False  # a person has confirmed it, so doubts are not shown
    is_disputed: bool = False
    contradicted_by: tuple["ContextMemory", ...] = ()  # contradicting memories that may be shown


def sentence_line(memory: ContextMemory, *, now: datetime) -> str:
    """Return the line of a memory with its sentence and with what contradicts it."""
    own = _dated_sentence(memory, now)
    if not memory.is_disputed:
        return own
    return "; also said: ".join((f"disputed: {own}", *(_dated_sentence(each, now) for each in memory.contradicted_by)))


def quoted_line(content: str, *, said_at: datetime) -> str:
    """Return the line of a message as a quote."""
    return f"\u201c{_flat(content)}\u201d (said {_day(said_at)})"


def fact_line(memory: ContextMemory, *, now: datetime) -> str | None:
    """Return a well-known attribute as `name = value`; None if the sentence says more."""
    if memory.is_disputed or memory.polarity is Polarity.NEGATIVE or not _says_everything(memory):
        return None
    name = f"{memory.subject}.{memory.predicate}" if memory.subject else memory.predicate
    return f"{_start(memory, now)}{_flat(name)} = {_flat(memory.object_text)} ({_notes(memory, now)})"


def _says_everything(memory: ContextMemory) -> bool:
    if memory.predicate not in ATTRIBUTES or not memory.object_text:
        return False
    triple = canonical_text(f"{memory.subject} {memory.predicate.replace('_', ' ')} {memory.object_text}")
    return set(canonical_text(memory.content).split()) <= {*triple.split(), *_GRAMMAR}


def _dated_sentence(memory: ContextMemory, now: datetime) -> str:
    return f"{_start(memory, now)}{_flat(memory.content)} ({_notes(memory, now)})"


def _start(memory: ContextMemory, now: datetime) -> str:
    """Return the note when a memory becomes true, if that is in the future."""
    begins = memory.valid_from
    is_ahead = begins is not None and begins > now and memory.type is not MemoryType.EVENT
    return f"from {_day(begins)}: " if begins and is_ahead else ""


def _notes(memory: ContextMemory, now: datetime) -> str:
    """Return the notes when it happened or was said, until when it is true, and how certain it is."""
    notes = [_when(memory)]
    if memory.valid_until and memory.valid_until > now:
        notes.append(f"until {_day(memory.valid_until)}")
    if memory.is_unverified:
        notes.append(_UNCONFIRMED)
    if not memory.is_approved and (doubt := _DOUBTS.get(memory.source_confidence)):
        notes.append(doubt)
    return ", ".join(notes)


def _when(memory: ContextMemory) -> str:
    """Return when an event happened, as exactly as is known; otherwise the day on which it was said."""
    moment = memory.event_at if memory.type is MemoryType.EVENT else None
    if moment is None:
        return f"said {_day(memory.said_at)}"
    return _EVENT_DATES.get(memory.event_precision, "on {day}").format(
        day=_day(moment), month=f"{moment:%B %Y}", year=moment.year
    )


def _day(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y}"


def _flat(text: str) -> str:
    """Put a text on one line, so that no memory can look like two."""
    return " ".join(text.split())
