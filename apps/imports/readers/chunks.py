"""Chunks of a file: entries of one end user, and of one session, that are imported in one transaction.

The same file gives the same chunks each time, so that an import goes on after the last one that is done.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from apps.imports.readers.entries import ImportedMemory, ImportedTurn, ImportEntry, ImportProblem

CHUNK_ENTRIES = 50


@dataclass(frozen=True, slots=True)
class ImportChunk:
    """Turns of one session, or memories of one end user."""

    user_id: str
    session_id: str
    turns: list[ImportedTurn]
    memories: list[ImportedMemory]


def import_chunks(entries: Iterable[ImportEntry]) -> Iterator[ImportChunk | ImportProblem]:
    """Yield the entries in chunks of what follows each other, and the problems between them."""
    chunk: ImportChunk | None = None
    seen: set[str] = set()  # turn_ids of the session at hand
    for entry in entries:
        if isinstance(entry, ImportProblem):
            yield entry
            continue
        empty = ImportChunk(entry.user_id, entry.session_id if isinstance(entry, ImportedTurn) else "", [], [])
        is_same = chunk is not None and (chunk.user_id, chunk.session_id) == (empty.user_id, empty.session_id)
        if chunk is None or not is_same or len(chunk.turns) + len(chunk.memories) >= CHUNK_ENTRIES:
            if chunk:
                yield chunk
            chunk, seen = empty, seen if is_same else set()
        if isinstance(entry, ImportedMemory):
            chunk.memories.append(entry)
        elif entry.turn.external_id in seen:
            yield ImportProblem(entry.at, "has the turn_id of another turn of its session")
        else:
            seen.add(entry.turn.external_id)
            chunk.turns.append(entry)
    if chunk:
        yield chunk
