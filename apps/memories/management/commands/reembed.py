"""Compute the vectors of the configured embedder for every memory."""

from argparse import ArgumentParser
from typing import IO, Any, cast

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.progress import track

from apps.common.errors import ProviderError
from apps.memories.services.indexing import BATCH, count_missing, forget_other_vectors, reembed
from apps.providers import registry


class Command(BaseCommand):
    """Embed memories without vectors of the configured embedder (EMBEDDER). An interrupted run can be continued."""

    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--forget-others", action="store_true", help="then delete the vectors of other embedders")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            embedder = registry.embedder()
            waiting = count_missing(embedder=embedder)
            batches = track(
                reembed(embedder=embedder),
                description=embedder.name,
                total=-(-waiting // BATCH),
                console=Console(file=cast(IO[str], self.stderr)),
                disable=not waiting,
            )
            done = sum(batches)
        except ProviderError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{done} memories embedded with {embedder.name}")
        if options["forget_others"]:
            self.stdout.write(f"{forget_other_vectors(embedder=embedder)} vectors of other embedders deleted")
