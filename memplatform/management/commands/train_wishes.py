"""Train the models of wishes to forget and not to store from labelled sentences."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from apps.pipeline.extraction.linear_model import to_json
from apps.pipeline.extraction.wishes import WEIGHTS
from benchmarks.wish_training import NOTHING, figures_without, load, train_wishes


class Command(BaseCommand):
    """Write the weights, and print how models that were trained without an author do on that author's sentences."""

    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the file to write."""
        parser.add_argument("--to", type=Path, default=WEIGHTS, help="file for the weights")

    def handle(self, *args: Any, **options: Any) -> None:
        """Train, write the weights, and measure without each author in turn."""
        sentences = load()
        models = train_wishes(sentences)
        options["to"].write_text(to_json(models), encoding="utf-8")
        weights = sum(len(model.weights) for model in models.values())
        self.stdout.write(f"{weights} weights from {len(sentences)} sentences: {options['to']}")
        for author in sorted({each.author for each in sentences if each.label != NOTHING}):
            for wish, found in figures_without(author, sentences).items():
                self.stdout.write(
                    f"without {author}: {wish}: precision {found.precision:.3f}, recall {found.recall:.3f}"
                )
