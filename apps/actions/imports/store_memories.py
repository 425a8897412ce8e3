"""Store the memories of a chunk."""

from collections.abc import Mapping

from apps.actions.imports.checking import known_memories
from apps.actions.memories.store import StoreRequest
from apps.actions.memories.store_batch import store_batch
from apps.imports.models import FileImport
from apps.imports.readers.chunks import ImportChunk
from apps.imports.readers.imported_memories import EXTRACTOR, with_origin


def store_memories(*, file_import: FileImport, chunk: ImportChunk) -> Mapping[str, int]:
    """Store the memories that are not known; return how many were stored, merged into others, known and refused.

    They never replace what is known: what would do so waits for review.
    """
    known = known_memories(project_id=file_import.project_id, chunk=chunk, file_format=file_import.format)
    new = [each for each in chunk.memories if each.external_id not in known]
    if not new:
        return {"known": len(chunk.memories)}
    request = StoreRequest(
        project_id=file_import.project_id,
        api_key_id=file_import.api_key_id,
        user_id=chunk.user_id,
        memories=tuple(
            with_origin(each, file_format=file_import.format, import_id=file_import.shown_id) for each in new
        ),
        is_trusted=False,
        extractor=EXTRACTOR,
        may_replace=False,
    )
    outcomes = store_batch(request=request)
    refused = sum(each.memory_id is None for each in outcomes)
    after = known_memories(project_id=file_import.project_id, chunk=chunk, file_format=file_import.format)
    stored = len(after - known)
    return {
        "stored": stored,
        "merged": len(new) - refused - stored,
        "known": len(chunk.memories) - len(new),
        "refused": refused,
    }
