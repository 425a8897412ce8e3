"""Enums of memories: what they are, how they were stated, and what has become of them."""

from enum import StrEnum


class MemoryType(StrEnum):
    """The kind of a memory; statements of no kind are not stored."""

    FACT = "fact"
    PREFERENCE = "preference"
    EVENT = "event"
    ENTITY = "entity"
    RELATION = "relation"


class Status(StrEnum):
    """The status of a memory; only ACTIVE ones are shown by default."""

    ACTIVE = "active"
    PENDING_REVIEW = "pending_review"
    SUPERSEDED = "superseded"
    REJECTED = "rejected"
    RETRACTED = "retracted"
    MERGED = "merged"
    ARCHIVED = "archived"


LIVE_STATUSES = frozenset({Status.ACTIVE, Status.PENDING_REVIEW})


class SpeechAct(StrEnum):
    """How a statement was meant; only ASSERTED ones can be taken literally."""

    ASSERTED = "asserted"
    HYPOTHETICAL = "hypothetical"
    ROLEPLAY = "roleplay"
    SARCASM = "sarcasm"
    QUOTED = "quoted"


class SourceConfidence(StrEnum):
    """How firmly the source turns state it."""

    DIRECT = "direct"
    CONFIRMED = "confirmed"
    INFERRED = "inferred"
    SPECULATED = "speculated"


class Grounding(StrEnum):
    """Whether the source turns support a candidate."""

    SUPPORTED = "Supported"
    PARTIAL = "Partial"
    UNKNOWN = "Unknown"
    NOT_SUPPORTED = "NotSupported"


class Polarity(StrEnum):
    """Whether a statement affirms or denies its predicate."""

    POSITIVE = "positive"
    NEGATIVE = "negative"


class Precision(StrEnum):
    """How exactly a time is known; a week can begin on any day, a weekend on its Saturday."""

    INSTANT = "instant"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"


class EntityType(StrEnum):
    """The kind of an entity."""

    PERSON = "person"
    ORGANISATION = "organisation"
    PLACE = "place"
    PRODUCT = "product"
    PROJECT = "project"
    ANIMAL = "animal"
    EVENT = "event"
    OTHER = "other"


class Stakes(StrEnum):
    """How much harm a wrong memory would do in a request; decides the confidence that is required."""

    HIGH = "high"
    NORMAL = "normal"
    LOW = "low"
