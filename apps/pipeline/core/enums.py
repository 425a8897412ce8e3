"""The words of the glossary, as enums: the one spelling that code, API, database and screens share."""

from collections.abc import Iterable
from enum import StrEnum


def choices_of(words: type[StrEnum]) -> list[tuple[str, str]]:
    """Return an enum as the (value, label) pairs that a form or a database field takes."""
    return [(word.value, word.value.replace("_", " ")) for word in words]


def values_of(words: Iterable[StrEnum]) -> list[str]:
    """Return the plain values of some words, sorted, as a database constraint takes them."""
    return sorted(word.value for word in words)


class MemoryType(StrEnum):
    """What a memory can be; what fits none of these is not stored."""

    FACT = "fact"
    PREFERENCE = "preference"
    EVENT = "event"
    ENTITY = "entity"
    RELATION = "relation"


class Status(StrEnum):
    """Where a memory stands; only ACTIVE ones are shown by default."""

    ACTIVE = "active"
    PENDING_REVIEW = "pending_review"
    SUPERSEDED = "superseded"
    REJECTED = "rejected"
    RETRACTED = "retracted"
    MERGED = "merged"
    ARCHIVED = "archived"


LIVE_STATUSES = frozenset({Status.ACTIVE, Status.PENDING_REVIEW})


