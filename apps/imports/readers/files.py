"""Files to import: their documents and elements, which format they have, and their entries in chunks."""

import json
import re
import zlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

import msgspec

from apps.imports.enums import ImportFormat
from apps.imports.readers.chats import chat_messages, read_chat, read_chatgpt, read_claude, read_turn, read_zep
from apps.imports.readers.entries import (
    ImportedMemory,
    ImportedTurn,
    ImportEntry,
    ImportProblem,
    ImportSource,
    Reader,
    placed,
    unquoted,
)
from apps.imports.readers.memories import read_mem0, read_memory

MOST_UNPACKED = 256 * 1024 * 1024  # bytes of all documents of an archive
ARCHIVE = b"PK\x03\x04"
_MEMBER = re.compile(r"(?:.*/)?conversations[^/]*\.json")
_DECODER = json.JSONDecoder()
_SEPARATOR = re.compile(r"[ \t\r\n,]*")

Element = tuple[str, Any] | ImportProblem  # with its place


def json_lines(content: bytes) -> Iterator[Element]:
    """Yield the value of each line that is not blank."""
    for number, line in enumerate(BytesIO(content.removeprefix(b"\xef\xbb\xbf")), start=1):
        try:
            if line.strip():
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


LOOKED_AT = 20  # elements or lines by whose keys a format is recognised


@dataclass(frozen=True, slots=True)
class _Format:
    """How a format is read, and the keys that only its elements have; "a|b" is one of two.

    Of a JSON document, `kind` says what an element is, and `lists` under which names a list of them may be.
    """

    read: Reader
    keys: tuple[str, ...]
    kind: str = ""
    lists: tuple[str, ...] = ()


# The first format whose keys are there is taken.
_FORMATS = {
    ImportFormat.CHATGPT: _Format(read_chatgpt, ("mapping",), "conversation", ("conversations",)),
    ImportFormat.CLAUDE: _Format(read_claude, ("chat_messages",), "conversation", ("conversations",)),
    ImportFormat.MEMORIES: _Format(read_memory, ("review_reasons", "source_confidence")),
    ImportFormat.JSONL: _Format(read_turn, ("session_id", "role", "content")),
    ImportFormat.ZEP: _Format(
        read_zep,
        ("content", "valid_at|role_type|thread_id|source_description|group_id"),
        "episode",
        ("episodes", "messages"),
    ),
    ImportFormat.MEM0: _Format(read_mem0, ("memory", "id"), "memory", ("results", "memories")),
    ImportFormat.CHAT: _Format(read_chat, ("role", "content"), "message", ("messages",)),
}
_ALL_LISTS = ("conversations", "results", "memories", "episodes", "messages")
# An object, or a list of values: "[2026-03-02 ...]" is a time.
_JSON_BEGINS = re.compile(r"\s*(?:\{|\[\s*(?:[\[{\"\]]|$))")
_NOT_RECOGNISED = ImportProblem("the format of the file", "is not recognised: name it")


def format_of(content: bytes) -> ImportFormat | ImportProblem:
    """Recognise the format of a file, or return why it has none of them."""
    document = next(documents(content))
    if isinstance(document, ImportProblem):
        return document
    if not _is_json(document):
        return ImportFormat.CHAT if document.strip() and b"\x00" not in document[:1024] else _NOT_RECOGNISED
    elements = list(islice(json_elements(document, kind="", lists=_ALL_LISTS), LOOKED_AT))
    objects = _objects(elements) or _objects(islice(json_lines(document), LOOKED_AT))
    keys = {key for each in objects for key in each}
    for name, known in _FORMATS.items():
        if all(keys & set(each.split("|")) for each in known.keys):
            return name
    unread = next((each for each in elements if isinstance(each, ImportProblem)), None)
    return unread if unread and not objects else _NOT_RECOGNISED


def _is_json(document: bytes) -> bool:
    return _JSON_BEGINS.match(document[:1024].decode("utf-8-sig", errors="replace")) is not None


def _objects(elements: Iterable[Element]) -> list[dict[str, object]]:
    return [each[1] for each in elements if isinstance(each, tuple) and isinstance(each[1], dict)]


def file_entries(content: bytes, *, file_format: ImportFormat, source: ImportSource) -> Iterator[ImportEntry]:
    """Yield the entries of a file in its order, and a problem for each place that brings none; never nothing."""
    yield from _never_nothing("the file", _file_entries(content, file_format, source))


def _never_nothing(at: str, entries: Iterator[ImportEntry]) -> Iterator[ImportEntry]:
    yield next(entries, ImportProblem(at, "holds nothing to import"))
    yield from entries


def _file_entries(content: bytes, file_format: ImportFormat, source: ImportSource) -> Iterator[ImportEntry]:
    for number, document in enumerate(documents(content), start=1):
        if isinstance(document, ImportProblem):
            yield document
        else:
            entries = _document_entries(document, file_format, source)
            yield from placed(f"file {number}", entries) if content.startswith(ARCHIVE) else entries


def _document_entries(document: bytes, file_format: ImportFormat, source: ImportSource) -> Iterator[ImportEntry]:
    known = _FORMATS[file_format]
    if file_format is ImportFormat.CHAT and not _is_json(document):
        elements: Iterator[Element] = chat_messages(document)
    elif known.lists:
        elements = json_elements(document, kind=known.kind, lists=known.lists)
    else:
        elements = json_lines(document)
    for element in elements:
        if isinstance(element, ImportProblem):
            yield element
        else:
            at, raw = element
            yield from _never_nothing(at, placed(at, known.read(raw, at, source)))


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
