"""Run benchmarks and record their results."""

import json
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from apps.pipeline.core.enums import Batching
from benchmarks import poisoning, truth
from benchmarks.catalogue import BENCHMARKS
from benchmarks.data import DEFAULT
from benchmarks.history import record
from benchmarks.truth.faulty_answers import AnswerFault


class Command(BaseCommand):
    """Run all benchmarks, or the named ones; each appends its result to benchmarks/history.jsonl."""

    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add names, the data folder, the size of the run and the output format."""
        parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
        parser.add_argument("--data", type=Path, default=DEFAULT, help="folder of the evaluation data")
        parser.add_argument("--full", action="store_true", help="run longer, with more repetitions")
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
        parser.add_argument("--detail", type=Path, help="file for what a benchmark lists beside its figures")
        parser.add_argument(
            "--by-hand", type=Path, help="truth: folder in which prompts without an answer are answered"
        )
        parser.add_argument("--conversation", action="append", default=[], help="truth: only this conversation")
        parser.add_argument(
            "--fault",
            default="",
            choices=list(AnswerFault),
            help="truth: put this fault into every recorded answer",
        )
        parser.add_argument(
            "--posted",
            default="",
            choices=list(Batching),
            help="truth: post each exchange by itself, and ask the model as this policy says",
        )
        parser.add_argument(
            "--cases", type=Path, help="poisoning: a JSON file of memory writes instead of the shipped cases"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the benchmarks in sequence; report and skip those whose data is missing."""
        for name in options["names"] or BENCHMARKS:
            own: dict[str, Any] = {}  # the options that this benchmark alone takes
            if name == poisoning.NAME:
                own = {"cases": options["cases"]}
            elif name == truth.NAME:
                own = {each: options[each] for each in ("by_hand", "fault", "posted")}
                own["conversations"] = options["conversation"]
            started = time.perf_counter()
            try:
                result = BENCHMARKS[name](data=options["data"], full=options["full"], **own)
            except FileNotFoundError as absent:
                self.stderr.write(f"{name}: not run, {absent}")
                continue
            detail = result.pop("detail", None)
            if detail and options["detail"]:
                options["detail"].write_text(json.dumps(detail, ensure_ascii=False, indent=1), encoding="utf-8")
            if not options["by_hand"]:  # answers were still being given
                record(name=name, result=result, seconds=time.perf_counter() - started)
            text = json.dumps(result, ensure_ascii=False, indent=None if options["json"] else 2)
            self.stdout.write(text if options["json"] else f"{name} {text}")
