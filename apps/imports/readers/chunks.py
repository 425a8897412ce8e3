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
    session_id: str = ""
    turns: tuple[ImportedTurn, ...] = ()
    memories: tuple[ImportedMemory, ...] = ()


def import_chunks(entries: Iterable[ImportEntry]) -> Iterator[ImportChunk | ImportProblem]:
    """Yield the entries in chunks of what follows each other, and the problems between them."""
    gathered: list[ImportedTurn | ImportedMemory] = []
    seen: set[str] = set()  # turn_ids of the session at hand
    for entry in entries:
        if isinstance(entry, ImportProblem):
            yield entry
            continue
        if gathered and _place(entry) != _place(gathered[0]):
            yield _chunk(gathered)
            gathered, seen = [], set()
        elif len(gathered) == CHUNK_ENTRIES:
            yield _chunk(gathered)
            gathered = []
        if isinstance(entry, ImportedTurn):
            if entry.turn.external_id in seen:
                yield ImportProblem(entry.at, "has the turn_id of another turn of its session")
                continue
            seen.add(entry.turn.external_id)
        gathered.append(entry)
    if gathered:
        yield _chunk(gathered)


def _place(entry: ImportedTurn | ImportedMemory) -> tuple[type, str, str]:
    return type(entry), entry.user_id, entry.session_id if isinstance(entry, ImportedTurn) else ""


def _chunk(gathered: list[ImportedTurn | ImportedMemory]) -> ImportChunk:
    first = gathered[0]
    return ImportChunk(
        user_id=first.user_id,
        session_id=first.session_id if isinstance(first, ImportedTurn) else "",
        turns=tuple(each for each in gathered if isinstance(each, ImportedTurn)),
        memories=tuple(each for each in gathered if isinstance(each, ImportedMemory)),
    )
