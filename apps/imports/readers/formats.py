"""The formats that can be imported: which of them a file has, and the entries of a file."""

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from apps.imports.enums import ImportFormat
from apps.imports.readers.conversations import read_chatgpt, read_claude
from apps.imports.readers.documents import ARCHIVE, Element, documents, json_elements, json_lines
from apps.imports.readers.entries import ImportEntry, ImportProblem, ImportSource, Reader, placed
from apps.imports.readers.memories import read_mem0, read_memory
from apps.imports.readers.messages import chat_messages, read_chat, read_turn, read_zep

PROJECT_SCHEMA = "memplatform-project"  # in the first line of an export of a project
LOOKED_AT = 20  # elements or lines by whose keys a format is recognised
_READERS: dict[ImportFormat, Reader] = {
    ImportFormat.CHATGPT: read_chatgpt,
    ImportFormat.CLAUDE: read_claude,
    ImportFormat.MEM0: read_mem0,
    ImportFormat.ZEP: read_zep,
    ImportFormat.JSONL: read_turn,
    ImportFormat.MEMORIES: read_memory,
    ImportFormat.CHAT: read_chat,
}
# Of formats that are JSON documents: what an element is, and the names under which a list of them may be.
_LISTS = {
    ImportFormat.CHATGPT: ("conversation", ("conversations",)),
    ImportFormat.CLAUDE: ("conversation", ("conversations",)),
    ImportFormat.MEM0: ("memory", ("results", "memories")),
    ImportFormat.ZEP: ("episode", ("episodes", "messages")),
    ImportFormat.CHAT: ("message", ("messages",)),
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
_ALL_LISTS = tuple(dict.fromkeys(name for _, names in _LISTS.values() for name in names))
# An object, or a list of values: "[2026-03-02 ...]" is a time.
_JSON_BEGINS = re.compile(r"\s*(?:\{|\[\s*(?:[\[{\"\]]|$))")
_NOT_RECOGNISED = ImportProblem("the format of the file", "is not recognised: name it")
_NOTHING = "holds nothing to import"


def format_of(content: bytes) -> ImportFormat | ImportProblem:
    """Recognise the format of a file, or return why it has none of them."""
    document = next(documents(content))
    if isinstance(document, ImportProblem):
        return document
    if not _is_json(document):
        return ImportFormat.CHAT if document.strip() and b"\x00" not in document[:1024] else _NOT_RECOGNISED
    elements = list(islice(json_elements(document, kind="", lists=_ALL_LISTS), LOOKED_AT))
    objects = _objects(elements) or _objects(islice(json_lines(document), LOOKED_AT))
    if objects and objects[0].get("schema") == PROJECT_SCHEMA:
        return ImportFormat.PROJECT
    keys = {key for each in objects for key in each}
    for name, wanted in _KEYS:
        if all(keys & set(each.split("|")) for each in wanted):
            return name
    unread = next((each for each in elements if isinstance(each, ImportProblem)), None)
    return unread if unread and not objects else _NOT_RECOGNISED


def _is_json(document: bytes) -> bool:
    return _JSON_BEGINS.match(document[:1024].decode("utf-8-sig", errors="replace")) is not None


def _objects(elements: Iterable[Element]) -> list[dict[str, object]]:
    return [each[1] for each in elements if isinstance(each, tuple) and isinstance(each[1], dict)]


def file_entries(content: bytes, *, file_format: ImportFormat, source: ImportSource) -> Iterator[ImportEntry]:
    """Yield the entries of a file in its order, and a problem for each place that brings none; never nothing."""
    is_empty = True
    for number, document in enumerate(documents(content), start=1):
        if isinstance(document, ImportProblem):
            yield document
            return
        entries = _document_entries(document, file_format, source)
        for entry in placed(f"file {number}", entries) if content.startswith(ARCHIVE) else entries:
            is_empty = False
            yield entry
    if is_empty:
        yield ImportProblem("the file", _NOTHING)


def _document_entries(document: bytes, file_format: ImportFormat, source: ImportSource) -> Iterator[ImportEntry]:
    read = _READERS[file_format]
    for element in _elements(document, file_format):
        if isinstance(element, ImportProblem):
            yield element
            continue
        at, raw = element
        is_empty = True
        for entry in placed(at, read(raw, at, source)):
            is_empty = False
            yield entry
        if is_empty:
            yield ImportProblem(at, _NOTHING)


def _elements(document: bytes, file_format: ImportFormat) -> Iterator[Element]:
    if file_format is ImportFormat.CHAT and not _is_json(document):
        return chat_messages(document)
    if file_format in _LISTS:
        kind, lists = _LISTS[file_format]
        return json_elements(document, kind=kind, lists=lists)
    return json_lines(document)
