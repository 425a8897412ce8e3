"""Check a file, or import some chunks of it; the rest comes after the imports of other projects."""

import structlog
from django.db import DatabaseError

from apps.imports.checking import check_import
from apps.imports.enums import ImportState
from apps.imports.models import FileImport
from apps.intake.run_import import run_import
from apps.worker.shutdown import StopSignal

log = structlog.get_logger(__name__)

SLICE_CHUNKS = 200  # some seconds of work: each slice reads the file again up to its place


def import_file(due: FileImport, stop: StopSignal) -> int:
    """Check the whole file, as its counts are in memory alone, or import a slice of it; return 1."""
    try:
        if due.state == ImportState.CHECKING:
            check_import(import_id=due.pk, stop=stop.is_set)
        else:
            run_import(import_id=due.pk, chunks=SLICE_CHUNKS, stop=stop.is_set)
    except DatabaseError as error:
        log.warning("import interrupted", file_import=str(due.pk), error=str(error))  # its lease expires
    return 1
