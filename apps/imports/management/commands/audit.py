"""Say what is worth keeping in a memory store of another product, and what is wrong with the rest."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.common.errors import Unfit
from apps.imports.audit import Audit, Verdict, audit_store, importable

EXAMPLES = 3  # of each reason
WIDTH = 100  # characters of an example
LABELS = {Verdict.CONTRADICTED: "contradicted (kept)"}


class Command(BaseCommand):
    """Read an export of mem0, Zep, Letta or ChatGPT's saved memories, JSON lines, or texts by line; store nothing."""

    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--keep", type=Path, metavar="FILE", help="write the entries worth keeping, to be imported")
        parser.add_argument("--json", type=Path, metavar="FILE", help="write every entry with its verdict")
        parser.add_argument("--model", action="store_true", help="ask the configured model about pairs that may be one")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            found = audit_store(options["file"].read_bytes(), asks_model=options["model"])
        except OSError as error:
            raise CommandError(f"{options['file']}: {error.strerror}") from error
        except Unfit as unfit:
            raise CommandError(str(unfit)) from unfit
        if not found.audited:
            raise CommandError(f"{options['file']}: {found.problems[0].reason if found.problems else 'holds no entry'}")
        if options["keep"]:
            options["keep"].write_text(json.dumps(importable(found.kept()), ensure_ascii=False, indent=1))
        if options["json"]:
            rows = [
                {"at": each.at, "verdict": each.verdict, "reason": each.reason, "other": each.other}
                | ({} if each.verdict is Verdict.SECRET else {"text": each.text})
                for each in found.audited
            ]
            options["json"].write_text(json.dumps(rows, ensure_ascii=False, indent=1))
        self._report(found)

    def _report(self, found: Audit) -> None:
        total = len(found.audited)
        kept = len(found.kept())
        self.stdout.write(f"{total:,} entries: {kept:,} worth keeping, {total - kept:,} not ({1 - kept / total:.0%})\n")
        for fault in found.faults(most=EXAMPLES):
            label = LABELS.get(fault["verdict"], fault["verdict"])
            self.stdout.write(f"{fault['count']:>7,}  {label}: {fault['reason']}")
            for each in fault["entries"]:
                text = each.text.replace("\n", " ")[:WIDTH]
                self.stdout.write(f"         {each.at}: {text}{f' (see {each.other})' if each.other else ''}")
        for problem in found.problems[:EXAMPLES]:
            self.stdout.write(f"\n{problem.at} {problem.reason}")
