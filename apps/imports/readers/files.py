"""Files to import: their documents and elements, which format they have, and their entries in chunks."""

import json
import re
import zlib
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

import msgspec

from apps.imports.enums import ImportFormat
from apps.imports.readers.chats import chat_messages, read_chat, read_chatgpt, read_claude, read_turn, read_zep
from apps.imports.readers.entries import (
    Element,
    ImportEntry,
    ImportProblem,
    ImportSource,
    Read,
    Reader,
    fields_or_none,
    placed,
    unquoted,
)
from apps.imports.readers.memories import read_mem0, read_memory

MOST_UNPACKED = 256 * 1024 * 1024  # bytes of all documents of an archive
ARCHIVE = b"PK\x03\x04"
_MEMBER = re.compile(r"(?:.*/)?conversations[^/]*\.json")
_DECODER = json.JSONDecoder()
_SEPARATOR = re.compile(r"[ \t\r\n,]*")


def json_lines(content: bytes) -> Iterator[Element]:
    """Yield each line that is not blank; it is decoded by its reader, so that each can be broken by itself."""
    for number, line in enumerate(BytesIO(content.removeprefix(b"\xef\xbb\xbf")), start=1):
        if line.strip():
            yield f"line {number}", line


def json_elements(content: bytes, *, kind: str, lists: Collection[str]) -> Iterator[Element]:
    """Yield the elements of a list, or of an object's list under one of the names.

    An object without such a list is the only element. Raises ImportProblem at the first place that is not JSON: what
    follows it is lost.
    """
    number = 0
    try:
        for number, value in enumerate(_values(content.decode("utf-8-sig").strip(), lists), start=1):
            yield f"{kind} {number}", value
    except (ValueError, RecursionError) as error:
        raise ImportProblem(f"after element {number}" if number else "the file", unquoted(error)) from error


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


def documents(content: bytes) -> Iterator[bytes]:
    """Yield a file, or the documents of an archive as ChatGPT and Claude offer it. Raises ImportProblem."""
    if not content.startswith(ARCHIVE):
        yield content
        return
    try:
        with ZipFile(BytesIO(content)) as archive:
            members = [each for each in archive.infolist() if _MEMBER.fullmatch(each.filename)]
            if not members:
                raise ImportProblem("the archive", "holds no conversations*.json")
            if sum(each.file_size for each in members) > MOST_UNPACKED:
                raise ImportProblem("the archive", f"holds more than {MOST_UNPACKED:,} bytes of conversations")
            if any(each.compress_type not in (ZIP_STORED, ZIP_DEFLATED) for each in members):
                raise ImportProblem("the archive", "is compressed in another way than deflate")
            for each in sorted(members, key=lambda member: member.filename):
                with archive.open(each) as stream:
                    # Without a size, what is unpacked is limited only afterwards to the size that the archive says.
                    yield stream.read(each.file_size + 1)
    except (BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:  # encrypted ones among them
        raise ImportProblem("the archive", "can't be unpacked") from error


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


def format_of(content: bytes) -> ImportFormat:
    """Recognise the format of a file. Raises ImportProblem if it has none of them."""
    document = next(documents(content))
    problem = ImportProblem("the format of the file", "is not recognised: name it")
    if not _is_json(document):
        if document.strip() and b"\x00" not in document[:1024]:
            return ImportFormat.CHAT
        raise problem
    keys: set[str] = set()
    try:
        for _, raw in islice(json_elements(document, kind="", lists=_ALL_LISTS), LOOKED_AT):
            keys.update(fields_or_none(raw))
    except ImportProblem as unread:
        problem = unread
    for _, line in islice(json_lines(document), 0 if keys else LOOKED_AT):
        with suppress(msgspec.DecodeError, UnicodeError, RecursionError):
            keys.update(fields_or_none(msgspec.json.decode(line)))
    for name, known in _FORMATS.items():
        if all(keys & set(each.split("|")) for each in known.keys):
            return name
    raise problem


def _is_json(document: bytes) -> bool:
    return _JSON_BEGINS.match(document[:1024].decode("utf-8-sig", errors="replace")) is not None


def file_entries(content: bytes, *, file_format: ImportFormat, source: ImportSource) -> Iterator[Read]:
    """Yield the entries of a file in its order, and a problem for each place that brings none; never nothing."""
    yield from placed("", _never_nothing("the file", _document_entries(content, file_format, source)))


def _never_nothing(at: str, entries: Iterator[Read]) -> Iterator[Read]:
    yield next(entries, ImportProblem(at, "holds nothing to import"))
    yield from entries


def _document_entries(content: bytes, file_format: ImportFormat, source: ImportSource) -> Iterator[Read]:
    for number, document in enumerate(documents(content), start=1):
        at = f"file {number}" if content.startswith(ARCHIVE) else ""
        yield from placed(at, _entries(document, file_format, source))


def _entries(document: bytes, file_format: ImportFormat, source: ImportSource) -> Iterator[Read]:
    known = _FORMATS[file_format]
    if file_format is ImportFormat.CHAT and not _is_json(document):
        elements = chat_messages(document)
    elif known.lists:
        elements = json_elements(document, kind=known.kind, lists=known.lists)
    else:
        elements = json_lines(document)
    for at, raw in elements:
        yield from placed(at, _never_nothing("", known.read(raw, at, source)))


CHUNK_ENTRIES = 50


ImportChunk = list[ImportEntry]  # turns of one session, or memories of one end user


def import_chunks(entries: Iterable[Read]) -> Iterator[ImportChunk | ImportProblem]:
    """Yield the entries in chunks of what follows each other, and the problems between them."""
    chunk: ImportChunk = []
    seen: set[str] = set()  # turn_ids of the session at hand
    for entry in entries:
        if isinstance(entry, ImportProblem):
            yield entry
            continue
        is_same = bool(chunk) and (chunk[0].user_id, chunk[0].session_id) == (entry.user_id, entry.session_id)
        if chunk and (not is_same or len(chunk) >= CHUNK_ENTRIES):
            yield chunk
            chunk = []
        seen = seen if is_same else set()
        if entry.session_id and entry.external_id in seen:
            yield ImportProblem(entry.at, "has the turn_id of another turn of its session")
            continue
        seen.add(entry.external_id)
        chunk.append(entry)
    if chunk:
        yield chunk
