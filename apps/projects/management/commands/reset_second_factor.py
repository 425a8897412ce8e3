"""Remove the second factor of an account whose owner has lost the app and the recovery codes."""

from typing import Any

from allauth.mfa.models import Authenticator
from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser


class Command(BaseCommand):
    help = "Remove the second factor of an account; the next login needs only the password."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")

    def handle(self, *args: Any, **options: Any) -> None:
        person = get_user_model().objects.filter(username=options["username"]).first()
        if person is None:
            raise CommandError(f"there is no account {options['username']!r}")
        is_removed, _ = Authenticator.objects.filter(user=person).delete()
        self.stdout.write("The second factor is removed." if is_removed else "There was no second factor.")
