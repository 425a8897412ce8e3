"""What an address may name beside identifiers and numbers."""

from apps.pipeline.core.enums import MemberRole


class RoleInPath:
    """One of the roles; with any other word the address is none."""

    regex = "|".join(MemberRole)

    def to_python(self, value: str) -> MemberRole:
        """Read it."""
        return MemberRole(value)

    def to_url(self, value: str) -> str:
        """Write it."""
        return str(value)
