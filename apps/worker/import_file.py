"""Check a file, or import it for a moment; it is claimed again for the rest, after those of other projects."""

import time
from collections.abc import Generator
from typing import cast

import structlog
from django.db import DatabaseError

from apps.actions.imports.checking import checking
from apps.actions.imports.services import DueImport
from apps.intake.run_import import running
from apps.worker.shutdown import StopSignal

log = structlog.get_logger(__name__)

SLICE_SECONDS = 10.0


def import_file(due: DueImport, stop: StopSignal) -> int:
    """Do steps of an import until the time is over, it has to wait, or a stop is requested; return 1.

    A check goes on to its end: what it has counted is in memory alone. Steps wait where the queue is half full.
    """
    until = float("inf") if due.is_check else time.monotonic() + SLICE_SECONDS
    begun = checking(import_id=due.id) if due.is_check else running(import_id=due.id)
    steps = cast(Generator[float | None, None, None], begun)
    try:
        for rest in steps:
            if stop.is_set() or time.monotonic() + (rest or 0.0) >= until:
                break
            if rest:
                time.sleep(rest)  # nothing announces that there is room in the queue
    except DatabaseError as error:
        log.warning("import interrupted", file_import=str(due.id), error=str(error))  # its lease expires
    finally:
        steps.close()
    return 1
