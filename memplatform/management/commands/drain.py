"""Do all due work in the foreground."""

from typing import Any

from django.core.management.base import BaseCommand

from apps.worker.work import work


class Command(BaseCommand):
    help = "Do all due work, with or without a running cluster; Ctrl-C stops after the work in progress."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"{work()} done")
