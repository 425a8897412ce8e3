"""What a person may do in a project."""

from enum import StrEnum


class MemberRole(StrEnum):
    """What a person may do in a project; each includes those before it."""

    VIEWER = "viewer"
    REVIEWER = "reviewer"
    ADMIN = "admin"
