"""Drain the outbox in the foreground."""

from typing import Any

from django.core.management.base import BaseCommand

from apps.worker.drain import drain


class Command(BaseCommand):
    help = "Process all due work, with or without a running cluster; Ctrl-C stops after the work in progress."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"{drain()} done")
