"""What PostgreSQL says of the scope of a statement."""

from django.db import connection

SETTINGS = (
    "select current_user, current_setting('memplatform.project', true), current_setting('memplatform.end_user', true)"
)


def seen() -> tuple[str, str, str]:
    """Return role, project and end user of a statement."""
    with connection.cursor() as cursor:
        cursor.execute(SETTINGS)
        role, project, user = cursor.fetchone()
    return role, project or "", user or ""
