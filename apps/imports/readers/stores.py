"""Entries of a memory store as other products export or list them; what is wrong with them is asked later.

mem0 (its export, and the answers of its REST API), Zep (facts), Letta (passages and blocks), ChatGPT's saved memories
as copied text, JSON lines, and any list of texts.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from apps.imports.readers.entries import MOST_CONTENT, ImportProblem, end_of_day, moment_of, text_of
from apps.imports.readers.files import json_elements

_LISTS = ("results", "memories", "facts", "edges", "passages", "archival_memory", "blocks", "data", "items", "entries")
_TEXTS = ("memory", "fact", "text", "content", "value", "data", "sentence")
_SAID = ("valid_at", "created_at", "said_at", "timestamp", "updated_at")
_ENDS = ("invalid_at", "expired_at", "valid_until", "expires_at")


@dataclass(frozen=True, slots=True)
class StoreEntry:
    """One entry of a store; `fields` is what the file says of it."""

    at: str
    text: str
    user_id: str = ""
    said_at: datetime | None = None
    ends_at: datetime | None = None
    fields: Any = None


def store_entries(content: bytes) -> Iterator[StoreEntry | ImportProblem]:
    """Yield the entries of a file in its order, and a problem for each place that is none."""
    text = content.decode("utf-8-sig", errors="replace")
    if "\x00" in text:
        yield ImportProblem("the file", "is not text")
        return
    if text.lstrip()[:1] in ("[", "{") and not _is_lines(text):
        for element in json_elements(content, kind="entry", lists=_LISTS):
            yield element if isinstance(element, ImportProblem) else _entry(element[1], at=element[0])
        return
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            yield _entry(_decoded(line.strip()), at=f"line {number}")


def _is_lines(text: str) -> bool:
    """Return True for one JSON object a line."""
    first, _, rest = text.strip().partition("\n")
    return rest.lstrip().startswith("{") and isinstance(_decoded(first), dict)


def _decoded(line: str) -> Any:
    with suppress(ValueError, RecursionError):
        return json.loads(line)
    return line.lstrip("-*• \t")


def _entry(raw: Any, *, at: str) -> StoreEntry | ImportProblem:
    if isinstance(raw, str):
        return StoreEntry(at, raw[:MOST_CONTENT].strip(), fields=raw)
    fields: dict[str, Any] = raw if isinstance(raw, dict) else {}
    text = next((fields[name] for name in _TEXTS if isinstance(fields.get(name), str)), "").strip()
    if not text:
        return ImportProblem(at, "holds no text")
    ends = next((moment for name in _ENDS if (moment := moment_of(fields.get(name)))), None)
    return StoreEntry(
        at,
        text[:MOST_CONTENT],
        user_id=text_of(fields.get("user_id") or fields.get("userId")),
        said_at=next((moment for name in _SAID if (moment := moment_of(fields.get(name)))), None),
        ends_at=ends or end_of_day(fields.get("expiration_date")),
        fields=fields,
    )


def importable(entries: Sequence[StoreEntry]) -> Mapping[str, Any]:
    """Return entries in the form of mem0, which the import reads."""
    return {"results": [_row(number, each) for number, each in enumerate(entries, start=1)]}


def _row(number: int, entry: StoreEntry) -> Mapping[str, Any]:
    given = entry.fields if isinstance(entry.fields, dict) else {}
    row = {"id": str(given.get("id") or number), "memory": entry.text, "user_id": entry.user_id or None}
    row["created_at"] = entry.said_at.isoformat() if entry.said_at else None
    row["expiration_date"] = entry.ends_at.isoformat() if entry.ends_at else None
    kept = {name: given[name] for name in ("metadata", "categories", "agent_id", "app_id", "run_id") if given.get(name)}
    return {name: value for name, value in row.items() if value is not None} | kept
