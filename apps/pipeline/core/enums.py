"""The words of the glossary as enums: the one spelling that code, API, database and console share.

Models read some docstrings of the enums of memories: they are descriptions in the schema of an extraction's answer.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Self


class Role(StrEnum):
    """Who said a turn, according to the authenticated caller."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"


class Scope(StrEnum):
    """What an API key may do; ADMIN includes the others.

    TRUST is for callers whose statements count like a person's: docs/security.md.
    """

    READ = "read"
    WRITE = "write"
    TRUST = "trust"
    ADMIN = "admin"


class MemoryType(StrEnum):
    """What a memory can be; what fits none of these is not stored."""

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

    SUPPORTED = "supported"
    PARTIAL = "partial"
    UNKNOWN = "unknown"
    NOT_SUPPORTED = "not_supported"


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
    """What an entity is."""

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


CONVENTION = "convention"
CONSTRAINT = "constraint"
PROCEDURE = "procedure"
BINDING_TAGS = frozenset({CONVENTION, CONSTRAINT})  # rules that agents have to follow
INFERRED = "inferred"  # no single turn says it
NOTE = "note"  # the user's own words, which claim nothing but that they were said
# Names of categories in other systems, with the type and the tag that they correspond to.
CATEGORY_ALIASES: dict[str, tuple[MemoryType, str | None]] = {
    "factual": (MemoryType.FACT, None),
    "episodic": (MemoryType.EVENT, None),
    "decision": (MemoryType.EVENT, "decision"),
    "procedural": (MemoryType.PREFERENCE, PROCEDURE),
    "procedure": (MemoryType.PREFERENCE, PROCEDURE),
    "behavioural": (MemoryType.FACT, "behaviour"),
    "behavioral": (MemoryType.FACT, "behaviour"),
}


class Stage(StrEnum):
    """The seven stages of the funnel, in order."""

    PRE_FILTER = "pre_filter"
    EXTRACT = "extract"
    RESOLVE_REFS = "resolve_refs"
    DEDUPE = "dedupe"
    CONFLICT = "conflict"
    PERSIST = "persist"
    INDEX = "index"


class SpanResult(StrEnum):
    """What a stage did with its input."""

    PASS = "pass"
    TRANSFORM = "transform"
    REJECT = "reject"
    ERROR = "error"


class Outcome(StrEnum):
    """The outcome of a candidate, or of a turn without a candidate."""

    STORED = "stored"
    MERGED = "merged"
    PENDING_REVIEW = "pending_review"
    DISCARDED = "discarded"
    RETRACTED = "retracted"  # a known memory, on request
    FORGET_ALL_REQUESTED = "forget_all_requested"  # nothing is done: a person decides


class Reason(StrEnum):
    """Why a turn or a candidate was dropped, or why a memory waits for review."""

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

    ASKED_TO_FORGET = "asked_to_forget"
    ASKED_NOT_TO_STORE = "asked_not_to_store"
    FORGET_ALL_REQUESTED = "forget_all_requested"
    NOT_ASSERTED = "not_asserted"
    CONTRADICTION = "contradiction"
    UNSURE_DUPLICATE = "unsure_duplicate"
    LESS_TRUSTED = "less_trusted"
    PROPOSAL_REFUSED = "proposal_refused"
    OTHERS_WORDS = "others_words"
    SUSPECTED_INJECTION = "suspected_injection"


class TraceStatus(StrEnum):
    """The status of a run of the write pipeline."""

    QUEUED = "queued"
    DONE = "done"
    REJECTED = "rejected"
    EXTRACTION_FAILED = "extraction_failed"
    DEAD = "dead"
    ROLLED_BACK = "rolled_back"  # what it wrote was taken back; it may be run again


class LinkKind(StrEnum):
    """How two memories of one end user relate."""

    CONTRADICTS = "contradicts"
    POSSIBLE_DUPLICATE = "possible_duplicate"


class LinkStatus(StrEnum):
    """Whether a person has settled a link."""

    OPEN = "open"
    SETTLED = "settled"


class LinkResolution(StrEnum):
    """How a person settled a link, which points from the newer memory to the older one."""

    KEPT_FROM = "kept_from"
    KEPT_TO = "kept_to"
    CHANGED = "changed"  # the older one was true until the newer one began
    BOTH = "both"  # agents are told that they contradict each other, for as long as both hold
    UNRELATED = "unrelated"  # about different things: no contradiction
    MERGED = "merged"


