"""Enums of settings in a policy."""

from enum import StrEnum


class ExtractorKind(StrEnum):
    """The extractor of a configuration version."""

    PLAIN = "plain"  # the table of plain statements, and notes
    MODEL = "model"
    STACKED = "stacked"  # plain statements first, the model for what they leave

    @classmethod
    def _missing_(cls, value: object) -> "ExtractorKind | None":
        return cls.PLAIN if value == "patterns" else None  # the former name, in stored versions


class OnModelFailure(StrEnum):
    """What a project does when its model does not answer."""

    RETRY = "retry"  # by the outbox; dead after the last attempt
    PLAIN = "plain"  # extract without a model; what is found waits for review

    @classmethod
    def _missing_(cls, value: object) -> "OnModelFailure | None":
        return cls.PLAIN if value == "patterns" else None  # the former name, in stored versions


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
