"""URL path converters."""

from apps.tenants.enums import MemberRole


class MemberRoleConverter:
    """Match the name of a member role; any other word gives 404."""

    regex = "|".join(MemberRole)

    def to_python(self, value: str) -> MemberRole:
        """Convert the path segment to a role."""
        return MemberRole(value)

    def to_url(self, value: str) -> str:
        """Convert a role to the path segment."""
        return str(value)