class RejectionReason(StrEnum):
    """Why a person rejected a memory."""

    NOT_TRUE = "not_true"
    NOT_SAID = "not_said"
    NOT_LASTING = "not_lasting"
    NOT_ABOUT_USER = "not_about_user"
    PRIVATE = "private"
    UNCLEAR = "unclear"


class _WithFormerName(StrEnum):
    """A choice whose value "plain" was called "patterns", as stored versions still have it."""

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        return cls("plain") if value == "patterns" else None


class ExtractorKind(_WithFormerName):
    """The extractor of a configuration version."""

    PLAIN = "plain"  # the table of plain statements, and notes
    MODEL = "model"
    STACKED = "stacked"  # plain statements first, the model for what they leave


class OnModelFailure(_WithFormerName):
    """What a project does when its model does not answer."""

    RETRY = "retry"  # by the outbox; dead after the last attempt
    PLAIN = "plain"  # extract without a model; what is found waits for review


class Batching(StrEnum):
    """When a model is asked about new turns; a request that probably says nothing worth keeping waits for the next."""

    EAGER = "eager"  # for each request
    BALANCED = "balanced"  # when the session was quiet for a while, or enough turns wait
    THRIFTY = "thrifty"  # at the end of the session, or when the turns fill a call


class MemorySharing(StrEnum):
    """Who is told what an agent has told of a user."""

    SHARED = "shared"  # all agents of the user
    BY_AGENT = "by_agent"  # only the agent that told it


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
    """What redaction does with sensitive data of a kind."""

    MASK = "mask"  # a placeholder replaces it
    DROP = "drop"  # a placeholder replaces the whole text
    KEEP = "keep"


class WorkKind(StrEnum):
    """Kinds of work in the outbox."""

    RUN_PIPELINE = "run_pipeline"
    INDEX_MEMORY = "index_memory"
    EXTRACT_SESSION = "extract_session"
    ASK_QUESTIONS = "ask_questions"
    READ_AGAIN = "read_again"


# Kinds whose subject is a trace.
RUNS = frozenset({WorkKind.RUN_PIPELINE, WorkKind.EXTRACT_SESSION, WorkKind.READ_AGAIN})


class WorkState(StrEnum):
    """The state of a piece of work."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    DEAD = "dead"


class SampleKind(StrEnum):
    """What a sample consists of."""

    MEMORY = "memory"  # stored memories, for the precision
    TURN = "turn"  # turns of users from which nothing was stored, for the recall


class LabelValue(StrEnum):
    """What a labeller says about an item.

    A memory is asked about in this order, and the first quality that it lacks is its label: is it true, current, and
    useful for a plausible later query?
    """

    GOOD = "good"
    UNTRUE = "untrue"
    OUTDATED = "outdated"
    USELESS = "useless"
    NOTHING = "nothing"  # the turn contains nothing worth remembering
    SOMETHING = "something"  # it does, so it was missed
    SKIPPED = "skipped"  # the labeller can't tell; counts in no figure


LABEL_VALUES: dict[SampleKind, tuple[LabelValue, ...]] = {
    SampleKind.MEMORY: (
        LabelValue.GOOD,
        LabelValue.UNTRUE,
        LabelValue.OUTDATED,
        LabelValue.USELESS,
        LabelValue.SKIPPED,
    ),
    SampleKind.TURN: (LabelValue.NOTHING, LabelValue.SOMETHING, LabelValue.SKIPPED),
}


class EntityChangeKind(StrEnum):
    """What a trace did to the names of an entity."""

    NAMED = "named"
    RENAMED = "renamed"
    TAKEN = "taken"  # a description of it passed to another entity


class RollbackState(StrEnum):
    """The state of a rollback, or of its part for one end user."""

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


def choices_of(words: type[StrEnum]) -> list[tuple[str, str]]:
    """Return the (value, label) pairs of an enum, for a form or a database field."""
    return [(word.value, word.value.replace("_", " ")) for word in words]


def values_of(words: Iterable[StrEnum]) -> list[str]:
    """Return the sorted values of some members, for a database constraint."""
    return sorted(word.value for word in words)
