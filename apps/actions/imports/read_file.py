"""Read the entries of an import's file."""

from collections.abc import Iterator
from pathlib import PurePath

from apps.actions.imports.stored_file import open_file
from apps.imports.models import FileImport
from apps.imports.readers.chunks import ImportChunk, import_chunks
from apps.imports.readers.entries import EndUsers, ImportProblem, ImportSource
from apps.imports.readers.formats import HEAD_BYTES, READERS, format_of
from apps.pipeline.core.enums import ImportFormat


def recognised_format(file_import: FileImport) -> ImportFormat | None:
    """Return the format that was given, or else that of the file; None if it looks like none."""
    if file_import.format:
        return ImportFormat(file_import.format)
    return format_of(open_file(file_import).read(HEAD_BYTES))


def chunks_of(file_import: FileImport) -> Iterator[ImportChunk | ImportProblem]:
    """Yield the chunks of a file with a known format; the same ones each time."""
    source = ImportSource(
        name=PurePath(file_import.file_name).stem,
        now=file_import.created_at,
        users=EndUsers(file_import.user_id, file_import.users_by_name),
    )
    return import_chunks(READERS[ImportFormat(file_import.format)](open_file(file_import), source=source))
