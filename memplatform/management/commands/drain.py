"""Drain the outbox in the foreground."""

from typing import Any

from django.core.management.base import BaseCommand

from apps.worker.drain import drain


class Command(BaseCommand):
    help = "Do what is owed and due, here and now, beside a cluster or without one; Ctrl-C ends after what is in hand."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"{drain()} done")