class Role(StrEnum):
    """Who said a turn, as told by the authenticated caller."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"


class SpeechAct(StrEnum):
    """How a statement was meant; only ASSERTED ones can be trusted as they stand."""

    ASSERTED = "asserted"
    HYPOTHETICAL = "hypothetical"
    ROLEPLAY = "roleplay"
    SARCASM = "sarcasm"
    QUOTED = "quoted"


class SourceConfidence(StrEnum):
    """How strongly the source turns say it."""

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
    """How exactly a point in time is known; a week may begin on any day, as a weekend does on its Saturday."""

    INSTANT = "instant"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"


class EntityType(StrEnum):
    """What an entity is."""

    PERSON = "person"
    ORGANISATION = "organisation"
    PLACE = "place"
    PRODUCT = "product"
    PROJECT = "project"
    ANIMAL = "animal"
    EVENT = "event"
    OTHER = "other"


class LinkKind(StrEnum):
    """How two memories of one end user relate."""

    CONTRADICTS = "contradicts"
    POSSIBLE_DUPLICATE = "possible_duplicate"


class Stage(StrEnum):
    """The seven stages of the funnel, in their order."""

    PRE_FILTER = "pre_filter"
    EXTRACT = "extract"
    RESOLVE_REFS = "resolve_refs"
    DEDUPE = "dedupe"
    CONFLICT = "conflict"
    PERSIST = "persist"
    INDEX = "index"


class SpanResult(StrEnum):
    """What a stage did with what it was given."""

    PASS = "pass"
    TRANSFORM = "transform"
    REJECT = "reject"
    ERROR = "error"


class Outcome(StrEnum):
    """What became of a candidate, or of a turn that yielded none."""

    STORED = "stored"
    MERGED = "merged"
    PENDING_REVIEW = "pending_review"
    DISCARDED = "discarded"


class Reason(StrEnum):
    """Why a turn or a candidate was dropped, or why a memory waits for a person."""

    TOO_SHORT = "too_short"
    GREETING = "greeting"
    FAREWELL = "farewell"
    THANKS = "thanks"
    ACKNOWLEDGEMENT = "acknowledgement"
    EMOJI_ONLY = "emoji_only"
    CODE_ONLY = "code_only"
    TOOL_MARKER = "tool_marker"
    STRUCTURED_PAYLOAD = "structured_payload"
    META_TALK = "meta_talk"
    RECALLED_CONTEXT = "recalled_context"
    UNTRUSTED_ROLE = "untrusted_role"
    REPEATED_TURN = "repeated_turn"
    PATTERN = "pattern"

    NO_CANDIDATE = "no_candidate"
    EXTRACTION_FAILED = "extraction_failed"
    LOW_QUALITY = "low_quality"
    LOW_CONFIDENCE = "low_confidence"
    NOT_SUPPORTED = "not_supported"
    SECRET = "secret"
    OVER_LIMIT = "over_limit"
    RESOLUTION_FAILED = "resolution_failed"
    DUPLICATE = "duplicate"
    WEAKER_EVIDENCE = "weaker_evidence"

    NOT_ASSERTED = "not_asserted"
    CONTRADICTION = "contradiction"
    UNSURE_DUPLICATE = "unsure_duplicate"
    LESS_TRUSTED = "less_trusted"
    PROPOSAL_REFUSED = "proposal_refused"
    OTHERS_WORDS = "others_words"
    SUSPECTED_INJECTION = "suspected_injection"


class SensitiveKind(StrEnum):
    """Data that redaction recognises."""

    SECRET = "secret"
    CARD = "card"
    IBAN = "iban"
    NATIONAL_ID = "national_id"
    PHONE = "phone"
    EMAIL = "email"
    CUSTOM = "custom"


class Handling(StrEnum):
    """What redaction does with a kind of sensitive data."""

    MASK = "mask"  # a placeholder stands in its place
    DROP = "drop"  # a placeholder stands in place of the whole text
    KEEP = "keep"


class ExtractorKind(StrEnum):
    """Which extractor a configuration version runs."""

    PATTERNS = "patterns"
    MODEL = "model"
    STACKED = "stacked"


class OnModelFailure(StrEnum):
    """What a project does when its model does not answer."""

    RETRY = "retry"  # by the outbox, then dead
    PATTERNS = "patterns"  # what the patterns find waits for a person


class WorkKind(StrEnum):
    """Work that a commit can owe."""

    RUN_PIPELINE = "run_pipeline"
    INDEX_MEMORY = "index_memory"
    EXTRACT_SESSION = "extract_session"
    ASK_QUESTIONS = "ask_questions"


RUNS = frozenset({WorkKind.RUN_PIPELINE, WorkKind.EXTRACT_SESSION})  # their subject is a trace


class TraceStatus(StrEnum):
    """Where one run of the write pipeline stands."""

    QUEUED = "queued"
    DONE = "done"
    REJECTED = "rejected"
    EXTRACTION_FAILED = "extraction_failed"
    DEAD = "dead"
    ROLLED_BACK = "rolled_back"  # what it wrote was taken back; it may be run again


class EntityChangeKind(StrEnum):
    """What a trace did to the names of an entity."""

    NAMED = "named"
    RENAMED = "renamed"
    TAKEN = "taken"  # a description of it passed to another entity


class RollbackState(StrEnum):
    """Where a rollback, or its part for one end user, stands."""

    WAITING = "waiting"
    DONE = "done"
    UNDOING = "undoing"
    UNDONE = "undone"


class LeftAlone(StrEnum):
    """Why a rollback, or its undo, leaves something as it is, or keeps part of it."""

    EDITED = "edited"
    SAID_ELSEWHERE = "said_elsewhere"
    SAID_AGAIN = "said_again"
    BUILT_UPON = "built_upon"
    RUN_AGAIN = "run_again"
    ROLLED_BACK_SINCE = "rolled_back_since"
    REPEATED = "repeated"


class Stakes(StrEnum):
    """How risky the use of a memory is; decides the least confidence that may be shown."""

    HIGH = "high"
    NORMAL = "normal"
    LOW = "low"


CONVENTION = "convention"
CONSTRAINT = "constraint"
BINDING_TAGS = frozenset({CONVENTION, CONSTRAINT, "procedure"})  # of rules that agents follow
INFERRED = "inferred"  # no turn says it by itself
BUILT_IN_TAGS = frozenset(
    {CONVENTION, CONSTRAINT, "decision", "procedure", "behaviour", "arc", "goal", "summary", INFERRED}
)

# Names that other systems use for their categories, mapped to a type and the tag that keeps the nuance.
CATEGORY_ALIASES: dict[str, tuple[MemoryType, str | None]] = {
    "factual": (MemoryType.FACT, None),
    "episodic": (MemoryType.EVENT, None),
    "decision": (MemoryType.EVENT, "decision"),
    "procedural": (MemoryType.PREFERENCE, "procedure"),
    "procedure": (MemoryType.PREFERENCE, "procedure"),
    "behavioural": (MemoryType.FACT, "behaviour"),
    "behavioral": (MemoryType.FACT, "behaviour"),
}


class Scope(StrEnum):
    """What an API key may do; ADMIN includes the others.

    TRUST is for callers whose word counts like a person's: docs/security.md.
    """

    READ = "read"
    WRITE = "write"
    TRUST = "trust"
    ADMIN = "admin"


class MemberRole(StrEnum):
    """What a person may do in a project; each includes those before it."""

    VIEWER = "viewer"
    REVIEWER = "reviewer"
    ADMIN = "admin"


class WorkState(StrEnum):
    """Where owed work stands."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    DEAD = "dead"


class PausedKind(StrEnum):
    """What is paused while it doesn't answer."""

    MODEL = "model"
    EMBEDDER = "embedder"


class LinkStatus(StrEnum):
    """Whether a person has settled a link."""

    OPEN = "open"
    SETTLED = "settled"


class RejectionReason(StrEnum):
    """Why a person rejected a memory."""

    NOT_TRUE = "not_true"
    NOT_SAID = "not_said"
    NOT_LASTING = "not_lasting"
    NOT_ABOUT_USER = "not_about_user"
    PRIVATE = "private"
    UNCLEAR = "unclear"


class LinkResolution(StrEnum):
    """How a person settled a link, which leads from the newer memory to the older one."""

    KEPT_FROM = "kept_from"
    KEPT_TO = "kept_to"
    CHANGED = "changed"  # the one said first was true until the other one began
    BOTH = "both"
    MERGED = "merged"
