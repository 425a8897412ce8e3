"""The formats that can be imported: which of them a file has, and the entries of a file."""

import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import islice
from typing import Any, Protocol
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

import msgspec

from apps.imports.enums import ImportFormat
from apps.imports.readers.chat_text import is_json, read_chat_text
from apps.imports.readers.chatgpt import read_chatgpt
from apps.imports.readers.claude import read_claude
from apps.imports.readers.entries import ImportEntry, ImportProblem, ImportSource
from apps.imports.readers.json_elements import json_elements
from apps.imports.readers.mem0 import read_mem0
from apps.imports.readers.product_lines import file_lines, read_memory_lines, read_turn_lines
from apps.imports.readers.zep import read_zep

PROJECT_SCHEMA = "memplatform-project"  # in the first line of an export of a project
MOST_UNPACKED = 256 * 1024 * 1024  # bytes of all documents of an archive
LOOKED_AT = 20  # elements or lines by whose keys a format is recognised


class ElementReader(Protocol):
    """Reads one element of a JSON document."""

    def __call__(self, raw: Any, *, at: str, source: ImportSource) -> Iterator[ImportEntry]:
        """Yield the entries of the element."""


@dataclass(frozen=True, slots=True)
class JsonFormat:
    """A format whose document is a list of elements, or an object with such a list under one of the names."""

    element: str
    lists: tuple[str, ...]
    read: ElementReader


_JSON = {
    ImportFormat.CHATGPT: JsonFormat("conversation", ("conversations",), read_chatgpt),
    ImportFormat.CLAUDE: JsonFormat("conversation", ("conversations",), read_claude),
    ImportFormat.MEM0: JsonFormat("memory", ("results", "memories"), read_mem0),
    ImportFormat.ZEP: JsonFormat("episode", ("episodes", "messages"), read_zep),
}
_TEXTS: dict[ImportFormat, Callable[..., Iterator[ImportEntry]]] = {
    ImportFormat.JSONL: read_turn_lines,
    ImportFormat.MEMORIES: read_memory_lines,
    ImportFormat.CHAT: read_chat_text,
}
# Keys that only elements of this format have; the first format that fits is taken.
_KEYS: tuple[tuple[ImportFormat, tuple[str, ...]], ...] = (
    (ImportFormat.CHATGPT, ("mapping",)),
    (ImportFormat.CLAUDE, ("chat_messages",)),
    (ImportFormat.MEMORIES, ("review_reasons", "source_confidence")),
    (ImportFormat.JSONL, ("session_id", "role", "content")),
    (ImportFormat.ZEP, ("content", "valid_at|role_type|thread_id|source_description|group_id")),
    (ImportFormat.MEM0, ("memory", "id")),
    (ImportFormat.CHAT, ("role", "content")),
)
_LISTS = ("conversations", "results", "memories", "episodes", "messages")
_ARCHIVE = b"PK\x03\x04"
_MEMBER = re.compile(r"(?:.*/)?conversations[^/]*\.json")
_NOT_RECOGNISED = ImportProblem("the format of the file", "is not recognised: name it")


def format_of(content: bytes) -> ImportFormat | ImportProblem:
    """Recognise the format of a file, or return why it has none of them."""
    document = next(_documents(content))
    if isinstance(document, ImportProblem):
        return document
    text = document[:1024].decode("utf-8-sig", errors="replace")
    if not is_json(text):
        return ImportFormat.CHAT if text.strip() and "\x00" not in text else _NOT_RECOGNISED
    elements = list(islice(json_elements(document, lists=_LISTS), LOOKED_AT))
    objects = [each[1] for each in elements if isinstance(each, tuple) and isinstance(each[1], dict)]
    objects = objects or _first_lines(document)
    if objects and objects[0].get("schema") == PROJECT_SCHEMA:
        return ImportFormat.PROJECT
    keys = {key for each in objects for key in each}
    for name, wanted in _KEYS:
        if all(keys & set(each.split("|")) for each in wanted):
            return name
    unread = next((each for each in elements if isinstance(each, ImportProblem)), None)
    return unread if unread and not objects else _NOT_RECOGNISED


def _first_lines(document: bytes) -> list[dict[str, Any]]:
    found = []
    for _, line in islice(file_lines(document), LOOKED_AT):
        with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            found.append(msgspec.json.decode(line))
    return [each for each in found if isinstance(each, dict)]


def file_entries(content: bytes, *, file_format: ImportFormat, source: ImportSource) -> Iterator[ImportEntry]:
    """Yield the entries of a file in its order, and a problem for each place that brings none; never nothing."""
    is_empty = True
    is_archive = content.startswith(_ARCHIVE)
    for number, document in enumerate(_documents(content), start=1):
        if isinstance(document, ImportProblem):
            yield document
            return
        if file_format in _JSON:
            entries = _element_entries(document, _JSON[file_format], source)
        else:
            entries = _TEXTS[file_format](document, source=source)
        for entry in entries:
            is_empty = False
            yield replace(entry, at=f"file {number}, {entry.at}") if is_archive else entry
    if is_empty:
        yield ImportProblem("the file", "holds nothing to import")


def _element_entries(document: bytes, form: JsonFormat, source: ImportSource) -> Iterator[ImportEntry]:
    for element in json_elements(document, lists=form.lists):
        if isinstance(element, ImportProblem):
            yield element
            continue
        number, raw = element
        at, is_empty = f"{form.element} {number}", True
        for entry in form.read(raw, at=at, source=source):
            is_empty = False
            yield entry
        if is_empty:
            yield ImportProblem(at, "holds nothing to import")


def _documents(content: bytes) -> Iterator[bytes | ImportProblem]:
    """Yield a file, or the documents of an archive as ChatGPT and Claude offer it; at least one."""
    if not content.startswith(_ARCHIVE):
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
