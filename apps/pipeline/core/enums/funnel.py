"""Enums of the funnel: stages, results and reasons."""

from enum import StrEnum


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


class IndexState(StrEnum):
    """Whether the memories of a trace are found by their meaning."""

    PENDING = "pending"
    DONE = "done"
    FAILED = "failed"  # until somebody retries the work


class Milestone(StrEnum):
    """How far a trace has come that a caller waits for."""

    ENDED = "ended"  # its memories are stored, and found by their words
    INDEXED = "indexed"  # and by their meaning
