"""The elements of a document, each decoded when it is reached, and the documents of an archive."""

import json
import re
import zlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

import msgspec

from apps.imports.readers.entries import ImportedMemory, ImportedTurn, ImportEntry, ImportProblem, unquoted

MOST_UNPACKED = 256 * 1024 * 1024  # bytes of all documents of an archive
ARCHIVE = b"PK\x03\x04"
_MEMBER = re.compile(r"(?:.*/)?conversations[^/]*\.json")
_DECODER = json.JSONDecoder()
_SEPARATOR = re.compile(r"[ \t\r\n,]*")

Element = tuple[str, Any] | ImportProblem  # with its place


def file_lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank, with their numbers from 1."""
    for number, line in enumerate(BytesIO(content), start=1):
        if line.strip():
            yield number, line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line


def json_lines(content: bytes) -> Iterator[Element]:
    """Yield the value of each line."""
    for number, line in file_lines(content):
        try:
            yield f"line {number}", msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            yield ImportProblem(f"line {number}", unquoted(error))


def json_elements(content: bytes, *, kind: str, lists: Collection[str]) -> Iterator[Element]:
    """Yield the elements of a list, or of an object's list under one of the names.

    An object without such a list is the only element. What follows the first place that is not JSON is lost, with a
    problem.
    """
    number = 0
    try:
        for number, value in enumerate(_values(content.decode("utf-8-sig").strip(), lists), start=1):
            yield f"{kind} {number}", value
    except UnicodeDecodeError:
        yield ImportProblem("the file", "is not UTF-8")
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "a value is too large or nested too deeply"
        yield ImportProblem(f"after element {number}" if number else "the file", f"is not JSON: {reason}")


def _values(text: str, lists: Collection[str]) -> Iterator[Any]:
    """Raise ValueError or RecursionError at the first place that can't be read."""
    if not text.startswith("["):
        document = json.loads(text)
        if not isinstance(document, dict):
            raise json.JSONDecodeError("neither a list nor an object", text, 0)
        yield from next((document[name] for name in lists if isinstance(document.get(name), list)), [document])
        return
    place = _after_separator(text, 1)
    while not text.startswith("]", place):
        value, place = _DECODER.raw_decode(text, place)
        yield value
        place = _after_separator(text, place)
    if place + 1 < len(text):
        raise json.JSONDecodeError("Extra data", text, place)


def _after_separator(text: str, place: int) -> int:
    return _SEPARATOR.match(text, place).end()  # type: ignore[union-attr]  # it matches nothing as well


def documents(content: bytes) -> Iterator[bytes | ImportProblem]:
    """Yield a file, or the documents of an archive as ChatGPT and Claude offer it; at least one."""
    if not content.startswith(ARCHIVE):
        yield content
        return
    try:
        with ZipFile(BytesIO(content)) as archive:
            members = [each for each in archive.infolist() if _MEMBER.fullmatch(each.filename)]
            if not members:
                yield ImportProblem("the archive", "holds no conversations*.json")
            elif sum(each.file_size for each in members) > MOST_UNPACKED:
                yield ImportProblem("the archive", f"holds more than {MOST_UNPACKED:,} bytes of conversations")
            elif any(each.compress_type not in (ZIP_STORED, ZIP_DEFLATED) for each in members):
                yield ImportProblem("the archive", "is compressed in another way than deflate")
            else:
                for each in sorted(members, key=lambda member: member.filename):
                    with archive.open(each) as stream:
                        # Without a size, what is unpacked is limited only afterwards to the size that the archive says.
                        yield stream.read(each.file_size + 1)
    except (BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError):  # encrypted ones among them
        yield ImportProblem("the archive", "can't be unpacked")


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
