"""Django's migrate, run as the owner of the tables; afterwards row-level security is brought up to date."""

from typing import Any

from django.core.management.commands import migrate

from memplatform.database import as_owner
from memplatform.database_roles import ensure_roles
from memplatform.row_security import apply_row_security


class Command(migrate.Command):
    """Migrate, then apply row-level security."""

    def execute(self, *args: Any, **options: Any) -> Any:
        """Run as the owner, checks included: the role of the application can't change tables."""
        with as_owner():
            return super().execute(*args, **options)

    def handle(self, *args: Any, **options: Any) -> None:
        """Create missing roles, migrate, and apply row-level security."""
        ensure_roles()
        super().handle(*args, **options)
        if not options["plan"] and not options["check_unapplied"]:
            apply_row_security()
