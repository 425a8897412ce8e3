"""Run every row of tests/journeys/purposes.toml with a database, and print what did not hold as JSON.

Run by test_purposes_distributed.py in a process of its own, whose DATABASE_URL names the database. Each row has a
project of its own; arguments are the identifiers of rows, none: all.
"""

import json
import os
import sys
import tomllib
import traceback
from pathlib import Path

import django

ROWS = Path(__file__).resolve().parents[1] / "journeys" / "purposes.toml"


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memplatform.settings")
    django.setup()
    from benchmarks.model_server import ModelServer, running
    from tests.distributed.purpose_rows import run_row

    rows = tomllib.loads(ROWS.read_text(encoding="utf-8"))["purpose"]
    failed = {}
    with running(ModelServer()) as server:
        for row in rows:
            if sys.argv[1:] and row["id"] not in sys.argv[1:]:
                continue
            try:
                failures = run_row(row, server)
            except Exception:  # noqa: BLE001  (printed, the following rows are run as well)
                failures = [traceback.format_exc()]
            if failures:
                failed[row["id"]] = failures
    print(json.dumps({"rows": len(rows), "failed": failed}))


if __name__ == "__main__":
    main()
