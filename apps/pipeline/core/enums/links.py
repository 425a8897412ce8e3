"""Enums of links between memories, and of decisions of reviewers."""

from enum import StrEnum


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
    BOTH = "both"
    MERGED = "merged"


class RejectionReason(StrEnum):
    """Why a person rejected a memory."""

    NOT_TRUE = "not_true"
    NOT_SAID = "not_said"
    NOT_LASTING = "not_lasting"
    NOT_ABOUT_USER = "not_about_user"
    PRIVATE = "private"
    UNCLEAR = "unclear"
