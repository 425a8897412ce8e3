"""Prepare a PostgreSQL server for this installation: its roles, database and extension."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from memplatform.database_roles import NotPrepared, WantedDatabase, prepare


class Command(BaseCommand):
    """Make what DATABASE_URL and DATABASE_OWNER_URL name; safe to repeat."""

    help = __doc__ or ""
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", choices=["prepare"])
        how = parser.add_mutually_exclusive_group(required=True)
        how.add_argument(
            "--administrator", metavar="URL", help="address of a superuser, such as postgresql://postgres@host"
        )
        how.add_argument("--sql", action="store_true", help="print what it would run, for psql")

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.DATABASE_IS_EMBEDDED:
            raise CommandError("set DATABASE_URL: the embedded database needs no preparation")
        wanted = WantedDatabase.of(application=settings.DATABASES["default"], owner=settings.DATABASE_OWNER)
        if options["sql"]:
            self.stdout.write(wanted.script())
            return
        try:
            prepare(wanted, administrator=options["administrator"])
        except NotPrepared as lacking:
            raise CommandError(str(lacking)) from lacking
        self.stdout.write(f"prepared {wanted.name}, owned by {wanted.owner}, for {wanted.login}: run migrate next")
