"""List, add and remove who is told about the alerts of a project."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.alerts.models import AlertRecipients
from apps.alerts.services import set_recipients
from apps.common.errors import Unfit
from apps.tenants.command_arguments import project_named
from apps.tenants.models import Project
from apps.tenants.scope import tenant_scope


class Command(BaseCommand):
    help = "List, add or remove mail addresses and the webhook that are told about the alerts of a project."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("action", choices=("list", "add", "remove"))
        parser.add_argument("project", help="the project's slug")
        parser.add_argument(
            "recipient", nargs="?", default="", help="a mail address, or the https:// address of a webhook"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        action, recipient = options["action"], options["recipient"].strip()
        if bool(recipient) == (action == "list"):
            raise CommandError("name a recipient to add or remove, none to list")
        project = project_named(options["project"])
        with tenant_scope(project_id=project.pk):
            if action != "list":
                self._change(project, action, recipient)
            for each in _recipients(project):
                self.stdout.write(each)

    def _change(self, project: Project, action: str, recipient: str) -> None:
        known = _recipients(project)
        if (recipient in known) == (action == "add"):
            raise CommandError("is a recipient already" if action == "add" else "is no recipient")
        webhook = next((each for each in known if _is_webhook(each)), "")
        if _is_webhook(recipient):
            if webhook and action == "add":
                raise CommandError(f"there is a webhook already, remove it first: {webhook}")
            webhook = recipient if action == "add" else ""
        mails = [each for each in known if not _is_webhook(each) and each != recipient]
        if action == "add" and not _is_webhook(recipient):
            mails.append(recipient)
        try:
            change = set_recipients(project_id=project.pk, webhook_url=webhook, mail_addresses=mails)
        except Unfit as error:
            raise CommandError(str(error)) from error
        if change.secret:
            self.stdout.write(f"secret of the webhook, shown only now: {change.secret}")


def _recipients(project: Project) -> list[str]:
    found = AlertRecipients.objects.filter(project=project).first()
    return [each for each in (found.webhook_url, *found.mail_addresses) if each] if found else []


def _is_webhook(recipient: str) -> bool:
    return "://" in recipient
