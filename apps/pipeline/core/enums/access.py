"""Enums of roles in conversations and projects, and of scopes of API keys."""

from enum import StrEnum


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


class MemberRole(StrEnum):
    """What a person may do in a project; each includes those before it."""

    VIEWER = "viewer"
    REVIEWER = "reviewer"
    ADMIN = "admin"
